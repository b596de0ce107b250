"""Labels far outside the range of the others do not decide a fit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from halfmoon import HalfmoonRegressor
from halfmoon._selection.outlying_labels import within_limits
from halfmoon.queries import suspicious_labels


def column(*values):
    return np.array(values, dtype=float)[:, None]


def test_the_limit_is_three_times_as_far_as_the_95_percent_quantile():
    y = column(*range(-10, 11))  # the median is 0, the quantile is 9 (of 21: the 20th)
    y[-1] = 27.0
    assert within_limits(y) is y
    y[-1] = 27.001
    assert_array_equal(within_limits(y)[:-1], y[:-1])
    assert within_limits(y)[-1] == 9.0  # the largest of the others
    assert_array_equal(within_limits(-y), -within_limits(y))  # both ends alike


def test_positive_labels_may_go_further_by_their_logarithms():
    y = column(*2.0 ** np.arange(-10, 11))
    y[-1] = 2.0**26.9
    assert within_limits(y) is y
    y[-1] = 2.0**27.1
    assert within_limits(y)[-1] == 2.0**9


def test_each_output_has_its_own_limits(rng):
    y = rng.normal(size=(40, 2))
    y[3, 1] = 50.0
    moved = within_limits(y)
    assert_array_equal(moved[:, 0], y[:, 0])
    assert moved[3, 1] == np.sort(y[:, 1])[-2]


@pytest.mark.parametrize(
    "y",
    [
        column(*range(13), 1e6),  # few labels do not show what is usual
        column(*[0.0] * 18, 1.0, 100.0),  # most are equal
        column(*range(100), *[1e4] * 4),  # four in 104 are no typing errors
        column(*range(100)),
    ],
    ids=["few", "equal", "a group", "nothing outlying"],
)
def test_nothing_is_moved(y):
    assert within_limits(y) is y


@pytest.mark.parametrize("factor", [10.0, 100.0, 1e6])
def test_a_mistyped_label_costs_little(rng, factor):
    X = rng.uniform(size=(300, 3))
    truth = 10.0 + 5.0 * X[:, 0] + np.sin(6.0 * X[:, 1])
    y = np.where(np.arange(300) < 40, truth, np.nan)
    y[7] *= factor
    model = HalfmoonRegressor(random_state=0).fit(X, y)
    rest = np.arange(40, 300)
    error = ((model.predict(X[rest]) - truth[rest]) ** 2).mean()
    assert error < 0.1 * truth.var()
    # So do the score and the noise, but the residual is that of the label as given.
    assert model.loo_score_ > 0.6
    assert model.noise_variance_ < truth.var()
    assert abs(model.leave_one_out()[7]) > 0.8 * (factor - 1) * truth[7]
    worst = suspicious_labels(model)[0]
    assert worst.row == 7
    assert worst.given == y[7]
    assert abs(worst.suggested - truth[7]) < 2.0
