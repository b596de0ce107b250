"""Basis with derivatives: inner products in the RKHS, by differences of the kernel."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from halfmoon.bases import Exact, WithDerivatives
from halfmoon.kernels import Gaussian, Laplace, Matern, Polynomial, RationalQuadratic
from helpers import STEP, central_differences

KERNELS = [
    Gaussian(1.3),
    Matern(2.5, 1.3),
    RationalQuadratic(0.7, 1.3),
    Polynomial(3, 0.5, 1.0),
    Gaussian(1.0) + 0.3 * Polynomial(2),
]
COARSE = 1e-3  # for two derivatives at once: h^2 and eps / h^2 are then about 1e-6


@pytest.fixture
def X(rng):
    return rng.normal(size=(4, 3))


def moved(X, step):
    """All rows, each moved by +-step along each column: (2, n, d, d)."""
    return np.stack([X[:, None, :] + s * step * np.eye(3) for s in (1, -1)])


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_functions_are_sections_and_their_derivatives(X, rng, kernel):
    new = rng.normal(size=(5, 3))
    Phi = WithDerivatives(kernel).fit(X).transform(new)
    assert Phi.shape == (5, 4 * (3 + 1))
    assert_allclose(Phi[:, :4], kernel(new, X), rtol=1e-13)
    # d k(x, z) / dz_j at z = x_i, in the order (row, column)
    up, down = moved(X, STEP).reshape(2, 12, 3)
    expected = (kernel(new, up) - kernel(new, down)) / (2 * STEP)
    assert_allclose(Phi[:, 4:], expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_penalty_is_the_inner_product_of_the_rkhs(X, kernel):
    # <k(., x), k(., z)> = k(x, z), and derivatives in x or z go through both sides.
    Q = WithDerivatives(kernel).fit(X).penalty()
    up, down = moved(X, STEP).reshape(2, 12, 3)
    first = (kernel(X, up) - kernel(X, down)) / (2 * STEP)  # (n, n d)
    assert_allclose(Q[:4, :4], kernel(X), rtol=1e-13)
    assert_allclose(Q[:4, 4:], first, rtol=1e-6, atol=1e-9)
    assert_allclose(Q[4:, :4], first.T, rtol=1e-6, atol=1e-9)

    up, down = moved(X, COARSE).reshape(2, 12, 3)
    in_z = [(kernel(x, up) - kernel(x, down)) / (2 * COARSE) for x in (up, down)]
    second = (in_z[0] - in_z[1]) / (2 * COARSE)  # (n d, n d)
    # Matern 5/2 has a fourth derivative that jumps at x = z: an error of order h.
    assert_allclose(Q[4:, 4:], second, rtol=1e-4, atol=5e-3 * np.abs(second).max())
    smooth = ~np.kron(np.eye(4, dtype=bool), np.ones((3, 3), dtype=bool))
    assert_allclose(Q[4:, 4:][smooth], second[smooth], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_gradient_is_the_limit_of_differences(X, rng, kernel):
    # Second derivatives in x and z are not symmetric for kernels of <x, z>.
    new, basis = rng.normal(size=(5, 3)), WithDerivatives(kernel).fit(X)
    expected = central_differences(basis.transform, new)
    assert_allclose(basis.gradient(new), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_norm_is_reproducing(X, rng, kernel):
    # <g, k(., x_i)> = g(x_i) and <g, d_j k(., x_i)> = d_j g(x_i) for g = phi'theta
    basis = WithDerivatives(kernel).fit(X)
    theta = rng.normal(size=(16, 1))
    values = basis.transform(X) @ theta
    slopes = central_differences(lambda x: basis.transform(x) @ theta, X)  # (n, 1, d)
    expected = np.vstack([values, slopes.reshape(12, 1)])
    scale = np.abs(expected).max()
    assert_allclose(basis.penalty() @ theta, expected, rtol=1e-6, atol=1e-6 * scale)


def test_it_holds_the_exact_basis(X, rng):
    new, c = rng.normal(size=(5, 3)), rng.normal(size=(4, 1))
    theta = np.vstack([c, np.zeros((12, 1))])
    basis, exact = (kind(Gaussian(1.3)).fit(X) for kind in (WithDerivatives, Exact))
    expected = exact.transform(new) @ c
    assert_allclose(basis.transform(new) @ theta, expected, rtol=1e-13)
    norm = (c.T @ exact.penalty() @ c).item()
    assert_allclose(theta.T @ basis.penalty() @ theta, [[norm]], rtol=1e-13)


def test_kernels_without_second_derivatives_are_refused(X):
    for kernel in (Laplace(1.0), Gaussian(1.0) * Gaussian(1.0)):
        with pytest.raises(TypeError, match="no second derivative"):
            WithDerivatives(kernel).fit(X).penalty()
