import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import bootstrap, norm, t
from sklearn.metrics import accuracy_score, r2_score
from sklearn.metrics import mean_absolute_error as sk_error

from halfmoon.report import (
    accuracy,
    coverage,
    mean_absolute_error,
    r_squared,
    wilson_interval,
)


@pytest.mark.parametrize(("right", "total"), [(0, 7), (3, 7), (7, 7), (94, 120)])
def test_wilson_ends_are_where_the_share_is_just_contradicted(right, total):
    z = norm.ppf(0.975)
    for p in wilson_interval(right, total):
        gap = (right / total - p) ** 2 - z**2 * p * (1 - p) / total
        assert_allclose(gap, 0.0, atol=1e-12)


def test_wilson_of_newcombe_1998():
    # Table I of "Two-sided confidence intervals for the single proportion".
    assert_allclose(wilson_interval(81, 263), (0.2553, 0.3662), atol=5e-5)
    assert_allclose(wilson_interval(15, 148), (0.0624, 0.1605), atol=5e-5)
    assert_allclose(wilson_interval(0, 20), (0.0, 0.1611), atol=5e-5)
    assert_allclose(wilson_interval(1, 29), (0.0061, 0.1718), atol=5e-5)


def test_nothing_seen_leaves_everything_open():
    assert wilson_interval(0, 0) == (0.0, 1.0)


def test_accuracy_beside_the_commonest_class(rng):
    given = rng.choice(["a", "b", "c"], 50, p=[0.2, 0.5, 0.3])
    predicted = np.where(rng.uniform(size=50) < 0.7, given, "a")
    score = accuracy(given.tolist(), predicted.tolist())
    assert score.value == accuracy_score(given, predicted)
    assert score.guess == "b"
    assert score.naive == accuracy_score(given, np.full(50, "b"))
    assert score.low < score.value < score.high
    assert np.isnan(accuracy([], []).value)


def test_numbers_beside_scikit_learn(rng):
    given = rng.normal(5, 3, 80)
    predicted = given + rng.normal(0, 1, 80)
    r2, error = r_squared(given, predicted), mean_absolute_error(given, predicted)
    assert_allclose(r2.value, r2_score(given, predicted))
    assert_allclose(error.value, sk_error(given, predicted))
    # The naive guess is the mean of the others.
    guesses = [np.delete(given, i).mean() for i in range(80)]
    assert_allclose(error.naive, sk_error(given, guesses))
    size = np.abs(given - predicted)
    half = t.ppf(0.975, 79) * size.std(ddof=1) / np.sqrt(80)
    assert_allclose([error.low, error.high], [size.mean() - half, size.mean() + half])


def test_interval_of_r2_is_near_that_of_the_bootstrap(rng):
    given = rng.normal(0, 2, 400)
    predicted = given + rng.normal(0, 1.5, 400)
    found = r_squared(given, predicted)
    resampled = bootstrap(
        (given, predicted),
        r2_score,
        paired=True,
        vectorized=False,
        n_resamples=500,
        method="percentile",
        rng=1,
    ).confidence_interval
    width = resampled.high - resampled.low
    assert_allclose([found.low, found.high], resampled, atol=0.15 * width)


def test_r2_is_certain_where_errors_keep_their_ratio_to_deviations(rng):
    given = rng.normal(size=20)
    predicted = given.mean() + 0.5 * (given - given.mean())
    found = r_squared(given, predicted)
    assert_allclose([found.value, found.low, found.high], 0.75, rtol=1e-12)


def test_r2_of_few_and_of_exact_predictions():
    y = np.array([1.0, 2.0, 4.0])
    exact = r_squared(y, y)
    assert (exact.value, exact.low, exact.high) == (1.0, 1.0, 1.0)
    assert np.isnan(r_squared(np.ones(3), y).value)
    assert np.isnan(r_squared(y[:1], y[:1]).value)
    worse = r_squared(y, y[::-1])
    assert worse.low < worse.value < worse.high < 1.0


def test_rows_of_which_nothing_is_known_do_not_count():
    y = np.array([1.0, 2.0, 4.0, 3.0])
    values = np.array([1.5, 2.0, 3.0, np.nan])
    assert_allclose(mean_absolute_error(y, values).value, 0.5)
    assert_allclose(r_squared(y, values).value, r2_score(y[:3], values[:3]))


def test_coverage_counts_both_ends():
    given = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    low, high = np.full(5, 1.0), np.full(5, 3.0)
    score = coverage(given, low, high, 0.9)
    assert (score.value, score.naive) == (0.6, 0.9)
    assert_allclose((score.low, score.high), wilson_interval(3, 5))
