"""The residual kernel, against projections of dense matrices and theorem 3.2."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge

from halfmoon.bases import Exact
from halfmoon.kernels import Gaussian, Matern, ThinPlate
from halfmoon.problem import Problem
from halfmoon.theory import residual_kernel
from halfmoon.unpenalized import Constant, Eigenfunctions, Features, Polynomials

KERNELS = [(Gaussian(1.0), Features(np.sin)), (ThinPlate(), Polynomials(1))]


@pytest.fixture
def rows(rng):
    return rng.normal(size=(30, 2)), rng.normal(size=(9, 2))


@pytest.mark.parametrize(("kernel", "features"), KERNELS, ids=["Gaussian", "spline"])
def test_both_arguments_are_projected(rows, kernel, features):
    """Equation (1) at the population and beyond, by integrals that are means."""
    P, new = rows
    K_P = residual_kernel(kernel, features, P)
    f = features.fit(P).transform
    beta = np.linalg.pinv(f(P))  # coefficients of Pi, from values at the population

    def projected(A, B):
        left, right = np.eye(len(A)), np.eye(len(B))
        to_A, to_B = -f(A) @ beta, -f(B) @ beta
        whole = np.block([[kernel(A, B), kernel(A, P)], [kernel(P, B), kernel(P)]])
        return np.hstack([left, to_A]) @ whole @ np.hstack([right, to_B]).T

    scale = np.abs(kernel(P)).max()
    assert_allclose(K_P(new, P), projected(new, P), atol=1e-12 * scale)
    assert_allclose(K_P(new), projected(new, new), atol=1e-11 * scale)
    assert_allclose(K_P.diag(new), np.diag(K_P(new)), atol=1e-11 * scale)
    I_Pi = np.eye(30) - f(P) @ beta
    assert_allclose(K_P(P), I_Pi @ kernel(P) @ I_Pi, atol=1e-12 * scale)
    # Theorem 2.1: positive definite; and orthogonal to the features.
    assert np.linalg.eigvalsh(K_P(P))[0] > -1e-10 * scale
    assert_allclose(f(P).T @ K_P(P, new), 0, atol=1e-10 * scale)


@pytest.mark.parametrize(("kernel", "features"), KERNELS, ids=["Gaussian", "spline"])
@pytest.mark.parametrize("alpha", [1e-3, 0.3])
def test_least_squares_then_ridge_on_the_residuals(rows, rng, kernel, features, alpha):
    """Theorem 3.2, with scikit-learn's kernel ridge for the second step."""
    X, new = rows
    y = np.cos(X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(30)
    f = features.fit(X).transform
    beta = np.linalg.lstsq(f(X), y, rcond=None)[0]
    K_P = residual_kernel(kernel, features, X)
    ridge = KernelRidge(alpha=30 * alpha, kernel="precomputed")
    ridge.fit(K_P(X), y - f(X) @ beta)
    expected = f(new) @ beta + ridge.predict(K_P(new, X))
    fit = Problem(Exact(kernel), unpenalized=features).fit(X, y, alpha)
    assert_allclose(fit.predict(new), expected, rtol=1e-8, atol=1e-8)
    # The residual kernel is a kernel like any other.
    second = Problem(Exact(K_P), unpenalized=None).fit(X, y - f(X) @ beta, alpha)
    assert_allclose(f(new) @ beta + second.predict(new), expected, rtol=1e-8)


def test_eigenfunctions_leave_the_tail_of_the_kernel(rows):
    """Section 5.1: the residual kernel of the top k eigenfunctions is the rest."""
    P, _ = rows
    kernel = Matern(1.5, 1.0)
    s, U = np.linalg.eigh(kernel(P))
    K_P = residual_kernel(kernel, Eigenfunctions(4, constant=False, kernel=kernel), P)
    tail = (U[:, :-4] * s[:-4]) @ U[:, :-4].T
    assert_allclose(K_P(P), tail, atol=1e-11)


def test_fitted_features_are_not_refitted(rows):
    P, new = rows
    features = Eigenfunctions(2, Gaussian(1.0)).fit(new)
    K_P = residual_kernel(Gaussian(1.0), features, P)
    assert K_P.features is features
    assert clone(K_P).features is features
    assert_array_equal(clone(K_P)(new), K_P(new))
    constant = Constant()
    assert residual_kernel(Gaussian(1.0), constant, P).features is not constant
    assert not hasattr(constant, "names_")  # a copy is fitted


def test_dependent_features_are_named(rows):
    P, _ = rows
    twice = Features([0, 1, 0])
    with pytest.warns(UserWarning, match="rank 3"):
        K = residual_kernel(Gaussian(1.0), twice, P)(P)
    expected = residual_kernel(Gaussian(1.0), Polynomials(1), P)(P)
    assert_allclose(K, expected, atol=1e-12)
