"""A, B and second derivatives against central differences, for every kernel."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon.kernels import (
    NNGP,
    NTK,
    Gaussian,
    Laplace,
    Linear,
    Matern,
    PeriodicSobolev,
    Polyharmonic,
    Polynomial,
    RationalQuadratic,
    ThinPlate,
)

STEP = 1e-5  # h^2 and eps / h are then both about 1e-10

# Kernels with a kink at x = z, where the gradient is taken as the mean of both sides
KINKED = [
    Laplace(1.3),
    Matern(0.5, 1.3),
    NTK(),
    NTK(depth=3, weight=1.4, bias=0.2),
    NTK(depth=2, bias=0.0),
    Polyharmonic(1),
    NTK() + Linear(),
    Laplace(1.0) * Gaussian(2.0),
]
SMOOTH = [
    Gaussian(1.3),
    Matern(1.5, 1.3),
    Matern(2.5, 1.3),
    RationalQuadratic(0.7, 1.3),
    Linear(),
    Polynomial(1, 0.5, 2.0),
    Polynomial(2, 0.5, 0.0),
    Polynomial(4, 0.3, 1.0),
    NNGP("erf"),
    NNGP("erf", bias=0.0),
    NNGP("erf", depth=2),
    NNGP("erf", depth=4, weight=1.7, bias=0.1),
    NNGP("relu"),
    NNGP("relu", bias=0.0),
    NNGP("relu", depth=2),
    NNGP("relu", depth=4, weight=1.4, bias=0.1),
    ThinPlate(),
    Polyharmonic(3),
    Polyharmonic(5),
    PeriodicSobolev(1.5),
    PeriodicSobolev(1.7),
    PeriodicSobolev(2.0),
    PeriodicSobolev(2.5003),  # the expansion near an odd power
    PeriodicSobolev(3.0),
    Gaussian(1.0) + Polynomial(2),
    Gaussian(1.0) * Polynomial(2),
    (NNGP("erf") + Matern(2.5, 1.0)) * (0.3 * Gaussian(2.0)),
    0.5 * NNGP("relu"),
    ThinPlate() + 2.0 * Gaussian(1.0),
]
TWICE = [
    Gaussian(1.3),
    Matern(1.5, 1.3),
    Matern(2.5, 1.3),
    RationalQuadratic(0.7, 1.3),
    Linear(),
    Polynomial(1, 0.5, 2.0),
    Polynomial(2, 0.5, 0.0),
    Polynomial(4, 0.3, 1.0),
    Gaussian(1.0) + 0.3 * Polynomial(2),
]


def columns(kernel):
    return 1 if isinstance(kernel, PeriodicSobolev) else 3


def rows(kernel, n, seed):
    return np.random.default_rng(seed).normal(size=(n, columns(kernel)))


def gradient(kernel, X, Z):
    A, B = kernel.gradient_coefficients(X, Z)
    return A[:, :, None] * X[:, None, :] + B[:, :, None] * Z[None, :, :]  # (n, p, d)


def difference(function, X):
    """Central differences along each column of X, in a last axis."""
    moved = [(function(X + e), function(X - e)) for e in STEP * np.eye(X.shape[1])]
    return np.stack([(up - down) / (2 * STEP) for up, down in moved], axis=-1)


@pytest.mark.parametrize("kernel", SMOOTH + KINKED, ids=repr)
def test_gradient_is_the_limit_of_differences(kernel):
    X, Z = rows(kernel, 8, 0), rows(kernel, 6, 1)
    expected = difference(lambda X: kernel(X, Z), X)
    scale = np.abs(expected).max()
    assert_allclose(gradient(kernel, X, Z), expected, rtol=1e-6, atol=1e-8 * scale)


@pytest.mark.parametrize("kernel", SMOOTH + KINKED, ids=repr)
def test_gradient_at_equal_rows(kernel):
    # On both sides of a kink the differences cancel, up to sqrt(h) for the series
    # of PeriodicSobolev(1.5) and up to h for the others.
    X = rows(kernel, 5, 2)
    expected = difference(lambda Y: kernel(Y, X.copy()), X)[np.arange(5), np.arange(5)]
    actual = gradient(kernel, X, X.copy())[np.arange(5), np.arange(5)]
    assert np.isfinite(actual).all()
    assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kernel", SMOOTH + KINKED, ids=repr)
def test_coefficients_of_sparse_rows_equal_those_of_dense_rows(kernel):
    X, Z = rows(kernel, 6, 3), rows(kernel, 5, 4)
    dense = kernel.gradient_coefficients(X, Z)
    sparse = kernel.gradient_coefficients(sp.csr_array(X), sp.csr_array(Z))
    for expected, actual in zip(dense, sparse, strict=True):
        assert_allclose(actual, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kernel", SMOOTH + KINKED, ids=repr)
def test_none_is_the_rows_themselves(kernel):
    X = rows(kernel, 6, 5)
    expected, actual = (
        kernel.gradient_coefficients(X, X),
        kernel.gradient_coefficients(X),
    )
    assert_array_equal(actual[0], expected[0])
    assert_array_equal(actual[1], expected[1])


@pytest.mark.parametrize("kernel", [k for k in SMOOTH + KINKED if k.radial], ids=repr)
def test_radial_kernels_give_value_and_slope_of_the_squared_distance(kernel):
    X, Z = rows(kernel, 6, 6), rows(kernel, 5, 7)
    Z[0] = X[0]
    q = ((X[:, None] - Z[None]) ** 2).sum(-1)
    before = q.copy()
    k, slope = kernel.value_and_slope(q)
    A, B = kernel.gradient_coefficients(X, Z)
    assert_array_equal(q, before)
    assert_allclose(k, kernel(X, Z), rtol=1e-11, atol=1e-12)
    assert_allclose(slope, A, rtol=1e-11, atol=1e-12)
    assert_array_equal(B, -A)


@pytest.mark.parametrize("kernel", TWICE, ids=repr)
def test_second_derivatives_are_the_limit_of_differences(kernel):
    X, Z = rows(kernel, 5, 8), rows(kernel, 4, 9)
    expected = difference(lambda Z: gradient(kernel, X, Z), Z)
    actual = kernel.second_derivatives(X, Z)
    assert actual.shape == (5, 4, 3, 3)
    assert_allclose(actual, expected, rtol=1e-6, atol=1e-8)
    sparse = kernel.second_derivatives(sp.csr_array(X), Z)
    assert_allclose(sparse, actual, rtol=1e-12)


@pytest.mark.parametrize("kernel", TWICE, ids=repr)
def test_second_derivatives_at_equal_rows(kernel):
    X = rows(kernel, 4, 10)
    expected = difference(lambda Z: gradient(kernel, X, Z), X)
    # Matern 3/2 has a third derivative that jumps, so the error is of order h there.
    assert_allclose(kernel.second_derivatives(X, X), expected, rtol=1e-4, atol=1e-4)
