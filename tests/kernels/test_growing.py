import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.interpolate import CubicSpline, RBFInterpolator
from scipy.stats.qmc import Halton

from halfmoon.kernels import (
    Gaussian,
    Logarithmic,
    Multiquadric,
    Polyharmonic,
    ThinPlate,
)

# each with scipy's name for it
PAIRS = [
    (ThinPlate(), "thin_plate_spline"),
    (Polyharmonic(1), "linear"),
    (Polyharmonic(3), "cubic"),
    (Polyharmonic(5), "quintic"),
]


# without a name there
OTHERS = [ThinPlate(4), Polyharmonic(0.7), Polyharmonic(2.4), Polyharmonic(4.5)]
OTHERS += [Multiquadric(0.5), Logarithmic(0.5), Logarithmic(0.5, power=0.8)]


def monomials(X, degree):
    columns = [np.ones(len(X)), *X.T][: 1 if degree == 0 else None]
    if degree == 2:
        i, j = np.triu_indices(X.shape[1])
        columns += list((X[:, i] * X[:, j]).T)
    return np.array(columns).T


def interpolate(kernel, X, y, Z):
    """Solve K c + F b = y, F'c = 0, the system of conditional interpolation."""
    F = monomials(X, kernel.conditional_degree)
    zeros = np.zeros((F.shape[1], F.shape[1]))
    system = np.block([[kernel(X), F], [F.T, zeros]])
    solution = np.linalg.solve(system, np.append(y, np.zeros(F.shape[1])))
    F_Z = monomials(Z, kernel.conditional_degree)
    return np.hstack([kernel(Z, X), F_Z]) @ solution


@pytest.mark.parametrize(("kernel", "name"), PAIRS, ids=repr)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_interpolates_as_scipy_does(kernel, name, d):
    rng = np.random.default_rng(0)
    # Well apart, or both lose digits: SciPy 1.18 ten times as many as 1.17.
    X, Z = 4 * Halton(d, rng=0).random(30) - 2, rng.uniform(-2, 2, (20, d))
    y = rng.normal(size=30)
    reference = RBFInterpolator(X, y, kernel=name, degree=kernel.conditional_degree)
    assert_allclose(interpolate(kernel, X, y, Z), reference(Z), rtol=1e-5, atol=1e-6)


def test_values_are_those_of_the_formula():
    r = np.array([[0.0], [0.5], [1.0], [3.0]])
    origin = np.zeros((1, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        thin = np.nan_to_num(r**2 * np.log(r))
    assert_allclose(ThinPlate()(r, origin), thin, atol=1e-13)
    assert_allclose(Polyharmonic(1)(r, origin), -r, rtol=1e-13)
    assert_allclose(Polyharmonic(3)(r, origin), r**3, rtol=1e-13)
    assert_allclose(Polyharmonic(5)(r, origin), -(r**5), rtol=1e-13)
    assert_allclose(Polyharmonic(0.7)(r, origin), -(r**0.7), rtol=1e-13)
    assert_allclose(Polyharmonic(2.4)(r, origin), r**2.4, rtol=1e-13)
    assert_allclose(ThinPlate(4)(r, origin), -(r**2) * thin, atol=1e-13)
    assert_allclose(Multiquadric(2.0)(r, origin), -np.sqrt(1 + r**2 / 4), rtol=1e-13)
    expected = -np.log(1 + (r / 2) ** 0.8)
    assert_allclose(Logarithmic(2.0, 0.8)(r, origin), expected, rtol=1e-13)


def test_a_multiquadric_interpolates_as_scipy_does():
    rng = np.random.default_rng(0)
    X, Z, y = rng.normal(size=(30, 2)), rng.normal(size=(20, 2)), rng.normal(size=30)
    reference = RBFInterpolator(X, y, kernel="multiquadric", epsilon=2.0, degree=0)
    actual = interpolate(Multiquadric(0.5), X, y, Z)
    assert_allclose(actual, reference(Z), rtol=1e-6, atol=1e-8)


def test_order_three_in_one_column_is_the_natural_cubic_spline():
    rng = np.random.default_rng(1)
    x, y = np.sort(rng.uniform(size=12)), rng.normal(size=12)
    Z = np.linspace(x[0], x[-1], 40)[:, None]
    expected = CubicSpline(x, y, bc_type="natural")(Z[:, 0])
    actual = interpolate(Polyharmonic(3), x[:, None], y, Z)
    assert_allclose(actual, expected, atol=1e-8)


@pytest.mark.parametrize("kernel", [kernel for kernel, _ in PAIRS], ids=repr)
def test_zero_value_and_slope_at_equal_rows(kernel):
    X = 1e3 + np.random.default_rng(2).normal(size=(20, 3))
    assert_array_equal(np.diag(kernel(X, X.copy())), 0.0)
    assert_array_equal(kernel.diag(X), 0.0)
    A, B = kernel.gradient_coefficients(X, X.copy())
    assert_array_equal(np.diag(A), 0.0)
    assert np.isfinite(A).all()
    assert_array_equal(B, -A)


@pytest.mark.parametrize(
    "kernel", [*(kernel for kernel, _ in PAIRS), *OTHERS], ids=repr
)
def test_one_degree_less_is_not_enough(kernel):
    # The degree that is declared is needed: with a smaller one, or none, some
    # combination has negative energy (or K changes sign).
    X = np.random.default_rng(3).uniform(size=(40, 2))
    N = np.eye(40)
    if kernel.conditional_degree > 0:
        F = monomials(X, kernel.conditional_degree - 1)
        N = np.linalg.svd(F.T)[2][F.shape[1] :].T
    eigenvalues = np.linalg.eigvalsh(N.T @ kernel(X) @ N)
    assert eigenvalues[0] < -1e-3 * np.abs(eigenvalues).max()


def test_conditional_degrees():
    degrees = [kernel.conditional_degree for kernel, _ in PAIRS]
    assert degrees == [1, 0, 1, 2]


@pytest.mark.parametrize("kernel", [kernel for kernel, _ in PAIRS], ids=repr)
def test_sums_with_radial_kernels_stay_radial(kernel):
    total = kernel + 0.5 * Gaussian(1.0)
    q = np.array([[0.0, 0.3, 2.0]])
    k, slope = total.value_and_slope(q)
    first, second = kernel.value_and_slope(q), Gaussian(1.0).value_and_slope(q)
    assert total.radial
    assert_allclose(k, first[0] + 0.5 * second[0], rtol=1e-14)
    assert_allclose(slope, first[1] + 0.5 * second[1], rtol=1e-14)


@pytest.mark.parametrize("order", [0, 2, 4, 7, -1.5])
def test_an_order_that_is_even_or_too_high_is_refused(order):
    with pytest.raises(
        ValueError,
        match=rf"order={order!r}; a number between 0 and 6 that is not even.*Thin",
    ):
        Polyharmonic(order)([[0.0]])
