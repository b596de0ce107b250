import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import bootstrap, norm, t
from sklearn.metrics import accuracy_score, balanced_accuracy_score, r2_score
from sklearn.metrics import mean_absolute_error as sk_error

from halfmoon._report.findings import LooNumbers
from halfmoon._report.quality_scores import (
    accuracy,
    balanced_accuracy,
    interval_coverage,
    mean_absolute_error,
    per_class,
    r_squared,
    wilson_interval,
)


@pytest.mark.parametrize(("right", "total"), [(0, 7), (3, 7), (7, 7), (94, 120)])
def test_wilson_interval_solves_its_equation(right, total):
    z = norm.ppf(0.975)
    for p in wilson_interval(right, total):
        gap = (right / total - p) ** 2 - z**2 * p * (1 - p) / total
        assert_allclose(gap, 0.0, atol=1e-12)


def test_wilson_interval_against_newcombe_1998():
    # Table I of "Two-sided confidence intervals for the single proportion".
    assert_allclose(wilson_interval(81, 263), (0.2553, 0.3662), atol=5e-5)
    assert_allclose(wilson_interval(15, 148), (0.0624, 0.1605), atol=5e-5)
    assert_allclose(wilson_interval(0, 20), (0.0, 0.1611), atol=5e-5)
    assert_allclose(wilson_interval(1, 29), (0.0061, 0.1718), atol=5e-5)


def test_wilson_interval_without_trials():
    assert wilson_interval(0, 0) == (0.0, 1.0)


def test_accuracy_and_its_baseline_agree_with_scikit_learn(rng):
    given = rng.choice(["a", "b", "c"], 50, p=[0.2, 0.5, 0.3])
    predicted = np.where(rng.uniform(size=50) < 0.7, given, "a")
    score = accuracy(given.tolist(), predicted.tolist())
    assert score.value == accuracy_score(given, predicted)
    assert score.guess == "b"
    assert score.naive == accuracy_score(given, np.full(50, "b"))
    assert score.low < score.value < score.high
    assert np.isnan(accuracy([], []).value)


def test_scores_of_numbers_agree_with_scikit_learn(rng):
    given = rng.normal(5, 3, 80)
    predicted = given + rng.normal(0, 1, 80)
    r2, error = r_squared(given, predicted), mean_absolute_error(given, predicted)
    # New rows are missed by more than hidden labels: the choice was made on these.
    # The variance of the labels is that of independent rows, as of the errors.
    ratio = (1 - r2_score(given, predicted)) * 79 / 80
    assert_allclose(1 - r2.value, ratio * (1 + 6 / 80))
    assert_allclose(error.value, sk_error(given, predicted) * np.sqrt(1 + 6 / 80))
    # The naive guess is the mean of the others.
    guesses = [np.delete(given, i).mean() for i in range(80)]
    assert_allclose(error.naive, sk_error(given, guesses))


@pytest.mark.parametrize("filled", [np.inf, 40])
def test_interval_of_the_mean_absolute_error(rng, filled):
    given = rng.normal(5, 3, 80)
    predicted = given + rng.normal(0, 1, 80)
    size = np.abs(given - predicted)
    variation = (80 * (size.std(ddof=1) / size.mean()) ** 2 + 10 * 0.75) / 90
    half = t.ppf(0.975, 79) * np.sqrt(variation * (2 / 80 + 1 / filled))
    found = mean_absolute_error(given, predicted, filled)
    # Some tables need no correction for the choice: the lower end has none.
    expected = [size.mean() * np.exp(-half), found.value * np.exp(half)]
    assert_allclose([found.low, found.high], expected)
    assert_allclose(found.value, size.mean() * np.sqrt(1 + 6 / 80))


def test_an_outlying_label_may_be_right(rng):
    given = rng.normal(5, 3, 20)
    predicted = given + rng.normal(0, 1, 20)
    unmoved = given.copy()
    unmoved[0] += 40
    ends = np.zeros(20), np.zeros(20), 0.9
    learned = LooNumbers(given, predicted, *ends)
    found = LooNumbers(given, predicted, *ends, unmoved=unmoved)
    as_it_is = LooNumbers(unmoved, predicted, *ends)
    assert found.error(99).high == as_it_is.error(99).high > 2 * learned.error(99).high
    assert found.r_squared(99).low == as_it_is.r_squared(99).low
    for name in ("value", "low", "naive"):
        assert getattr(found.error(99), name) == getattr(learned.error(99), name)
    assert found.r_squared(99).value == learned.r_squared(99).value


