"""``score`` skips rows without a label, so that plain cross-validation works."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

from halfmoon import (
    ConditionalClassifier,
    ConditionalRegressor,
    FredholmClassifier,
    FredholmRegressor,
    HalfmoonClassifier,
    HalfmoonRegressor,
    LaplacianClassifier,
    LaplacianRegressor,
)
from halfmoon._labeled_scores import labeled_part, take_rows
from halfmoon.baselines import LapRLSRegressor, TSVMClassifier
from optional_modules import optional

pd, pl = optional("pandas"), optional("polars")

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 2))
NOISY = X[:, 0] + 0.8 * rng.normal(size=60)
LABELED = np.arange(60) % 3 < 2
W = rng.uniform(0.1, 3.0, size=60)

CLASSIFIERS = [
    ConditionalClassifier(alpha=0.1),
    FredholmClassifier(alpha=0.1),
    LaplacianClassifier(alpha=0.1),
    HalfmoonClassifier(budget=1e-9, random_state=0),
    TSVMClassifier(),
]
REGRESSORS = [
    ConditionalRegressor(alpha=0.1),
    FredholmRegressor(alpha=0.1),
    LaplacianRegressor(alpha=0.1),
    HalfmoonRegressor(budget=1e-9, random_state=0),
    LapRLSRegressor(),
]


def named(each):
    return type(each).__name__


@pytest.mark.parametrize("model", CLASSIFIERS, ids=named)
@pytest.mark.parametrize("kind", ["nan", "None", "pd.NA", "-1"])
def test_classifiers_score_labeled_rows(model, kind):
    classes, model = (NOISY > 0).astype(int), clone(model)
    y = np.where(LABELED, classes.astype(float), np.nan)
    if kind == "None":
        y = np.where(LABELED, np.array(["no", "yes"], dtype=object)[classes], None)
    elif kind == "pd.NA":
        y = pd.Series(y).astype("Int64")
    elif kind == "-1":
        model.set_params(unlabeled=-1)
        y = np.where(LABELED, classes, -1)
    model.fit(X, y)
    known, predicted = np.asarray(y)[LABELED].tolist(), model.predict(X[LABELED])
    expected = accuracy_score(known, predicted)
    assert 0.6 < expected < 1
    assert_allclose(model.score(X, y), expected)
    expected = accuracy_score(known, predicted, sample_weight=W[LABELED])
    assert_allclose(model.score(X, y, W), expected)
    assert model.score(X, y) != model.score(X, y, sample_weight=W)


@pytest.mark.parametrize("model", REGRESSORS, ids=named)
def test_regressors_score_labeled_rows(model):
    y = np.where(LABELED, NOISY, np.nan)
    model = clone(model).fit(X, y)
    predicted = model.predict(X[LABELED])
    assert_allclose(model.score(X, y), r2_score(y[LABELED], predicted))
    expected = r2_score(y[LABELED], predicted, sample_weight=W[LABELED])
    assert_allclose(model.score(X, y, sample_weight=W), expected)
    marked = np.where(LABELED, NOISY, -99.0)
    other = clone(model).set_params(unlabeled=-99.0).fit(X, marked)
    assert_allclose(other.score(X, marked), model.score(X, y), rtol=1e-6)


def test_several_targets_are_scored():
    Y = np.where(LABELED[:, None], np.column_stack([NOISY, X[:, 1]]), np.nan)
    model = ConditionalRegressor(alpha=0.1).fit(X, Y)
    expected = r2_score(Y[LABELED], model.predict(X[LABELED]))
    assert_allclose(model.score(X, Y), expected)


def test_rows_without_any_label_cannot_be_scored():
    y = np.where(LABELED, NOISY > 0, np.nan)
    model = LaplacianClassifier(alpha=0.1).fit(X, y)
    with pytest.raises(ValueError, match="None of the 20 rows to score is labeled"):
        model.score(X[~LABELED], y[~LABELED])


@pytest.mark.filterwarnings("error")
def test_plain_cross_validation_and_searches():
    y = np.where(LABELED, NOISY, np.nan)
    scores = cross_val_score(ConditionalRegressor(alpha=0.1), X, y, cv=3)
    assert np.isfinite(scores).all()
    marked = np.where(LABELED, NOISY > 0, -1)
    model = LaplacianClassifier(unlabeled=-1)
    search = GridSearchCV(model, {"alpha": [1e-2, 1e6]}).fit(X, marked)
    assert search.best_params_ == {"alpha": 1e-2}
    assert search.best_score_ > 0.6
    names = np.where(LABELED, np.where(NOISY > 0, "b", "a").astype(object), None)
    scores = cross_val_score(LaplacianClassifier(alpha=0.1), X, names, cv=KFold(3))
    assert scores.mean() > 0.6


def test_rows_of_every_make_are_taken():
    X, chosen = np.arange(6.0).reshape(3, 2), np.array([True, False, True])
    for make in (pd.DataFrame, pl.DataFrame, sp.coo_array, np.array):
        taken = take_rows(make(X), chosen)
        dense = taken.toarray() if sp.issparse(taken) else np.asarray(taken)
        assert_array_equal(dense, X[[0, 2]])
    assert take_rows([[1], [2], [3]], chosen) == [[1], [3]]


def test_the_labeled_part_of_a_table():
    X, y = np.arange(4.0)[:, None], np.array(["a", None, "?", "b"], dtype=object)
    rows, labels, w = labeled_part(X, y, [1, 2, 3, 4], unlabeled="?")
    assert_array_equal(rows, [[0.0], [3.0]])
    assert_array_equal(labels, ["a", "b"])
    assert_array_equal(w, [1, 4])
    with pytest.raises(ValueError, match="None of the 4 rows to score is labeled"):
        labeled_part(X, [np.nan] * 4)
