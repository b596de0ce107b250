"""Averages are drawn to the constant, and those of few numbers to a line."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from halfmoon import HalfmoonClassifier, HalfmoonRegressor
from halfmoon._selection.average_weights import add_first_guess, shrink_to_constant
from halfmoon._selection.criteria import ClassCriterion
from halfmoon._selection.target_transforms import IDENTITY, Logarithm


def entry(family, held_out, target=IDENTITY, alpha=0.1, candidate=None):
    candidate = candidate or SimpleNamespace(family=family)
    return SimpleNamespace(
        candidate=candidate, held_out=held_out, target=target, alpha=alpha
    )


@pytest.fixture
def entries(y):
    others = (y.sum(axis=0) - y) / (len(y) - 1)
    log = Logarithm.of(np.abs(y) + 1.0)
    return [
        entry("plain", y),
        entry("constant", others, log),
        entry("constant", others),
    ]


@pytest.fixture
def y(rng):
    return rng.normal(size=(12, 1)) + 4.0


@pytest.fixture
def w(rng):
    return rng.uniform(0.5, 2.0, size=12)


def test_the_share_minimizes_the_squared_error_as_far_as_it_is_certain(
    entries, y, w, rng
):
    held_out = 0.4 * y + 0.6 * y.mean() + 0.3 * rng.normal(size=y.shape)
    weights, shrunk = shrink_to_constant(entries, np.array([1.0, 0, 0]), held_out, y, w)
    mean = entries[2].held_out

    def error(share):
        return (w[:, None] * (y - mean - share * (held_out - mean)) ** 2).sum()

    shares = np.linspace(0, 1, 100_001)
    best = shares[np.argmin([error(share) for share in shares])]
    assert 0 < best < 1
    # The variance of that slope, by weighted least squares through the origin: the
    # residual variance of 12 - 1 degrees of freedom over the sum of squares.
    v = error(best) / 11 / (w[:, None] * (held_out - mean) ** 2).sum()
    share = best * best**2 / (best**2 + v)
    assert 0.02 < best - share < best
    assert_allclose(weights, [share, 0.0, 1 - share], atol=2e-5)
    assert_allclose(shrunk, mean + share * (held_out - mean), atol=1e-4)


def test_hardly_any_of_an_uncertain_share_is_left(entries, w):
    # Steps of 1 where 0.1 is needed, give or take 5: s is 0.1, and its variance is that
    # of a mean of 12 such numbers.
    mean = entries[2].held_out
    way, off = np.ones((12, 1)), np.where(np.arange(12) % 2, 5.0, -5.0)[:, None]
    weights, shrunk = shrink_to_constant(
        entries, np.array([1.0, 0, 0]), mean + way, mean + 0.1 * way + off, np.ones(12)
    )
    share = 0.1 * 0.01 / (0.01 + 12 * 25 / 11 / 12)
    assert_allclose(weights, [share, 0.0, 1 - share])
    assert_allclose(shrunk, mean + share * way)


@pytest.mark.parametrize(("factor", "share"), [(-1.0, 0.0), (0.2, 1.0)])
def test_no_more_than_the_whole_way_and_not_the_wrong_way(entries, y, w, factor, share):
    mean = entries[2].held_out
    held_out = mean + factor * (y - mean)
    weights, shrunk = shrink_to_constant(entries, np.array([1.0, 0, 0]), held_out, y, w)
    assert_allclose(weights, [share, 0.0, 1 - share])
    assert_allclose(shrunk, mean + share * (held_out - mean))


def test_without_a_constant_nothing_changes(entries, y, w):
    weights = np.array([0.25, 0.75])
    found, values = shrink_to_constant(entries[:2], weights, y, y, w)
    assert found is weights
    assert values is y


def test_equal_values_have_nowhere_to_go(entries, y, w):
    mean = entries[2].held_out
    weights, values = shrink_to_constant(entries, np.array([1.0, 0, 0]), mean, y, w)
    assert_allclose(weights, [1.0, 0.0, 0.0])
    assert_allclose(values, mean)


def test_pure_noise_is_answered_by_about_the_mean():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(150, 4)), 10.0 + rng.normal(size=150)
    known = np.where(np.arange(150) < 60, y, np.nan)
    model = HalfmoonRegressor(random_state=0).fit(X, known)
    values, mean, truth = model.predict(X[60:]), y[:60].mean(), y[60:]
    assert np.abs(values - mean).mean() < 0.1
    assert ((values - truth) ** 2).mean() < 1.05 * ((mean - truth) ** 2).mean()
    comparison = model.comparison_
    weight = dict(zip(comparison["candidate"], comparison["weight"], strict=True))
    assert weight["constant"] > 0.3
    assert sum(comparison["weight"]) == pytest.approx(1.0)


def of_classes(codes, held_out):
    """Shrink scores of classes; return the share of the way, and the scores."""
    y = np.eye(3)[codes]
    constant = (y.sum(axis=0) - y) / (len(y) - 1)
    some = [entry("plain", held_out), entry("constant", constant)]
    criterion = ClassCriterion(codes, 3, np.zeros((len(y), 0), dtype=int))
    weights = np.array([1.0, 0.0])
    weights, values = criterion.shrunk(some, weights, held_out, y, np.ones(len(y)))
    assert weights[1] == pytest.approx(1.0 - weights[0])
    assert_allclose(values, constant + weights[0] * (held_out - constant))
    return weights[0]


def test_scores_are_shrunk_as_far_as_they_go_too_far():
    codes = np.repeat([0, 1, 2], [12, 6, 2])
    y = np.eye(3)[codes]
    constant = (y.sum(axis=0) - y) / 19
    assert of_classes(codes, constant + 2.0 * (y - constant)) == pytest.approx(0.5)
    assert of_classes(codes, y) == 1.0


def test_at_least_a_tenth_of_the_way_from_the_class_shares_is_gone():
    codes = np.repeat([0, 1, 2], [12, 6, 2])
    assert of_classes(codes, -np.eye(3)[codes]) == pytest.approx(0.1)


def test_labels_alone_in_their_class_do_not_count():
    codes = np.array([0, 0, 0, 1, 1, 2])
    held_out = np.eye(3)[codes]
    held_out[-1] = [9.0, -5.0, -3.0]  # as wrong as can be, without its only label
    assert of_classes(codes, held_out) == 1.0
    assert of_classes(np.arange(3), np.eye(3)[[1, 2, 0]]) == 1.0  # nothing is known


def test_the_twin_predicts_noise_by_the_class_shares():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.random(200) < 0.25
    known = np.where(np.arange(200) < 40, y, np.nan)
    twin = HalfmoonClassifier(random_state=0).fit(X, known).twin_
    assert not twin.predict(X[40:]).any()  # 4 rows before, all of them wrong
    assert len(np.unique(twin.predict_proba(X[40:])[:, 1])) > 100


@pytest.mark.parametrize(("l", "share"), [(4, 36 / 52), (6, 0.5), (12, 0.2)])
def test_the_first_guess_is_the_first_candidate_at_its_alpha(rng, l, share):
    y = rng.normal(size=(l, 1))
    line = SimpleNamespace(family="plain")
    log = Logarithm.of(np.abs(y) + 1.0)
    some = [
        entry("plain", y + 1.0, alpha=0.01, candidate=line),
        entry("plain", y + 2.0, log, candidate=line),
        entry("plain", y + 3.0, candidate=line),
        entry("plain", y + 4.0),
        entry("constant", y + 5.0),
    ]
    weights = np.array([0.5, 0.0, 0.25, 0.25, 0.0])
    mixed, values = add_first_guess(some, weights, y)
    assert_allclose(mixed, (1 - share) * weights + share * np.eye(5)[2])
    assert_allclose(values, y + share * 3.0)
    assert weights[2] == 0.25  # not changed in place


def test_no_first_guess_with_many_labels_or_with_features_of_the_user(entries, rng):
    y = rng.normal(size=(200, 1))
    weights = np.array([1.0, 0.0, 0.0])
    assert add_first_guess(entries, weights, y)[0] is weights
    without_constant = entries[:2]
    few = rng.normal(size=(4, 1))
    assert add_first_guess(without_constant, weights[:2], few)[1] is few


@pytest.mark.slow
def test_a_strong_trend_is_seen_with_four_labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = 5.0 + X @ [2.0, 1.0, 0.0]
    errors = []
    for start in range(0, 20, 4):
        known = np.full(200, np.nan)
        known[start : start + 4] = y[start : start + 4]
        model = HalfmoonRegressor(random_state=0, budget=30).fit(X, known)
        mean = y[start : start + 4].mean()
        errors.append([((model.predict(X) - y) ** 2).mean(), ((mean - y) ** 2).mean()])
    by_model, by_mean = np.mean(errors, axis=0)
    assert by_model < 0.75 * by_mean
