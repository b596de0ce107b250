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
from halfmoon._estimators.classification import fitted_temperature
from halfmoon._estimators.intervals import interval_ratios
from halfmoon.kernels import Gaussian
from halfmoon.queries import suspicious_labels
from halfmoon.weak import CandidateSetClassifier


def loo_by_solving(K, lam, targets):
    """Leave-one-out values of kernel ridge with a constant, each by its own system."""
    l, values = len(K), []
    for i in range(l):
        rest = np.delete(np.arange(l), i)
        ones = np.ones((l - 1, 1))
        A = np.block(
            [[K[np.ix_(rest, rest)] + lam * np.eye(l - 1), ones], [ones.T, 0.0]]
        )
        right = np.vstack([targets[rest], np.zeros((1, targets.shape[1]))])
        values.append(np.append(K[i, rest], 1.0) @ np.linalg.solve(A, right))
    return np.array(values)


def doubt(p, own, counts):
    """The score of a label of class own, from class probabilities and class counts."""
    C = len(counts)
    suggested = (p / np.sqrt(counts)).argmax()
    common = (C * counts[own] / sum(counts)) ** 0.25
    odds = common * (1 - p[own]) / (p[own] * np.sqrt(C - 1))
    score = odds / (1 + odds)
    return suggested, min(score, 0.5) if suggested == own else score


@pytest.mark.parametrize("classes", [2, 3])
def test_classes_by_the_formula(classes, rng):
    X = rng.normal(size=(30, 2))
    y = np.array([None] * 30, dtype=object)
    y[5:25] = rng.choice(["a", "b", "c"][:classes], 20)
    model = ConditionalClassifier(Gaussian(1.0), alpha=0.1).fit(X, y)
    found = suspicious_labels(model)
    assert found.dtype.names == ("row", "given", "suggested", "score")
    assert sorted(found.row) == list(range(5, 25))
    assert (np.diff(found.score) <= 0).all()

    codes = np.searchsorted(model.classes_, y[5:25].astype(str))
    given, w = np.eye(classes)[codes], np.ones(20)
    K, shares = Gaussian(1.0)(X[5:25]), given
    for _ in range(6):
        targets = 2 * shares - 1 if classes == 2 else shares
        scores = loo_by_solving(K, 20 * 0.1, targets)
        p = np.exp(fitted_temperature(scores, codes, w) * scores)
        p /= p.sum(axis=1, keepdims=True)
        shares = p * np.where(given > 0, 0.9, 0.1 / (classes - 1))
        shares /= np.sqrt(given.sum(axis=0))
        shares /= shares.sum(axis=1, keepdims=True)
    for row, label, suggested, score in found:
        expected, its_score = doubt(p[row - 5], codes[row - 5], given.sum(axis=0))
        assert label == y[row]
        assert suggested == model.classes_[expected]
        assert score == pytest.approx(its_score, rel=1e-6)


def test_a_right_label_between_wrong_ones_is_doubted_less(monkeypatch):
    X = np.linspace(0, 1, 24)[:, None]
    y = np.where(X[:, 0] > 0.5, 1.0, 0.0)
    y[[4, 6]] = 1.0  # wrong
    model = ConditionalClassifier(Gaussian(0.1), alpha=3e-3).fit(X, y)
    found = suspicious_labels(model)
    assert_array_equal(found.row[:3], [4, 6, 5])
    monkeypatch.setattr("halfmoon.queries._suspicious_labels.MAX_CORRECTED", 0)
    as_given = suspicious_labels(model)
    assert as_given.row[0] == 5
    assert found.score[2] < as_given.score[0] - 0.2


def test_many_labels_are_taken_as_given(rng, monkeypatch):
    monkeypatch.setattr("halfmoon.queries._suspicious_labels.MAX_CORRECTED", 19)
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 3
    model = ConditionalClassifier(alpha=0.1).fit(X, y)
    p = model.leave_one_out_predictions()
    for row, label, suggested, score in suspicious_labels(model):
        expected, its_score = doubt(p[row], label, np.array([7, 7, 6]))
        assert suggested == expected
        assert score == pytest.approx(its_score, rel=1e-9)


def test_labels_of_a_rare_class_are_not_all_doubted():
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.where(np.arange(60) < 10, "rare", "common")
    X[:10] += 2.0
    model = ConditionalClassifier(alpha=0.1).fit(X, y)
    found, p = suspicious_labels(model), model.leave_one_out_predictions()
    assert (p[:10, 0] > 0.5).sum() >= 8
    assert (found[found.row < 10].score > 0.5).sum() <= 4


@pytest.mark.parametrize(
    "model",
    [
        LaplacianClassifier(random_state=0),
        HalfmoonClassifier(budget=0.1, random_state=0),
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
    model = HalfmoonRegressor(budget=0.1, random_state=0).fit(X, y)
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


@pytest.mark.parametrize("other", ["c", "0"])  # the last class, and the first
def test_a_class_that_is_in_candidate_sets_only(rng, other):
    X = np.concatenate([rng.normal(size=(30, 2)), 5.0 + rng.normal(size=(30, 2))])
    sets = [("a",)] * 29 + [("a", other)] + [("b",)] * 29 + [("b", other)]
    sets[2] = ("b",)  # wrong
    found = suspicious_labels(CandidateSetClassifier(random_state=0).fit(X, sets))
    assert np.isfinite(found.score).all()
    assert found.row[0] == 2
    assert found.suggested[0] == "a"
