import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from halfmoon.kernels import (
    Gaussian,
    Laplace,
    Matern,
    ProductLaplace,
    RationalQuadratic,
)

PAIRS = [
    (Gaussian(2.0), gp.RBF(2.0)),
    (Laplace(2.0), gp.Matern(2.0, nu=0.5)),
    (Matern(0.5, 2.0), gp.Matern(2.0, nu=0.5)),
    (Matern(1.5, 2.0), gp.Matern(2.0, nu=1.5)),
    (Matern(2.5, 2.0), gp.Matern(2.0, nu=2.5)),
    (RationalQuadratic(0.6, 2.0), gp.RationalQuadratic(2.0, alpha=0.6)),
]
RADIAL = [kernel for kernel, _ in PAIRS]


@pytest.mark.parametrize(("kernel", "reference"), PAIRS, ids=repr)
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_equals_scikit_learn(kernel, reference, offset):
    rng = np.random.default_rng(0)
    X, Z = offset + rng.normal(size=(25, 3)), offset + rng.normal(size=(20, 3))
    # scikit-learn takes differences of rows, divided by the length scale first:
    # exact for a power of two, at any offset.
    assert_allclose(kernel(X, Z), reference(X, Z), rtol=1e-10, atol=1e-12)
    assert_allclose(kernel(X), reference(X), rtol=1e-10, atol=1e-7)


def test_the_width_is_a_length_scale_not_gamma():
    X = np.random.default_rng(1).normal(size=(10, 3))
    assert_allclose(Gaussian(2.0)(X), rbf_kernel(X, gamma=1 / 8), rtol=1e-12)


@pytest.mark.parametrize("kernel", RADIAL, ids=repr)
def test_one_at_equal_rows_for_any_offset(kernel):
    for offset in (0.0, 1e3, 1e6):
        X = offset + np.random.default_rng(2).normal(size=(40, 20))
        assert_array_equal(np.diag(kernel(X, X.copy())), 1.0)
        assert_array_equal(kernel.diag(X), 1.0)


@pytest.mark.parametrize("kernel", RADIAL, ids=repr)
def test_log_is_the_logarithm(kernel):
    X = np.random.default_rng(3).normal(size=(10, 3))
    assert_allclose(kernel.log(X, X + 1), np.log(kernel(X, X + 1)), rtol=1e-12)


def test_log_is_exact_where_the_kernel_underflows():
    X, Z = np.array([[0.0]]), np.array([[1e4]])
    assert_array_equal(Gaussian(1.0)(X, Z), 0.0)
    assert_allclose(Gaussian(1.0).log(X, Z), -0.5e8, rtol=1e-14)
    assert_allclose(Laplace(1.0).log(X, Z), -1e4, rtol=1e-14)
    r = np.sqrt(3) * 1e4
    assert_allclose(Matern(1.5, 1.0).log(X, Z), np.log1p(r) - r, rtol=1e-14)
    r = np.sqrt(5) * 1e4
    expected = np.log(1 + r + r**2 / 3) - r
    assert_allclose(Matern(2.5, 1.0).log(X, Z), expected, rtol=1e-14)


def test_rational_quadratic_tends_to_the_gaussian():
    X = np.random.default_rng(4).normal(size=(10, 3))
    # (1 + q/(2a))^-a = exp(-q/2 + q^2/(8a) + ...)
    assert_allclose(RationalQuadratic(1e8, 1.0)(X), Gaussian(1.0)(X), rtol=1e-5)


@pytest.mark.parametrize("kernel", [Laplace(1.0), Matern(0.5, 1.0)], ids=repr)
def test_the_slope_is_zero_at_the_kink(kernel):
    X = np.random.default_rng(5).normal(size=(6, 2))
    A, B = kernel.gradient_coefficients(X, X.copy())
    assert_array_equal(np.diag(A), 0.0)
    assert np.isfinite(A).all()
    assert_array_equal(B, -A)
    with pytest.raises(TypeError, match="no second derivative at x = z"):
        kernel.second_derivatives(X, X)


