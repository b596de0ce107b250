import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.special import comb, factorial, gamma, zeta

from halfmoon.kernels import PeriodicSobolev

ZERO = np.zeros((1, 1))
BERNOULLI = [1, -1 / 2, 1 / 6, 0, -1 / 30, 0, 1 / 42, 0, -1 / 30]
ANGLES = np.array([1e-6, 1e-3, 0.1, 1.0, 2.5, np.pi])


def column(kernel, t):
    return kernel(np.reshape(t, (-1, 1)), ZERO)[:, 0]


def slope(kernel, t):
    A, B = kernel.gradient_coefficients(np.reshape(t, (-1, 1)), ZERO)
    assert_array_equal(B, -A)
    return A[:, 0] * t


def series(power, t, wave=np.cos):
    terms = 1_000_000 if power < 5 else 10_000  # the rest is below 1e-16 then
    i = np.arange(terms, 0.0, -1.0)  # the small terms first
    weights = i**-power
    return np.array([np.sum(weights * wave(i * x)) for x in t])


@pytest.mark.parametrize("s", [1.5, 1.50003, 1.4998, 1.6, 2.0, 2.25, 2.5, 3.0, 6.5, 40])
def test_equals_the_series(s):
    # The tail beyond N terms is at most N^(1-2s) / (2s - 1), 5e-13 for s = 1.5.
    expected = 1.0 + series(2 * s, ANGLES)
    assert_allclose(
        column(PeriodicSobolev(s), ANGLES), expected, rtol=3e-12, atol=2e-12
    )


@pytest.mark.parametrize("s", [0.55, 0.75, 0.9, 1.25, 1.49])
def test_equals_an_integral_where_the_series_is_slow(s):
    # Li_a(z) = 1 / Gamma(a) int_0^inf x^(a-1) z / (e^x - z) dx, and x = v^2
    a = 2 * s
    for t in (0.5, 1.5, 3.0):
        z = np.exp(1j * t)

        def integrand(v, z=z):
            return 2 * v ** (2 * a - 1) * (z / (np.exp(v**2) - z)).real

        integral, _ = quad(integrand, 0, 7, epsabs=1e-13, epsrel=1e-13, limit=400)
        expected = 1 + integral / gamma(a)
        assert_allclose(column(PeriodicSobolev(s), [t]), expected, rtol=1e-10)


