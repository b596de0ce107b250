"""Closed forms of Fredholm kernels of Gaussian rows, against drawn rows."""

import numpy as np
import pytest

from halfmoon.kernels import Gaussian
from halfmoon.smoothers import KernelWeights
from halfmoon.theory import (
    fredholm_constant,
    fredholm_inner_product,
    fredholm_linear_noise,
    fredholm_width,
    gaussian_noise,
    linear_noise,
    outer_width,
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


@pytest.mark.parametrize("s", [None, 0.6, 5.0])
@pytest.mark.parametrize("v", [SIGNAL, NOISE])
def test_width_and_constant_are_those_of_the_double_integral(s, v):
    # k_F(x, z) of one column of variance v, by the trapezoidal rule on normal rows.
    inner = T if s is None else s
    u = np.linspace(-9, 9, 801) * np.sqrt(v)
    p = np.exp(-(u**2) / (2 * v))
    h = np.exp(-((u[:, None] - u) ** 2) / (2 * inner))

    def average(x):
        a = np.exp(-((x - u) ** 2) / (2 * T)) * p
        return a / a.sum()

    for x, z in ((0.0, 0.0), (0.7, -0.4), (1.5, 0.2)):
        expected = average(x) @ h @ average(z)
        width = fredholm_width(T, v, s)
        actual = fredholm_constant(1, v, T, s) * np.exp(-((x - z) ** 2) / (2 * width))
        np.testing.assert_allclose(actual, expected, rtol=1e-9)


def test_lemma_12_in_the_letters_of_the_paper():
    s, t, m = 0.6, T, 7
    for v in (SIGNAL, NOISE):  # v is sigma^2 there
        P = s * t**2 + 2 * s * t * v + 2 * t**2 * v + s * v**2 + 2 * t * v**2 + 2 * v**3
        base = (t + v) * (s * t + s * v + 2 * t * v)
        expected = (P**2 / (base * (P + 2 * v**3))) ** (m / 2)  # less 1
        actual = 1 + gaussian_noise(m, v, fredholm_width(t, v, s))
        np.testing.assert_allclose(actual, expected, rtol=1e-12)
        # c_2: the constant, times the mean of the kernel over noise in these columns.
        width = fredholm_width(t, v, s)
        mean = (width / (width + 2 * v)) ** (m / 2)
        expected = (s * (t + v) ** 2 / P) ** (m / 2)
        actual = fredholm_constant(m, v, t, s) * mean
        np.testing.assert_allclose(actual, expected, rtol=1e-12)


@pytest.mark.parametrize("s", [None, 0.3])
@pytest.mark.parametrize("r", [0.5, 3.0, 1e4])
def test_the_outer_width_gives_the_width_that_was_asked_for(r, s):
    t = outer_width(r, SIGNAL, s)
    np.testing.assert_allclose(fredholm_width(t, SIGNAL, s), r, rtol=1e-11)


def test_no_average_is_narrower_than_the_inner_kernel():
    with pytest.raises(ValueError, match="never narrower"):
        outer_width(0.5, SIGNAL, 0.6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fredholm_width(1.0, 0.0), "variance is 0.0; a positive number is"),
        (lambda: fredholm_constant(3, 1.0, -1.0), "t is -1.0; a positive number is"),
        (lambda: fredholm_linear_noise(3, 1.0, 1.0, -1.0), "t is -1.0; a positive"),
        (lambda: gaussian_noise(3, 1.0, 0.0), "width is 0.0; a positive number is"),
        (lambda: gaussian_noise(3, np.nan, 1.0), "noise is nan; a positive number is"),
        (lambda: outer_width(-1.0, 1.0), "r is -1.0; a positive number is needed"),
    ],
)
def test_variances_and_widths_are_positive(call, message):
    with pytest.raises(ValueError, match=message):
        call()