def test_the_slope_of_the_gaussian_is_a_multiple_of_its_value():
    k, slope = Gaussian(2.0).value_and_slope(np.array([[0.0, 1.0, 9.0]]))
    assert_allclose(slope, Gaussian(2.0).slope_ratio * k, rtol=1e-15)
    assert Gaussian(2.0).slope_ratio == -0.25


@pytest.mark.parametrize("make", [Gaussian, Laplace])
@pytest.mark.parametrize("bad", [0.0, -1.0, np.inf, np.nan])
def test_a_length_scale_that_is_not_positive_is_refused(make, bad):
    with pytest.raises(ValueError, match=rf"length_scale is {bad}; a positive number"):
        make(bad)([[0.0]])


def test_an_unknown_rule_is_refused():
    with pytest.raises(
        ValueError, match="length_scale is 'mean'; a positive number, or"
    ):
        Gaussian("mean")([[0.0]])


@pytest.mark.parametrize("nu", [1.0, 2, 3.5])
def test_an_unknown_matern_is_refused(nu):
    with pytest.raises(ValueError, match=rf"nu={nu}; 0.5, 1.5 or 2.5 is needed"):
        Matern(nu, 1.0)([[0.0]])


@pytest.mark.parametrize("shape", [0.0, -1.0, np.nan])
def test_a_shape_that_is_not_positive_is_refused(shape):
    with pytest.raises(ValueError, match=rf"shape is {shape}; a positive number"):
        RationalQuadratic(shape, 1.0)([[0.0]])


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_product_laplace_equals_scikit_learn(rng, offset):
    X, Z = offset + rng.normal(size=(25, 3)), offset + rng.normal(size=(20, 3))
    expected = laplacian_kernel(X, Z, gamma=1 / 1.7)
    assert_allclose(ProductLaplace(1.7)(X, Z), expected, rtol=1e-12)
    assert_allclose(ProductLaplace(1.7)(X), laplacian_kernel(X, gamma=1 / 1.7))
    assert_array_equal(np.diag(ProductLaplace(1.7)(X)), 1.0)
    assert_array_equal(ProductLaplace(1.7).diag(X), np.ones(25))


def test_is_a_product_over_columns(rng):
    X, Z = rng.normal(size=(6, 3)), rng.normal(size=(5, 3))
    by_column = [Laplace(0.8)(X[:, [c]], Z[:, [c]]) for c in range(3)]
    assert_allclose(ProductLaplace(0.8)(X, Z), np.prod(by_column, axis=0), rtol=1e-12)


def test_is_positive_definite(rng):
    K = ProductLaplace(2.0)(rng.normal(size=(40, 4)))
    assert np.linalg.eigvalsh(K)[0] > 0


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "CSR"])
def test_the_median_is_that_of_sums_of_absolute_differences(rng, make):
    X = np.round(rng.normal(size=(30, 4)), 1)
    X = np.vstack([X, X[:5]])  # equal rows do not count
    distances = pdist(X, "cityblock")
    expected = np.median(distances[distances > 0])
    assert ProductLaplace().resolve(make(X)).length_scale == pytest.approx(expected)
    assert_allclose(ProductLaplace(1.1)(make(X)), ProductLaplace(1.1)(X))


def test_the_median_of_many_rows_is_that_of_some(rng):
    X = rng.normal(size=(1_500, 3))
    expected = np.median(pdist(X, "cityblock"))
    found = ProductLaplace().resolve(X, 0).length_scale
    assert found == pytest.approx(expected, rel=0.03)
    assert found == ProductLaplace().resolve(X, 0).length_scale


def test_a_number_is_left_as_it_is(rng):
    kernel = ProductLaplace(3.0)
    assert kernel.resolve(rng.normal(size=(4, 2))) is kernel


def test_errors():
    X = np.ones((4, 2))
    with pytest.raises(ValueError, match="two rows that differ; got n_samples = 4"):
        ProductLaplace().resolve(X)
    for scale in (0.0, -1.0, np.inf, np.nan, "median"):
        with pytest.raises(ValueError, match=f"length_scale is {scale!r}; a positive"):
            ProductLaplace(scale)(X)
        with pytest.raises(ValueError, match="a positive number is needed"):
            ProductLaplace(scale).diag(X)
