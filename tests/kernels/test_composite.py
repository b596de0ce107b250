import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from halfmoon.kernels import (
    NNGP,
    Gaussian,
    Laplace,
    Linear,
    Matern,
    Polyharmonic,
    Polynomial,
    ThinPlate,
)
from halfmoon.kernels._base import Product, Scaled, Sum

K1, K2 = Gaussian(1.3), Polynomial(2)


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(12, 3))


@pytest.fixture
def Z():
    return np.random.default_rng(1).normal(size=(9, 3))


def test_values_add_and_multiply(X, Z):
    assert_allclose((K1 + K2)(X, Z), K1(X, Z) + K2(X, Z), rtol=1e-14)
    assert_allclose((K1 * K2)(X, Z), K1(X, Z) * K2(X, Z), rtol=1e-14)
    for scaled in (2.5 * K1, K1 * 2.5, np.float64(2.5) * K1):
        assert isinstance(scaled, Scaled)
        assert_allclose(scaled(X, Z), 2.5 * K1(X, Z), rtol=1e-14)


def test_diagonals_add_and_multiply(X):
    assert_allclose((K1 + K2).diag(X), K1.diag(X) + K2.diag(X), rtol=1e-14)
    assert_allclose((K1 * K2).diag(X), K1.diag(X) * K2.diag(X), rtol=1e-14)
    assert_allclose((3 * K2).diag(X), 3 * K2.diag(X), rtol=1e-14)


def test_coefficients_follow_the_product_rule(X, Z):
    pairs = zip(
        (K1 * K2).gradient_coefficients(X, Z),
        K1.gradient_coefficients(X, Z),
        K2.gradient_coefficients(X, Z),
        strict=True,
    )
    for actual, first, second in pairs:
        expected = K1(X, Z) * second + K2(X, Z) * first
        assert_allclose(actual, expected, rtol=1e-13)


def test_a_square_is_the_kernel_twice(X):
    # Both factors are one object: nothing may be written over what the other uses.
    assert_allclose((K1 * K1)(X), K1(X) ** 2, rtol=1e-14)
    assert_allclose((K1 + K1)(X), 2 * K1(X), rtol=1e-14)
    q = np.array([[0.0, 1.0, 4.0]])
    k, slope = (K1 * K1).value_and_slope(q)
    # exp(-q/(2e^2))^2 is the Gaussian kernel of length scale e / sqrt(2).
    narrow = Gaussian(1.3 / np.sqrt(2)).value_and_slope(q)
    assert_allclose(k, narrow[0], rtol=1e-13)
    assert_allclose(slope, narrow[1], rtol=1e-13)


def test_a_combination_is_radial_if_its_parts_are():
    assert (K1 + Laplace(1.0)).radial
    assert (K1 * Matern(1.5, 1.0)).radial
    assert (2.0 * ThinPlate()).radial
    assert not (K1 + K2).radial
    assert not (K1 * K2).radial
    assert not (2.0 * K2).radial


def test_the_conditional_degree_is_that_of_the_more_demanding_part():
    assert (K1 + K2).conditional_degree == -1
    assert (K1 * K2).conditional_degree == -1
    assert (ThinPlate() + K1).conditional_degree == 1
    assert (Polyharmonic(5) + ThinPlate()).conditional_degree == 2
    assert (0.5 * Polyharmonic(1)).conditional_degree == 0


def test_a_product_with_a_conditional_kernel_is_refused():
    for make in (lambda: K1 * ThinPlate(), lambda: (2.0 * Polyharmonic(3)) * K1):
        with pytest.raises(ValueError, match="only conditionally positive definite"):
            make()


@pytest.mark.parametrize("factor", [-1.0, np.inf, np.nan])
def test_a_factor_that_is_negative_or_not_finite_is_refused(factor):
    with pytest.raises(ValueError, match=rf"A kernel times {factor} is not positive"):
        factor * Gaussian(1.0)


def test_kernels_combine_with_kernels_and_numbers_only():
    with pytest.raises(TypeError, match="unsupported operand"):
        K1 + 1.0
    with pytest.raises(TypeError, match="multiply"):
        K1 * "two"


def test_logarithms_add(X, Z):
    product = 2.0 * (Gaussian(1.0) * Laplace(2.0))
    assert_allclose(product.log(X, Z), np.log(product(X, Z)), rtol=1e-12)
    assert (Gaussian(1.0) * Linear()).log(X, Z) is None
    assert (2.0 * Linear()).log(X, Z) is None
    assert (0.0 * Gaussian(1.0)).log(X, Z) is None
    assert (Gaussian(1.0) + Linear()).log(X, Z) is None
    both = Gaussian(1.0) + Laplace(1.0)
    assert_allclose(both.log(X, Z), np.log(both(X, Z)), rtol=1e-10, atol=1e-14)
    far = np.full((1, 3), 1e3)  # each part underflows to 0
    assert_allclose(both.log(X[:1], far), Laplace(1.0).log(X[:1], far))


def test_parameters_of_the_parts_can_be_set(X):
    kernel = 0.5 * (Gaussian(1.0) + NNGP("relu", bias=0.5))
    names = set(kernel.get_params())
    assert {"factor", "kernel__k1__length_scale", "kernel__k2__bias"} <= names
    changed = clone(kernel).set_params(kernel__k1__length_scale=3.0, factor=2.0)
    expected = 2.0 * (Gaussian(3.0)(X) + NNGP("relu", bias=0.5)(X))
    assert_allclose(changed(X), expected, rtol=1e-13)
    assert kernel.kernel.k1.length_scale == 1.0


def test_longer_sums_and_products(X):
    kernel = Linear() + 0.5 * K1 * Laplace(1.0) + K2
    assert isinstance(kernel, Sum)
    assert isinstance(kernel.k1.k2, Product)
    expected = Linear()(X) + 0.5 * K1(X) * Laplace(1.0)(X) + K2(X)
    assert_allclose(kernel(X), expected, rtol=1e-13)


def test_nothing_is_left_of_a_kernel_times_zero(X):
    assert_array_equal((0.0 * K2)(X), 0.0)
