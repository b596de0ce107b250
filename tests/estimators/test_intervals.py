import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm, t

from halfmoon._estimators.intervals import Intervals


def even(r):
    """Labels of residuals r about a prediction that is the same for all rows."""
    return np.asarray(r), np.zeros(len(r))


def radius(intervals, at=0.0):
    low, high = intervals(np.array([at]))
    assert_allclose(high + low, 2 * at, atol=1e-12)
    return float(high[0] - low[0]) / 2


def test_the_radius_is_the_ranked_residual():
    r = np.array([3.0, -1.0, 2.0, -9.0, 5.0, 4.0, -8.0, 6.0, 7.0])
    factor = np.sqrt(1 + 6 / 9)
    assert_allclose(radius(Intervals.of(*even(r), 0.9)), 9.0 * factor)  # 9th of 9
    assert_allclose(radius(Intervals.of(*even(r), 0.5)), 5.0 * factor)  # the 5th


def test_few_labels_take_students_distribution():
    r = np.array([1.0, -2.0, 2.0])
    expected = t.ppf(0.95, 2) * np.sqrt(3.0 * (1 + 1 / 3) * (1 + 6 / 3))
    assert_allclose(radius(Intervals.of(*even(r), 0.9)), expected)
    one = Intervals.of(np.array([1.0]), np.array([0.0]), 0.9)
    assert np.isfinite(radius(one))


def test_a_weight_is_a_share_of_the_residuals():
    r = np.array([3.0, -1.0, 2.0, -9.0, 5.0, 4.0, -8.0, 6.0, 7.0])
    w = np.array([1.0, 1.0, 1.0, 5.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    n = 13.0**2 / 33.0
    factor = np.sqrt(1 + 6 / n)
    # Of 13 / 33 (n + 1) level, 8 are those of the other labels.
    for level in (0.1, 0.3, 0.5, 0.6, 0.75, 0.8):
        rank = int(np.ceil((n + 1) * level * 33 / 13))
        expected = min(rank, 9) * factor
        assert_allclose(radius(Intervals.of(*even(r), level, w)), expected)
    many = Intervals.of(*even(r), 0.9, w)  # more than the share of all labels
    size = np.sqrt((w @ r**2) / 13.0 * (1 + 1 / n))
    assert_allclose(radius(many), factor * size * t.ppf(0.95, n - 1))


@pytest.mark.parametrize("w", [0.3, 1e-100, 7.0])
def test_equal_weights_change_nothing(w):
    rng = np.random.default_rng(0)
    y, g = rng.normal(size=(2, 29))
    for level in (0.1, 0.5, 0.7, 0.9):
        expected = Intervals.of(y, g, level)(g)
        assert_allclose(Intervals.of(y, g, level, np.full(29, w))(g), expected)


def test_labels_that_are_all_met_have_no_width():
    y = np.arange(30.0)
    assert radius(Intervals.of(y, y, 0.9), 3.0) == 0.0


def test_rows_without_a_prediction_do_not_count():
    rng = np.random.default_rng(0)
    y, g = rng.normal(size=(2, 30))
    expected = Intervals.of(y[:-1], g[:-1], 0.9)
    g[-1] = np.nan
    assert Intervals.of(y, g, 0.9) == expected


def test_the_line_is_ridge_regression_of_the_errors():
    rng = np.random.default_rng(0)
    y = rng.uniform(0, 10, 50)
    g = y + rng.normal(size=50) * (0.1 + y)
    u = np.clip((g - y.min()) / np.ptp(y), 0, 1)
    # The mean of u away, the intercept is free and the slope has 30 rows of zeros.
    v = np.column_stack([np.ones(50), u - u.mean()])
    penalty = np.diag([0, 30.0 * u.var()])
    a, b = np.linalg.solve(v.T @ v + penalty, v.T @ np.abs(y - g))
    found = Intervals.of(y, g, 0.9)
    assert_allclose(found.scale(g), np.maximum(a + b * (u - u.mean()), 0.3 * a))
    wide, narrow = radius(found, 9.0), radius(found, 1.0)
    assert wide > 1.2 * narrow


@pytest.mark.parametrize("n", [5, 9, 20, 200])
@pytest.mark.parametrize("level", [0.8, 0.9])
def test_normal_errors_are_held_at_least_as_often_as_asked_for(n, level):
    rng = np.random.default_rng(0)
    radii = [radius(Intervals.of(*even(rng.normal(size=n)), level)) for _ in range(300)]
    # Ranks round up by no more than 1 / (n + 1), and the factor adds to it.
    factor = np.sqrt(1 + 6 / n)
    plain = 2 * norm.cdf(np.array(radii) / factor) - 1
    assert level - 0.02 < plain.mean() < level + 1 / (n + 1) + 0.02


def test_errors_that_grow_are_held_as_often_below_as_above():
    rng = np.random.default_rng(0)
    g = rng.uniform(1, 10, 4_000)
    y = g + 0.2 * g * rng.normal(size=4_000)
    low, high = Intervals.of(y[:1_000], g[:1_000], 0.9)(g[1_000:])
    held = (low <= y[1_000:]) & (y[1_000:] <= high)
    below = g[1_000:] < 5
    assert abs(held[below].mean() - 0.9) < 0.05
    assert abs(held[~below].mean() - 0.9) < 0.05
