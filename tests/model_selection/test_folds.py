"""LabeledKFold: every unlabeled row trains, every labeled row is tested once."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.metrics import accuracy_score
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline

from halfmoon.model_selection import LabeledKFold, labeled_accuracy, labeled_r2
from optional_modules import optional

pd = optional("pandas")

COLUMNS = {
    "words": lambda y: y,
    "words, list": list,
    "words, pandas": pd.Series,
    "words, nullable": lambda y: pd.Series(y, dtype="string"),
    "words, categories": lambda y: pd.Series(y, dtype="category"),
    "ints, nullable": lambda y: pd.Series(
        [pd.NA if v is None else int(v == "yes") for v in y], dtype="Int64"
    ),
    "floats": lambda y: np.array([np.nan if v is None else v == "yes" for v in y]),
    "minus one": lambda y: np.array([-1 if v is None else v == "yes" for v in y]),
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("n_splits", [2, 3, 5])
def test_folds(X, words, name, n_splits):
    labeled = np.array([v is not None for v in words])
    y = COLUMNS[name](words)
    unlabeled = -1 if name == "minus one" else None
    cv = LabeledKFold(n_splits, random_state=0, unlabeled=unlabeled)
    splits = list(cv.split(X, y))
    assert len(splits) == n_splits == cv.get_n_splits() == cv.get_n_splits(X, y)
    for train, test in splits:
        assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(60))
        assert labeled[test].all()
    tested = np.concatenate([test for _, test in splits])
    assert_array_equal(np.sort(tested), np.flatnonzero(labeled))
    # Stratified: no class differs by more than one between folds, nor do the folds.
    for value in ("yes", "no"):
        counts = [(words[test] == value).sum() for _, test in splits]
        assert max(counts) - min(counts) <= 1
    sizes = [len(test) for _, test in splits]
    assert max(sizes) - min(sizes) <= 1


def test_measurements_in_order_are_the_folds_of_scikit_learn(X, numbers):
    known = np.flatnonzero(~np.isnan(numbers))
    splits = LabeledKFold(3, shuffle=False).split(X, numbers)
    expected = KFold(3).split(known)  # 20 rows: 7, 7 and 6
    for (_, test), (_, fold) in zip(splits, expected, strict=True):
        assert_array_equal(test, known[fold])


def test_classes_are_spread_as_by_scikit_learn(rng):
    y = rng.choice(["a", "b", "c"], p=[0.6, 0.3, 0.1], size=97)
    ours = [np.unique(y[test], return_counts=True)[1] for _, test in split(5, y)]
    theirs = StratifiedKFold(5).split(y, y)
    theirs = [np.unique(y[test], return_counts=True)[1] for _, test in theirs]
    assert_array_equal(np.sort(ours, axis=0), np.sort(theirs, axis=0))


def split(n_splits, y, **options):
    return LabeledKFold(n_splits, random_state=0, **options).split(y, y)


def test_fewer_labels_of_a_class_than_folds():
    # Two of each of three classes in five folds: each class is always trained on.
    y = np.array(["a", "a", "b", "b", "c", "c", None], dtype=object)
    for train, test in split(5, y):
        assert 1 <= len(test) <= 2
        assert set(y[train]) == {"a", "b", "c", None}


@pytest.mark.parametrize(
    ("y", "stratified"),
    [
        (np.repeat([3, 1, 2], 5), True),
        (np.repeat([3.0, 1.0, 2.0], 5), True),  # classes with NaN are floats
        (np.repeat([True, False], 5), True),
        (np.repeat([0.5, 1.5], 5), False),
        (np.append(np.repeat([3, 1], 5), 7), False),  # 7 occurs once: a count, say
        (np.arange(10), False),
        (np.array([Decimal(i) / 8 for i in range(10)]), False),  # money, from SQL
        (np.repeat([[1.0, 2.0], [3.0, 4.0]], 5, axis=0), False),
    ],
)
def test_what_is_stratified(y, stratified):
    cv = LabeledKFold(5, shuffle=False)
    by_order = list(LabeledKFold(5, shuffle=False, stratify=False).split(y, y))
    tests = [test.tolist() for _, test in cv.split(y, y)]
    assert (tests == [test.tolist() for _, test in by_order]) is not stratified
    if stratified:
        assert all(len(np.unique(y[test])) == len(np.unique(y)) for test in tests)


def test_stratify_may_be_forced():
    y = np.append(np.repeat([3, 1], 5), 7)
    with pytest.warns(UserWarning, match="Class 7 has only one label"):
        tests = [test for _, test in split(5, y, stratify=True)]
    assert all({1, 3} <= set(y[test]) for test in tests)
    with pytest.warns(UserWarning, match="Class 'c' has only one label"):
        list(split(2, ["a", "a", "b", "b", "c"]))
    with pytest.raises(ValueError, match=r"y has shape \(4, 2\)"):
        list(split(2, np.ones((4, 2)), stratify=True))


def test_random_states(words):
    def tests(cv):
        return [test.tolist() for _, test in cv.split(words, words)]

    assert tests(LabeledKFold(random_state=1)) == tests(LabeledKFold(random_state=1))
    assert tests(LabeledKFold(random_state=1)) != tests(LabeledKFold(random_state=2))
    for make in (np.random.default_rng, np.random.RandomState):
        cv = LabeledKFold(random_state=make(1))
        assert tests(cv) != tests(cv)  # drawn from
        assert tests(LabeledKFold(random_state=make(1))) == tests(
            LabeledKFold(random_state=make(1))
        )
    in_order = LabeledKFold(shuffle=False)
    assert tests(in_order) == tests(in_order)


def test_cross_val_score_is_the_loop_by_hand(X, words, classifier):
    cv = LabeledKFold(4, random_state=0)
    by_hand = []
    for train, test in cv.split(X, words):
        model = clone(classifier).fit(X[train], words[train])
        assert model.n_unlabeled_ == 40
        by_hand.append(accuracy_score(words[test].tolist(), model.predict(X[test])))
    assert 0.4 < np.mean(by_hand) < 1
    for y in (words, words.tolist(), pd.Series(words)):
        scores = cross_val_score(classifier, X, y, cv=cv, scoring=labeled_accuracy)
        assert_allclose(scores, by_hand, rtol=1e-12)
    # Only labeled rows are tested, so the score of the model itself is right too.
    frame = pd.DataFrame(X, columns=["a", "b"])
    assert_allclose(cross_val_score(classifier, frame, words, cv=cv), by_hand)


def test_default_folds_fail_or_are_wrong(X, words, classifier):
    # With None, and with NaN, rows are tested that cannot be.
    with pytest.raises(TypeError, match="'<' not supported"):
        cross_val_score(classifier, X, words, error_score="raise")
    floats = COLUMNS["floats"](words)
    with pytest.raises(ValueError, match="NaN"), np.errstate(invalid="ignore"):
        cross_val_score(classifier, X, floats, error_score="raise")
    # With -1 unlabeled rows are tested, and every one of them counts as an error:
    # of 60 rows at most 20 can be right.
    y = np.array([-1 if v is None else int(v == "yes") for v in words])
    model = clone(classifier).set_params(unlabeled=-1)
    wrong = cross_val_score(model, X, y, cv=5)
    right = cross_val_score(model, X, y, cv=LabeledKFold(random_state=0, unlabeled=-1))
    assert wrong.mean() <= 20 / 60
    assert right.mean() > 0.6


def test_grid_search_and_pipelines(X, numbers, words, regressor, classifier):
    cv = LabeledKFold(random_state=0)
    for model, y, scoring in (
        (regressor, numbers, labeled_r2),
        (classifier, words, labeled_accuracy),
    ):
        name = type(model).__name__.lower()
        pipeline = make_pipeline(PCA(2), model)
        grid = {f"{name}__alpha": [1e-2, 1e5]}
        search = GridSearchCV(pipeline, grid, cv=cv, scoring=scoring).fit(X, y)
        assert search.best_params_[f"{name}__alpha"] == 1e-2
        assert search.n_splits_ == 5
        assert search.best_estimator_[-1].n_unlabeled_ == 40  # refitted on all rows
        scores = cross_val_score(
            clone(pipeline).set_params(**search.best_params_),
            X,
            y,
            cv=cv,
            scoring=scoring,
        )
        assert_allclose(search.best_score_, scores.mean(), rtol=1e-12)


def test_sparse_rows(X, words, classifier):
    splits = LabeledKFold(random_state=0).split(sp.csr_array(X), words)
    expected = LabeledKFold(random_state=0).split(X, words)
    for (_, test), (_, other) in zip(splits, expected, strict=True):
        assert_array_equal(test, other)


def test_cross_val_predict_says_that_not_every_row_is_tested(X, words, classifier):
    with pytest.raises(ValueError, match="only works for partitions"):
        cross_val_predict(classifier, X, words, cv=LabeledKFold())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_splits": 1}, "n_splits is 1"),
        ({"n_splits": 2.5}, "n_splits is 2.5"),
        ({"stratify": "yes"}, "stratify is 'yes'"),
        ({"shuffle": False, "random_state": 0}, "has no effect with shuffle=False"),
    ],
)
def test_wrong_parameters(options, words):
    with pytest.raises(ValueError, match=words):
        LabeledKFold(**options)


def test_wrong_labels(X):
    def fails(y, words, n_splits=5):
        with pytest.raises(ValueError, match=words):
            next(LabeledKFold(n_splits).split(X, y))

    y = np.full(60, np.nan)
    fails(y, "Only 0 of the 60 rows are labeled.* Label more rows")
    y[:4] = [1.5, 2, 3, 4]
    fails(y, r"Only 4 of the 60 rows are labeled.*n_splits=5.*Use LabeledKFold\(4\)")
    assert len(list(LabeledKFold(4).split(X, y))) == 4
    fails(y[:9], "y has 9 labels and X has 60 rows")
    fails(None, "y is None")
    with pytest.warns(UserWarning, match="does not use groups"):
        next(LabeledKFold(2).split(X, y, groups=np.arange(60)))


def test_repr():
    assert repr(LabeledKFold(3, random_state=1)) == (
        "LabeledKFold(n_splits=3, random_state=1, shuffle=True, stratify='auto',\n"
        "       unlabeled=None)"
    )
