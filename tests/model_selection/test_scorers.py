"""Scorers of labeled rows: those of scikit-learn, on the rows that have a label."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    brier_score_loss,
    log_loss,
    mean_squared_error,
    r2_score,
    roc_auc_score,
)
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    cross_val_score,
    cross_validate,
)

from halfmoon.model_selection import (
    LabeledKFold,
    labeled_accuracy,
    labeled_balanced_accuracy,
    labeled_log_loss,
    labeled_mean_squared_error,
    labeled_r2,
    labeled_scorer,
)
from optional_modules import optional

pd = optional("pandas")


@pytest.fixture
def fitted(classifier, X, words):
    return classifier.fit(X, words)


@pytest.fixture
def known(X, words):
    rows = [i for i, word in enumerate(words) if word is not None]
    return X[rows], words[rows].tolist()


def test_classification(fitted, X, words, known):
    X_l, y_l = known
    predicted, p = fitted.predict(X_l), fitted.predict_proba(X_l)
    expected = {
        labeled_accuracy: accuracy_score(y_l, predicted),
        labeled_balanced_accuracy: balanced_accuracy_score(y_l, predicted),
        labeled_log_loss: -log_loss(y_l, p),
        labeled_scorer("roc_auc"): roc_auc_score(y_l, p[:, 1]),
        labeled_scorer(
            roc_auc_score, response_method=("decision_function", "predict_proba")
        ): roc_auc_score(y_l, p[:, 1]),
        labeled_scorer(
            brier_score_loss,
            response_method="predict_proba",
            greater_is_better=False,
            pos_label="yes",
        ): -brier_score_loss(y_l, p[:, 1], pos_label="yes"),
    }
    for scorer, value in expected.items():
        assert_allclose(scorer(fitted, X, words), value, rtol=1e-12)
        assert_allclose(scorer(fitted, X_l, y_l), value, rtol=1e-12)
    assert 0.5 < expected[labeled_accuracy] < 1


def test_regression(regressor, X, numbers):
    known = ~np.isnan(numbers)
    predicted = regressor.fit(X, numbers).predict(X[known])
    expected = r2_score(numbers[known], predicted)
    assert_allclose(labeled_r2(regressor, X, numbers), expected, rtol=1e-12)
    expected = -mean_squared_error(numbers[known], predicted)
    assert expected < 0
    assert_allclose(labeled_mean_squared_error(regressor, X, numbers), expected)


def test_several_targets(regressor, X, numbers):
    Y = np.column_stack([numbers, 2 * numbers + X[:, 1]])
    known = ~np.isnan(numbers)
    predicted = regressor.fit(X, Y).predict(X[known])
    expected = r2_score(Y[known], predicted)
    assert_allclose(labeled_r2(regressor, X, Y), expected, rtol=1e-12)


def test_sample_weight(fitted, X, words, known, rng):
    w = rng.uniform(size=60)
    labeled = np.array([word is not None for word in words])
    predicted = fitted.predict(known[0])
    for scorer, metric in (
        (labeled_accuracy, accuracy_score),
        (labeled_balanced_accuracy, balanced_accuracy_score),
    ):
        expected = metric(known[1], predicted, sample_weight=w[labeled])
        actual = scorer(fitted, X, words, sample_weight=w)
        assert_allclose(actual, expected, rtol=1e-12)
        assert actual != scorer(fitted, X, words)


def test_classes_without_a_test_row(classifier, rng):
    # Three classes to predict, and labels of two of them to score.
    X = rng.normal(size=(30, 2))
    y = np.array(["a", "b", "c"], dtype=object)[np.arange(30) % 3]
    classifier.fit(X, y)
    some = y.copy()
    some[y == "b"] = None
    p, predicted = classifier.predict_proba(X), classifier.predict(X)
    column = {"a": 0, "c": 2}
    expected = np.mean([np.log(p[i, column[v]]) for i, v in enumerate(some) if v])
    assert_allclose(labeled_log_loss(classifier, X, some), expected, rtol=1e-12)
    recalls = [(predicted[y == v] == v).mean() for v in ("a", "c")]
    assert "b" in predicted[y != "b"]
    actual = labeled_balanced_accuracy(classifier, X, some)
    assert_allclose(actual, np.mean(recalls), rtol=1e-12)


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame,
        lambda X: X.tolist(),
        sp.csr_array,
        sp.coo_array,
        lambda X: pytest.importorskip("polars").DataFrame(X),
    ],
    ids=["pandas", "list", "CSR", "COO", "polars"],
)
def test_tables_of_any_type(fitted, X, words, table):
    expected = labeled_accuracy(fitted, X, words)
    assert labeled_accuracy(fitted, table(X), words) == expected


@pytest.mark.parametrize(
    "column",
    [
        pd.Series,
        lambda y: pd.Series(y, dtype="category"),
        lambda y: pd.Series(y).map({"yes": True, "no": False}).astype("boolean"),
        lambda y: pd.Series(y).map({"yes": 1, "no": 0}).astype("Int64"),
        lambda y: np.array([np.nan if v is None else v == "yes" for v in y]),
        lambda y: np.array([None if v is None else int(v == "yes") for v in y]),
    ],
    ids=["objects", "categories", "booleans", "ints", "floats", "object ints"],
)
def test_labels_of_any_type(classifier, X, words, column):
    expected = labeled_accuracy(classifier.fit(X, words), X, words)
    y = column(words)
    assert labeled_accuracy(classifier.fit(X, y), X, y) == expected


def test_minus_one(classifier, X, words):
    expected = labeled_accuracy(classifier.fit(X, words), X, words)
    y = np.array([-1 if v is None else int(v == "yes") for v in words])
    model = classifier.set_params(unlabeled=-1).fit(X, y)
    assert labeled_scorer(accuracy_score, unlabeled=-1)(model, X, y) == expected
    assert labeled_accuracy(model, X, y) <= 20 / 60  # -1 taken for a label


def test_folds_of_scikit_learn_with_these_scorers(X, numbers, regressor):
    # Rows without a label are tested, and left out of the score.
    scores = cross_val_score(regressor, X, numbers, cv=KFold(3), scoring=labeled_r2)
    expected = []
    for train, test in KFold(3).split(X):
        known = test[~np.isnan(numbers[test])]
        predicted = regressor.fit(X[train], numbers[train]).predict(X[known])
        expected.append(r2_score(numbers[known], predicted))
    assert_allclose(scores, expected, rtol=1e-12)


def test_several_scorers_at_once(X, words, classifier):
    scoring = {"accuracy": labeled_accuracy, "log loss": labeled_log_loss}
    cv = LabeledKFold(random_state=0)
    search = GridSearchCV(
        classifier, {"alpha": [0.1, 10.0]}, scoring=scoring, refit="log loss", cv=cv
    ).fit(X, words)
    assert set(search.scorer_) == {"accuracy", "log loss"}
    assert (search.cv_results_["mean_test_log loss"] < 0).all()
    assert (search.cv_results_["mean_test_accuracy"] > 0.5).all()


def test_nothing_to_score(fitted, X):
    with pytest.raises(ValueError, match="None of the 60 rows to score is labeled"):
        labeled_accuracy(fitted, X, np.full(60, None))


def test_names_of_scikit_learn_keep_their_own_options():
    for options in (
        {"response_method": "predict_proba"},
        {"greater_is_better": False},
        {"average": "macro"},
    ):
        with pytest.raises(ValueError, match="has its own response_method"):
            labeled_scorer("roc_auc", **options)
    with pytest.raises(ValueError, match="no_such_score"):
        labeled_scorer("no_such_score")


@pytest.mark.parametrize("scorer", [labeled_accuracy, labeled_balanced_accuracy])
def test_pickle(scorer, fitted, X, words):
    copy = pickle.loads(pickle.dumps(scorer))
    assert copy(fitted, X, words) == scorer(fitted, X, words)


def test_weights_are_routed(classifier, X, words, rng):
    w = rng.uniform(0.1, 5.0, size=len(words))
    folds = LabeledKFold(3, random_state=0)
    asked = labeled_accuracy.set_score_request(sample_weight=True)
    with config_context(enable_metadata_routing=True):
        options = {"cv": folds, "params": {"sample_weight": w}}
        weighted = cross_validate(classifier, X, words, scoring=asked, **options)
        other = labeled_accuracy.set_score_request(sample_weight="weights")
        renamed = cross_validate(
            classifier, X, words, scoring=other, cv=folds, params={"weights": w}
        )
        with pytest.raises(UnsetMetadataPassedError, match="set_score_request"):
            cross_validate(classifier, X, words, scoring=labeled_accuracy, **options)
    plain = cross_validate(classifier, X, words, scoring=labeled_accuracy, cv=folds)
    expected = []
    for train, test in folds.split(X, words):
        fitted = clone(classifier).fit(X[train], words[train])
        expected.append(
            accuracy_score(
                words[test].tolist(), fitted.predict(X[test]), sample_weight=w[test]
            )
        )
    assert_allclose(weighted["test_score"], expected)
    assert_allclose(renamed["test_score"], expected)
    assert np.abs(plain["test_score"] - expected).max() > 0.001
    assert labeled_accuracy.asks == {}  # shared by all who import it
