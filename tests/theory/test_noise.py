"""Closed forms of Fredholm kernels of Gaussian rows, against drawn rows."""

import numpy as np
import pytest

from halfmoon.kernels import Gaussian
from halfmoon.smoothers import KernelWeights
from halfmoon.theory import (
    fredholm_inner_product,
    fredholm_linear_noise,
    fredholm_width,
    gaussian_noise,
    linear_noise,
)

SIGNAL, NOISE, T = 4.0, 0.25, 1.5


def test_inner_product_is_the_average_over_pairs():
    rng = np.random.default_rng(0)
    mean, variances = np.array([0.5, -1.0, 0.0]), np.array([3.0, 1.0, 0.2])
    U, V = mean + np.sqrt(variances) * rng.standard_normal((2, 400_000, 3))
    k = np.exp(-((U - V) ** 2).sum(axis=1) / (2 * T))
    terms = k[:, None, None] * U[:, :, None] * V[:, None, :]
    error = terms.std(axis=0) / np.sqrt(len(U))
    deviation = (
        terms.mean(axis=0) - fredholm_inner_product(mean, variances, T)
    ) / error
    assert np.abs(deviation).max() < 4
    assert error.max() < 0.003  # so that a wrong factor would show


def noisy(rng, draws, m):
    """Rows at the signal 0.7, with m columns of noise."""
    return np.c_[np.full(draws, 0.7), np.sqrt(NOISE) * rng.standard_normal((draws, m))]


def test_linear_noise_of_drawn_rows():
    rng = np.random.default_rng(1)
    x, z = noisy(rng, 200_000, 3), noisy(rng, 200_000, 3)
    seen = (x * z).sum(axis=1)
    assert seen.mean() == pytest.approx(0.7**2, abs=0.002)
    assert seen.var() == pytest.approx(linear_noise(3, NOISE), rel=0.02)


def test_fredholm_with_a_linear_inner_kernel():
    """The smoother shrinks a column to v / (t + v) of itself, so k_F is a product of
    independent Gaussians whose variance is that of the formula.
    """
    rng = np.random.default_rng(2)
    rows = np.sqrt([SIGNAL, NOISE, NOISE]) * rng.standard_normal((60_000, 3))
    smoother = KernelWeights(Gaussian(np.sqrt(T))).fit(rows)
    x = noisy(rng, 400, 2)
    shrunk = smoother.weights(x) @ rows
    kept = (shrunk * x).sum(axis=0) / (x**2).sum(axis=0)
    variances = np.array([SIGNAL, NOISE, NOISE])
    np.testing.assert_allclose(kept, variances / (T + variances), rtol=0.03)

    draws = np.sqrt(NOISE) * rng.standard_normal((2, 200_000, 2))
    u, v = draws * (NOISE / (T + NOISE)) * (T + SIGNAL) / SIGNAL
    expected = fredholm_linear_noise(2, SIGNAL, NOISE, T)
    assert (u * v).sum(axis=1).var() == pytest.approx(expected, rel=0.02)
    assert expected < linear_noise(2, NOISE) / 20


@pytest.mark.parametrize("width", [0.5, 3.0])
def test_gaussian_noise_of_drawn_rows(width):
    rng = np.random.default_rng(3)
    x, z = noisy(rng, 400_000, 3), noisy(rng, 400_000, 3)
    seen = np.exp(-((x - z) ** 2).sum(axis=1) / (2 * width))
    relative = seen.var() / seen.mean() ** 2
    assert relative == pytest.approx(gaussian_noise(3, NOISE, width), rel=0.02)


def test_fredholm_of_two_gaussians_is_a_gaussian():
    """The logarithm falls as the squared distance over twice the squared width."""
    rng = np.random.default_rng(4)
    rows = np.sqrt(SIGNAL) * rng.standard_normal((4_000, 1))
    kernel = Gaussian(np.sqrt(T))
    smoother = KernelWeights(kernel).fit(rows)
    A = smoother.weights(np.array([[0.0], [1.0], [2.0]]))
    k_F = A @ kernel(rows) @ A.T
    falls = np.log(k_F[0, 0] / k_F[0, 1:])  # k_F(0, 0) is the constant
    expected = np.array([1.0, 4.0]) / (2 * fredholm_width(T, SIGNAL))
    np.testing.assert_allclose(falls, expected, rtol=0.05)


def test_noise_is_suppressed_where_the_signal_is_larger():
    for t in (0.1, 1.0, 10.0):
        plain = gaussian_noise(98, NOISE, fredholm_width(t, SIGNAL))
        averaged = gaussian_noise(98, NOISE, fredholm_width(t, NOISE))
        assert averaged < plain / 10