def test_mean_absolute_error_of_few_and_of_exact_predictions():
    y = np.array([1.0, 2.0, 4.0])
    exact = mean_absolute_error(y, y)
    assert (exact.value, exact.low, exact.high) == (0.0, 0.0, 0.0)
    one = mean_absolute_error(y[:1], y[1:2])
    assert (one.low, one.high, one.tested) == (0.0, np.inf, 1)
    assert np.isnan(mean_absolute_error(y[:0], y[:0]).value)


@pytest.mark.parametrize("filled", [np.inf, 30])
def test_interval_of_the_accuracy(filled):
    given = ["a"] * 20 + ["b"] * 10
    predicted = ["a"] * 18 + ["b"] * 12
    score = accuracy(given, predicted, filled)
    assert (score.tested, score.right, score.value) == (30, 28, 28 / 30)
    trials = 1 / (1.5 / 30 + 1 / filled)
    # While one of 20 labels is hidden, 19 are left: 1/20 of the misses are due to that.
    # Half a trial more is the continuity correction.
    most = (28 + 2 / 20) / 30 + 0.5 / trials
    for share, p in ((28 / 30, score.low), (most, score.high)):
        gap = (share - p) ** 2 - norm.ppf(0.975) ** 2 * p * (1 - p) / trials
        assert_allclose(gap, 0.0, atol=1e-12)


def test_the_upper_end_allows_for_the_hidden_label():
    given = ["a", "a", "b", "b", "b", "c"]
    score = accuracy(given, ["a", "b", "a", "b", "b", "a"])
    right = 3 + 1 / 2 + 1 / 3  # one of two labels was hidden, and one of three
    trials = 5 / 1.5
    assert_allclose(score.high, wilson_interval(right / 5 * trials + 0.5, trials)[1])
    assert accuracy("aabb", "aabb").high == 1.0
    # With one miss in 20, nearly all may be right.
    score = accuracy("a" * 10 + "b" * 10, "a" * 9 + "b" * 11, 300)
    assert_allclose([score.low, score.high], [0.6982, 0.9999], atol=5e-5)


def test_the_lower_end_counts_labels_that_cannot_be_tested():
    score = accuracy(["a", "a", "b", "b", "b", "c"], ["a", "b", "a", "b", "b", "a"])
    assert_allclose(score.low, wilson_interval(3 / 1.5, 6 / 1.5)[0])
    none_alone = accuracy(["a", "a", "b", "b", "b"], ["a", "b", "a", "b", "b"])
    assert_allclose(none_alone.low, wilson_interval(3 / 1.5, 5 / 1.5)[0])


def test_the_only_label_of_a_class_counts_as_missed():
    score = accuracy(["a", "a", "b", "c"], ["a", "b", "a", "a"])
    assert (score.tested, score.right, score.alone) == (2, 1, 2)
    # The filled rows have such classes too.
    assert (score.value, score.naive) == (1 / 4, 2 / 4)
    assert (score.guess, score.guessed) == ("a", 2)
    assert score.low < score.value < score.high
    nothing = accuracy(["a", "b", "c"], ["b", "a", "a"])
    assert np.isnan(nothing.value)
    assert (nothing.tested, nothing.alone) == (0, 3)
    assert (nothing.low, nothing.high) == (0.0, 1.0)


def test_balanced_accuracy_agrees_with_scikit_learn(rng):
    given = rng.choice(["a", "b", "c"], 200, p=[0.9, 0.06, 0.04])
    predicted = np.where(rng.uniform(size=200) < 0.7, given, "a")
    found = balanced_accuracy(per_class(given.tolist(), predicted.tolist()))
    assert_allclose(found, balanced_accuracy_score(given, predicted))
    assert np.isnan(balanced_accuracy(per_class(["a", "b"], ["b", "a"])))


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
    # Of independent rows; those of leave-one-out share labels: twice the variance.
    ratios = np.log(1 - np.array([found.low, found.value, found.high]))
    half = np.log((1 - resampled.low) / (1 - resampled.high)) / 2
    # The upper end has no correction for the choice.
    steps = -np.diff(ratios) - [0, np.log(1 + 6 / 400)]
    assert_allclose(steps, np.sqrt(2) * half, rtol=0.15)


