import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel

from halfmoon.kernels import Linear, Polynomial


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(20, 4))


@pytest.fixture
def Z():
    return np.random.default_rng(1).normal(size=(15, 4))


def test_linear_equals_scikit_learn(X, Z):
    assert_allclose(Linear()(X, Z), linear_kernel(X, Z), rtol=1e-13)


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
@pytest.mark.parametrize("offset", [0.0, 1.0, 2.5])
def test_polynomial_equals_scikit_learn(X, Z, degree, offset):
    expected = polynomial_kernel(X, Z, degree=degree, gamma=0.3, coef0=offset)
    assert_allclose(Polynomial(degree, 0.3, offset)(X, Z), expected, rtol=1e-11)


def test_degree_two_is_the_product_of_its_features():
    # (xz + 1)^2 = <(x^2, sqrt(2) x, 1), (z^2, sqrt(2) z, 1)>
    x, z = np.array([[0.3], [-1.2]]), np.array([[2.0], [0.7], [-0.1]])

    def features(x):
        return np.hstack([x**2, np.sqrt(2) * x, np.ones_like(x)])

    assert_allclose(Polynomial(2)(x, z), features(x) @ features(z).T, rtol=1e-13)


def test_degree_one_without_offset_is_linear(X, Z):
    kernel = Polynomial(1, 1.0, 0.0)
    assert_array_equal(kernel(X, Z), Linear()(X, Z))
    for actual, expected in zip(
        kernel.gradient_coefficients(X, Z),
        Linear().gradient_coefficients(X, Z),
        strict=True,
    ):
        assert_array_equal(actual, expected)


@pytest.mark.parametrize("degree", [0, -1, 1.5])
def test_a_degree_that_is_no_positive_integer_is_refused(degree):
    with pytest.raises(ValueError, match=rf"degree is {degree}; 1, 2, 3, ... is need"):
        Polynomial(degree)([[1.0]])


@pytest.mark.parametrize("offset", [-0.1, np.nan, np.inf])
def test_a_negative_offset_is_refused(offset):
    with pytest.raises(ValueError, match=rf"offset is {offset}; 0 or more is needed"):
        Polynomial(2, offset=offset)([[1.0]])


@pytest.mark.parametrize("gamma", [0.0, -1.0, np.nan])
def test_a_gamma_that_is_not_positive_is_refused(gamma):
    with pytest.raises(ValueError, match=rf"gamma is {gamma}; a positive number"):
        Polynomial(2, gamma)([[1.0]])
