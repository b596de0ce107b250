"""Scales of targets: there and back, and the mean of what is exponentiated."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon._selection.target_transforms import IDENTITY, Logarithm


@pytest.fixture
def y(rng):
    return np.exp(rng.normal(size=(50, 1)) + 3)


def test_as_given(y):
    assert IDENTITY.forward(y) is y
    assert IDENTITY.inverse(y, -y) is y
    assert IDENTITY.inverse_variance(-y, y) is y
    assert IDENTITY.suffix == ""


def test_there_and_back(y):
    logarithm = Logarithm.of(y)
    residuals = np.zeros_like(y)
    assert_allclose(logarithm.inverse(logarithm.forward(y), residuals), y, rtol=1e-12)
    assert logarithm.shift == 0.05 * np.median(y) - y.min() or logarithm.shift == 0.0


def test_zeros_are_shifted_to_a_twentieth_of_the_median():
    y = np.array([[0.0], [1.0], [4.0], [5.0], [100.0]])
    logarithm = Logarithm.of(y)
    assert logarithm.shift == 0.05 * 4.0
    logs = np.log(y + 0.2)
    assert_allclose(logarithm.forward(y), logs, rtol=1e-14)
    assert (logarithm.low, logarithm.high) == (logs.min(), logs.max())
    assert_allclose(
        logarithm.inverse(logs, np.zeros((5, 1))), y, rtol=1e-12, atol=1e-12
    )
    # The median is 0: the mean takes its place.
    mostly = np.array([[0.0], [0.0], [0.0], [8.0]])
    assert Logarithm.of(mostly).shift == 0.05 * 2.0


def test_which_targets_have_a_logarithm(y):
    assert Logarithm.of(y - y.min()) is not None
    assert Logarithm.of(y - y.min() - 1e-9) is None
    assert Logarithm.of(np.zeros((4, 1))) is None
    assert Logarithm.of(np.hstack([y, y])) is None


def test_smearing_is_the_mean_of_exponentiated_residuals(y, rng):
    logarithm = Logarithm.of(y)
    values, residuals = np.log(y), 0.4 * rng.normal(size=y.shape)
    expected = np.exp(values) * np.exp(residuals).mean()
    shift = logarithm.shift
    assert_allclose(logarithm.inverse(values, residuals), expected - shift, rtol=1e-12)
    # No more than twice, and no residual counts beyond 5.
    doubled = logarithm.inverse(values, np.full_like(y, 3.0))
    assert_allclose(doubled, 2 * np.exp(values) - shift, rtol=1e-12)
    wild = np.where(np.arange(50)[:, None] == 0, -1e9, 0.0)
    factor = (49 + np.exp(-5)) / 50
    assert_allclose(logarithm.inverse(values, wild), factor * np.exp(values) - shift)


def test_smearing_gives_the_mean_of_a_log_normal_variable():
    rng = np.random.default_rng(0)
    noise = 0.5 * rng.normal(size=(200_000, 1))
    logarithm = Logarithm(0.0, -10.0, 10.0)
    mean = logarithm.inverse(np.array([[1.0]]), noise)
    assert_allclose(mean, np.exp(1 + 0.5**2 / 2), rtol=0.01)
    spread = logarithm.inverse_variance(mean, np.array([[0.5**2]]))
    assert_allclose(np.sqrt(spread), np.exp(1 + noise).std(), rtol=0.02)
    # What was added before is no part of the spread.
    shifted = Logarithm(2.0, -10.0, 10.0)
    again = shifted.inverse_variance(mean - 2.0, np.array([[0.5**2]]))
    assert_allclose(again, spread, rtol=1e-12)


def test_values_are_held_to_twice_the_range(y):
    logarithm = Logarithm.of(y)
    logs = np.log(y + logarithm.shift)
    room = (logs.max() - logs.min()) / 2
    ends = logarithm.inverse(np.array([[-1e9], [1e9]]), np.zeros((1, 1)))
    expected = np.exp([logs.min() - room, logs.max() + room]) - logarithm.shift
    assert_allclose(ends[:, 0], expected, rtol=1e-12)


def test_a_variance_without_bound_stays_a_number(y):
    spread = Logarithm.of(y).inverse_variance(y, np.full_like(y, np.inf))
    assert np.isfinite(spread).all()
    assert_array_equal(Logarithm.of(y).inverse_variance(y, np.zeros_like(y)), 0.0)