def test_interval_of_r2_for_proportional_errors(rng):
    given = rng.normal(size=20)
    predicted = given.mean() + 0.5 * (given - given.mean())
    found = r_squared(given, predicted)
    ratio = 0.25 * 19 / 20
    assert_allclose(found.value, 1 - ratio * (1 + 6 / 20), rtol=1e-12)
    # The ratio is the same in each row, but 20 labels do not show that of the others:
    # its variance is shrunk from 0 towards 2 with the weight of 10 labels.
    half = t.ppf(0.975, 19) * np.sqrt(2 * 10 / 30 * 2 / 20)
    assert_allclose(found.high, 1 - ratio * np.exp(-half), rtol=1e-12)
    assert_allclose(found.low, 1 - ratio * (1 + 6 / 20) * np.exp(half), rtol=1e-12)


def test_interval_of_r2_holds_0_where_the_mean_is_predicted(rng):
    inside = 0
    for _ in range(50):
        given = rng.normal(size=15)
        others = (given.sum() - given) / 14  # leave-one-out
        found = r_squared(given, others)
        inside += found.low < 0 < found.high
        assert_allclose(found.value, 1 - 15 / 14 * (1 + 6 / 15))
    assert inside == 50


@pytest.mark.parametrize(("labels", "filled"), [(19, np.inf), (59, 400), (59, 1e5)])
def test_coverage_of_intervals_against_draws(rng, labels, filled):
    # Half as many independent errors, because leave-one-out errors share labels.
    n, k = (labels + 1) // 2 - 1, round((labels + 1) * 0.9) // 2
    errors = np.sort(rng.exponential(size=(20_000, n)), axis=1)
    share = 1 - np.exp(-errors[:, k - 1])  # of all rows
    if np.isfinite(filled):
        share = rng.binomial(int(filled), share) / filled
    expected = np.quantile(share, [0.025, 0.975])
    assert_allclose(interval_coverage(labels, 0.9, filled), expected, atol=0.012)


def test_coverage_of_intervals_is_unknown_for_few_labels():
    assert np.isnan(interval_coverage(8, 0.9)).all()  # no error is the 9th of 8
    assert np.isnan(interval_coverage(60, 0.9, 0)).all()
    assert interval_coverage(60, 0.9, 1) == (0.0, 1.0)
    # Clumps count, not labels: 60 labels in 15 clumps say as much as 15.
    loo = LooNumbers(np.zeros(60), *np.zeros((3, 60)), 0.9, independent=0.25)
    assert loo.coverage(100) == interval_coverage(15, 0.9, 100)


def test_r2_of_few_and_of_exact_predictions():
    y = np.array([1.0, 2.0, 4.0])
    exact = r_squared(y, y)
    assert (exact.value, exact.low, exact.high) == (1.0, 1.0, 1.0)
    assert np.isnan(r_squared(np.ones(3), y).value)
    assert np.isnan(r_squared(y[:1], y[:1]).value)
    worse = r_squared(y, y[::-1])
    assert worse.low < worse.value < worse.high < 1.0


def test_rows_without_a_prediction_do_not_count():
    y = np.array([1.0, 2.0, 4.0, 3.0])
    values = np.array([1.5, 2.0, 3.0, np.nan])
    found = mean_absolute_error(y, values)
    assert found == mean_absolute_error(y[:3], values[:3])
    assert_allclose(found.value, 0.5 * np.sqrt(1 + 6 / 3))
    assert r_squared(y, values) == r_squared(y[:3], values[:3])


def test_numbers_at_both_ends_are_within_their_interval():
    given = np.array([0.0, 1.0, 2.0, 3.0, 4.0, np.nan])
    low, high = np.full(6, 1.0), np.full(6, 3.0)
    assert LooNumbers(given, given, low, high, 0.9).held == 0.6
    assert np.isnan(LooNumbers(given[5:], given[5:], low[5:], high[5:], 0.9).held)


def test_two_labels_of_each_class_say_little():
    given, predicted = "aabbcc", "abbcca"
    assert accuracy(given, predicted, 100).is_vague
    assert not accuracy(given, predicted, 4).is_vague  # the blanks are few too
    assert not accuracy(given * 9, predicted * 9, 100).is_vague
    assert accuracy(given, predicted).tied
    assert not accuracy(given + "a", predicted + "a").tied
