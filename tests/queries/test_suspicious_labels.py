"""Labels that look wrong: the scores by their formulas, and wrong labels first."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from halfmoon import (
    ConditionalClassifier,
    ConditionalRegressor,
    HalfmoonClassifier,
    HalfmoonRegressor,
    LaplacianClassifier,
)
from halfmoon.queries import suspicious_labels
from halfmoon.queries._suspicious_labels import interval_ratios


def test_classes_by_the_formula(rng):
    X = rng.normal(size=(30, 2))
    y = np.array([None] * 30, dtype=object)
    y[5:25] = rng.choice(["a", "b", "c"], 20)
    model = ConditionalClassifier(alpha=0.1).fit(X, y)
    found = suspicious_labels(model)
    assert found.dtype.names == ("row", "given", "suggested", "score")
    assert sorted(found.row) == list(range(5, 25))
    assert (np.diff(found.score) <= 0).all()
    for row, given, suggested, score in found:
        without = y.copy()
        without[row] = None
        lam = 20 * 0.1
        one = ConditionalClassifier(alpha=lam / 19).fit(X, without)
        scores = model.temperature_ * one.decision_function(X[[row]])[0]
        p = np.exp(scores - scores.max())
        p /= p.sum()
        own = list(model.classes_).index(given)
        other = np.delete(p, own).max()
        assert given == y[row]
        assert suggested == model.classes_[p.argmax()]
        assert score == pytest.approx(other / (p[own] + other), rel=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        LaplacianClassifier(random_state=0),
        HalfmoonClassifier(budget=0.5, random_state=0),
    ],
)
def test_flipped_classes_come_first(model, rng):
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    labeled = rng.permutation(178)[:90]
    wrong = labeled[:9]
    known = np.full(178, np.nan)
    known[labeled] = y[labeled]
    known[wrong] = (y[wrong] + 1) % 3
    found = suspicious_labels(model.fit(X, known))
    assert len(found) == 90
    assert set(found.row[:9]) >= set(wrong[:1])
    assert len(set(found.row[:9]) & set(wrong)) >= 8
    first = found[np.isin(found.row, wrong)][:5]
    assert_array_equal(first.suggested, y[first.row])


def test_numbers_are_scored_by_their_interval(rng):
    X = rng.uniform(-2, 2, size=(60, 1))
    y = np.full(60, np.nan)
    y[10:] = np.sin(2 * X[10:, 0]) + 0.05 * rng.normal(size=50)
    y[[20, 33]] += [2.0, -1.5]
    model = ConditionalRegressor(alpha=1e-3).fit(X, y)
    found = suspicious_labels(model)
    assert_array_equal(found.row[:2], [20, 33])
    assert found.score[1] > 0.5 > found.score[10]
    g = y[10:] - model.leave_one_out()
    at = found.row - 10
    assert_allclose(found.suggested, g[at])
    assert_allclose(found.given, y[found.row])
    held = model._held_out()
    from halfmoon._estimators.intervals import Intervals

    low, high = Intervals.of(held.y[:, 0], held.values[:, 0], 0.9)(g)
    r = np.abs(interval_ratios(y[10:], g, low, high))
    assert_allclose(found.score, (r / (1 + r))[at])
    model = HalfmoonRegressor(budget=0.5, random_state=0).fit(X, y)
    assert_array_equal(np.sort(suspicious_labels(model).row[:2]), [20, 33])


def test_a_class_of_one_label_is_not_doubted(rng):
    X = rng.normal(size=(12, 1))
    y = ["a"] * 5 + ["b"] * 6 + ["c"]
    found = suspicious_labels(ConditionalClassifier().fit(X, y))
    alone = found[found.given == "c"][0]
    assert alone.score == 0
    assert alone.suggested == "c"
    every = suspicious_labels(ConditionalClassifier().fit(X[:2], ["a", "b"]))
    assert_array_equal(every.score, [0, 0])


def test_rows_are_those_of_the_fitted_table(rng):
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    X[:, 0] += 6 * y
    wrong = y.copy()
    wrong[31] = 1 - wrong[31]
    w = np.ones(40)
    w[:10] = 0
    model = make_pipeline(StandardScaler(), ConditionalClassifier())
    model.fit(X, wrong, conditionalclassifier__sample_weight=w)
    found = suspicious_labels(model)
    assert found.row[0] == 31
    assert sorted(found.row) == list(range(10, 40))


def test_bad_input(rng):
    X = rng.normal(size=(10, 1))
    with pytest.raises(NotFittedError):
        suspicious_labels(ConditionalClassifier())
    with pytest.raises(TypeError, match="LogisticRegression has no leave-one-out"):
        suspicious_labels(LogisticRegression().fit(X, np.arange(10) % 2))
    two = ConditionalRegressor().fit(X, rng.normal(size=(10, 2)))
    with pytest.raises(ValueError, match="There are 2 targets"):
        suspicious_labels(two)
    equal = suspicious_labels(ConditionalRegressor().fit(X, np.ones(10)))
    assert ((equal.score >= 0) & (equal.score < 1)).all()
