"""The kernel of a diffusion against dense inverses."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from halfmoon import ConditionalRegressor
from halfmoon.bases import Exact
from halfmoon.kernels import Gaussian
from halfmoon.problem import Problem
from halfmoon.smoothers import Diffusion
from halfmoon.smoothers import _diffusion as diffusion_kernel
from halfmoon.smoothers._diffusion import DiffusionKernel, diffused_values


@pytest.fixture
def X(rng):
    return rng.normal(size=(30, 2))


def dense_kernel(walk, X, Z):
    """A_X (r (I - (1 - r) S)^-1)^t A_Z'."""
    S, r = walk.adjacency_.toarray(), walk.restart
    D = np.linalg.matrix_power(
        r * np.linalg.inv(np.eye(len(S)) - (1 - r) * S), walk.repeats
    )
    return walk.weights(X).toarray() @ D @ walk.weights(Z).toarray().T


@pytest.mark.parametrize("restart", [0.5, 0.05, 1e-3, 1e-5])  # series, then factor
@pytest.mark.parametrize("repeats", [1, 2, 3])
def test_values_are_those_of_the_dense_inverse(X, rng, restart, repeats):
    walk = Diffusion(4, restart, repeats).fit(X)
    kernel, new = DiffusionKernel(walk), rng.normal(size=(6, 2))
    for left, right in ((X, X), (new, X), (X, new), (new, X[:2]), (new, new)):
        expected = dense_kernel(walk, left, right)
        assert_allclose(kernel(left, right), expected, rtol=0, atol=1e-9)
    expected = np.diag(dense_kernel(walk, new, new))
    assert_allclose(kernel.diag(new), expected, rtol=0, atol=1e-9)
    C = rng.normal(size=(6, 2))
    expected = dense_kernel(walk, X, new) @ C
    assert_allclose(kernel.combination(new, C)(X), expected, rtol=0, atol=1e-8)
    D = dense_kernel(walk, X, new) @ C
    averaged = walk.weights(X) @ kernel.at_rows(new, C)
    assert_allclose(averaged, D, rtol=0, atol=1e-8)


def test_series_and_factor_agree(X, monkeypatch):
    kernel = DiffusionKernel(Diffusion(4, 0.003, 2).fit(X))
    monkeypatch.setattr("halfmoon.smoothers._diffusion.MAX_FACTORED_ROWS", 0)
    by_series, diagonal = kernel(X), kernel.diag(X)
    monkeypatch.setattr("halfmoon.smoothers._diffusion.MAX_FACTORED_ROWS", 100)
    monkeypatch.setattr("halfmoon.smoothers._diffusion.SPARSE_COST", np.inf)
    assert_allclose(kernel(X), by_series, rtol=0, atol=1e-9)
    assert_allclose(kernel.diag(X), diagonal, rtol=0, atol=1e-9)
    assert not np.array_equal(kernel(X), by_series)  # two ways indeed


@pytest.mark.parametrize("size", [1, 7, 30, 100])
def test_the_diagonal_comes_in_pieces(X, monkeypatch, size):
    kernel = DiffusionKernel(Diffusion(4, 0.1).fit(X))
    expected = np.diag(dense_kernel(kernel.walk, X, X))
    monkeypatch.setattr(diffusion_kernel, "DIAGONAL_ROWS", size)
    assert_allclose(kernel.diag(X), expected, rtol=0, atol=1e-9)


def test_two_groups_that_never_meet(X):
    far = np.vstack([X[:15], X[15:] + 1e3])
    K = DiffusionKernel(Diffusion(4, 0.1).fit(far))(far)
    assert_allclose(K[:15, 15:], np.zeros((15, 15)), atol=1e-10)
    assert K[:15, :15].min() > 1e-6


def test_a_fit_is_kernel_ridge_with_the_dense_matrix(X, rng):
    walk, l, alpha = Diffusion(4, 0.05).fit(X), 12, 1e-3
    y = np.where(np.arange(30) < l, np.sin(X[:, 0]), np.nan)
    problem = Problem(Exact(DiffusionKernel(walk)), unpenalized=None)
    fit = problem.fit(X, y, alpha)
    K = dense_kernel(walk, X[:l], X[:l])
    c = np.linalg.solve(K + l * alpha * np.eye(l), y[:l])
    new = rng.normal(size=(5, 2))
    expected = dense_kernel(walk, new, X[:l]) @ c
    assert_allclose(fit.predict(new), expected, rtol=1e-5, atol=1e-7)


def test_use_in_an_estimator_with_another_kernel(X, rng):
    walk = Diffusion(4, 0.05).fit(X)
    y = np.where(np.arange(30) < 12, np.sin(X[:, 0]), np.nan)
    kernel = DiffusionKernel(walk) + 0.1 * Gaussian(1.0)
    model = ConditionalRegressor(kernel, alpha=1e-2).fit(X, y)
    new = rng.normal(size=(5, 2))
    matrix = dense_kernel(walk, X, X) + 0.1 * Gaussian(1.0)(X)
    twin = ConditionalRegressor("precomputed", alpha=1e-2).fit(matrix, y)
    matrix = dense_kernel(walk, new, X) + 0.1 * Gaussian(1.0)(new, X)
    assert_allclose(model.predict(new), twin.predict(matrix), atol=1e-7)


def test_a_copy_shares_the_graph(X):
    kernel = DiffusionKernel(Diffusion(4, 0.1).fit(X))
    copy = clone(kernel)
    assert copy is not kernel
    assert copy.walk.index_ is kernel.walk.index_
    assert_array_equal(copy(X), kernel(X))


@pytest.mark.parametrize("fitted", [np.asarray, sp.csr_array], ids=["dense", "CSR"])
@pytest.mark.parametrize("given", [np.asarray, sp.csr_array], ids=["dense", "CSR"])
def test_dense_and_sparse_rows_mix(X, fitted, given):
    expected = DiffusionKernel(Diffusion(4, 0.1).fit(X))(X[:5], X)
    kernel = DiffusionKernel(Diffusion(4, 0.1).fit(fitted(X)))
    assert_allclose(kernel(given(X[:5]), given(X)), expected, atol=1e-8)


def test_memory_counts_the_neighbors_of_a_row(X):
    kernel = DiffusionKernel(Diffusion(4, 0.1).fit(X))
    assert kernel.row_bytes(7) == kernel.walk.row_bytes + 16 * 7


@pytest.mark.parametrize(("restart", "repeats"), [(0.01, 4), (1e-4, 2)])
@pytest.mark.parametrize("labels", [2, 20, 100])
def test_weights_of_labels_are_those_of_the_fit(rng, restart, repeats, labels):
    # One target and one for each label are diffused in the same way, so that a fit with
    # next to no noise to values of several walks does not show the error of the series.
    X = rng.normal(size=(500, 2))
    longest = Diffusion(10, restart, repeats, tolerance=1e-7).fit(X)
    walks = [longest, longest.variant(restart=0.1)]
    labeled, new = X[:labels], X[labels : labels + 50]
    y = rng.normal(size=(labels, 1))
    for walk, K in zip(walks, diffused_values(walks, labeled, labeled), strict=True):
        kernel, lam = DiffusionKernel(walk), 1e-5 * np.trace(K)
        ridge = lam * np.eye(labels)
        predicted = kernel.combination(labeled, np.linalg.solve(K + ridge, y))(new)
        units = np.linalg.inv(kernel(labeled) + ridge)
        weights = kernel.combination(labeled, units)(new)
        assert_allclose(weights @ y, predicted, rtol=0, atol=1e-9)