@pytest.mark.parametrize("a", [2, 4, 6, 8])
def test_equals_bernoulli_polynomials_for_an_even_power(a):
    # sum cos(it) / i^a = (-1)^(a/2 + 1) (2 pi)^a B_a(t / 2 pi) / (2 a!)
    x = ANGLES / (2 * np.pi)
    B = sum(comb(a, j) * BERNOULLI[j] * x ** (a - j) for j in range(a + 1))
    expected = 1 + (-1) ** (a // 2 + 1) * (2 * np.pi) ** a * B / (2 * factorial(a))
    assert_allclose(
        column(PeriodicSobolev(a / 2), ANGLES), expected, rtol=1e-13, atol=1e-14
    )


@pytest.mark.parametrize("center", [1.5, 2.5, 3.5])
@pytest.mark.parametrize("sign", [-1, 1])
def test_the_expansion_near_odd_powers_meets_the_other_one(center, sign):
    inside = PeriodicSobolev(center + sign * 4.9999999999e-4)
    outside = PeriodicSobolev(center + sign * 5.0000000001e-4)
    t = np.linspace(0.01, np.pi, 9)
    assert_allclose(column(inside, t), column(outside, t), atol=5e-12)
    assert_allclose(slope(inside, t), slope(outside, t), atol=5e-12)


@pytest.mark.parametrize("s", [1.9, 2.0, 2.0001, 2.5, 3.3])
def test_the_slope_equals_its_series(s):
    expected = -series(2 * s - 1, ANGLES, np.sin)
    assert_allclose(slope(PeriodicSobolev(s), ANGLES), expected, rtol=1e-9, atol=1e-11)


def test_the_slope_just_above_its_limit():
    # sum i^-1.1 sin(it) by the same integral: slow to sum, so by differences of k
    kernel, h = PeriodicSobolev(1.05), 1e-5
    t = np.array([0.3, 1.0, 3.0])
    differences = (column(kernel, t + h) - column(kernel, t - h)) / (2 * h)
    assert_allclose(slope(kernel, t), differences, rtol=1e-8)


@pytest.mark.parametrize("s", [0.6, 1.0, 1.5, 2.2])
def test_the_diagonal_is_one_plus_zeta(s):
    expected = 1 + zeta(2 * s)
    assert_allclose(PeriodicSobolev(s).diag(np.ones((3, 1))), expected, rtol=1e-15)
    assert_allclose(column(PeriodicSobolev(s), [0.0]), expected, rtol=1e-14)


@pytest.mark.parametrize("s", [0.75, 1.0, 1.5, 2.0, 2.3])
def test_angles_are_taken_modulo_a_turn(s):
    kernel, t = PeriodicSobolev(s), np.linspace(-3.0, 3.0, 13)
    for turns in (-7, -1, 1, 1000):
        moved = column(kernel, t + 2 * np.pi * turns)
        # Near t = 0 the kernel of s = 0.75 magnifies a rounding r to sqrt(r).
        assert_allclose(moved, column(kernel, t), rtol=1e-9, atol=1e-5 * (s < 1))
    assert_allclose(column(kernel, -t), column(kernel, t), rtol=1e-14)
    if s > 1:
        assert_allclose(slope(kernel, t[t != 0]), -slope(kernel, -t[t != 0]))


def test_the_coefficient_is_divided_by_the_whole_difference():
    # A (x - z) is k', whether or not x - z is within a turn.
    kernel = PeriodicSobolev(2.0)
    x, z = np.array([[0.4 + 6 * np.pi]]), np.array([[-0.2]])
    A, B = kernel.gradient_coefficients(x, z)
    assert_allclose(A * x + B * z, slope(kernel, np.array([0.6]))[None], rtol=1e-12)


def test_the_gradient_is_zero_at_equal_angles():
    X = np.array([[0.0], [0.3], [2 * np.pi]])
    for s in (1.05, 1.5, 2.0, 2.5):
        A, B = PeriodicSobolev(s).gradient_coefficients(X)
        assert_array_equal(np.diag(A), 0.0)
        assert_array_equal(A[0, 2], 0.0)
        assert np.isfinite(B).all()


@pytest.mark.parametrize("s", [0.75, 1.0, 1.5, 2.3])
def test_its_eigenvalues_on_a_grid_are_its_coefficients(s):
    # On N equal steps the matrix is circulant, with eigenvalue i the sum of the
    # coefficients c_i / 2 over all frequencies equal to i modulo N, c_0 = 1 apart.
    N = 16
    t = 2 * np.pi * np.arange(N) / N
    eigenvalues = np.fft.fft(column(PeriodicSobolev(s), t)).real / N
    hurwitz = N ** (-2 * s) * (
        zeta(2 * s, np.arange(1, N) / N) + zeta(2 * s, 1 - np.arange(1, N) / N)
    )
    assert_allclose(eigenvalues[1:], hurwitz / 2, rtol=1e-10, atol=1e-14)
    assert_allclose(eigenvalues[0], 1 + N ** (-2 * s) * zeta(2 * s), rtol=1e-12)


def test_very_smooth_kernels_tend_to_one_plus_the_cosine():
    for s in (30.0, 60.0, 1e6):
        expected = 1 + np.cos(ANGLES)
        kernel = PeriodicSobolev(s)
        assert_allclose(column(kernel, ANGLES), expected, atol=1e-14)
        assert_allclose(slope(kernel, ANGLES), -np.sin(ANGLES), atol=1e-14)


def test_sparse_angles():
    X = np.array([[0.0], [1.0], [0.0], [2.0]])
    kernel = PeriodicSobolev(2.0)
    assert_array_equal(kernel(sp.csr_array(X), X), kernel(X))


def test_more_than_one_column_is_refused():
    kernel = PeriodicSobolev(2.0)
    for call in (kernel, kernel.diag, kernel.gradient_coefficients):
        with pytest.raises(
            ValueError, match=r"rows have 2 columns; PeriodicSobolev needs one"
        ):
            call(np.ones((3, 2)))


@pytest.mark.parametrize("s", [0.5, 0.0, -1.0, np.nan, np.inf])
def test_a_smoothness_for_which_the_series_diverges_is_refused(s):
    with pytest.raises(ValueError, match=rf"smoothness is {s}; a number above 1/2"):
        PeriodicSobolev(s)(ZERO)


@pytest.mark.parametrize("s", [0.75, 1.0])
def test_a_kernel_with_a_kink_has_no_gradient(s):
    with pytest.raises(TypeError, match=r"has no gradient.*smoothness above 1 is need"):
        PeriodicSobolev(s).gradient_coefficients(ZERO)
