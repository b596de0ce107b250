"""Neighbors against brute force: which rows, with which weights, over several steps."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon.kernels import (
    Gaussian,
    Laplace,
    Linear,
    Matern,
    Multiquadric,
    RationalQuadratic,
)
from halfmoon.smoothers import Neighbors
from helpers import squared_distances

KERNELS = [None, Gaussian(0.8), Laplace(0.8), Matern(2.5, 0.8), RationalQuadratic()]


def dense_weights(new, X, k, kernel=None):
    """The k + 1 nearest rows to each new row, weighed and normalized."""
    scales = np.sort(np.sqrt(squared_distances(X, X)), axis=1)[:, k]  # after itself
    A = np.zeros((len(new), len(X)))
    for i, d in enumerate(np.sqrt(squared_distances(new, X))):
        near = np.argsort(d, kind="stable")[: k + 1]
        if kernel is None:
            w = np.exp(-(d[near] ** 2) / (d[near].max() * scales[near]))
        else:
            w = kernel(new[i : i + 1], X[near])[0]
        A[i, near] = w / w.sum()
    return A


@pytest.fixture(params=[3, 20], ids=["tree", "brute"])
def X(request):
    return np.random.default_rng(6).normal(size=(17, request.param))


@pytest.fixture
def new(X):
    return np.random.default_rng(7).normal(size=(6, X.shape[1]))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("k", [1, 4, 16, 30])  # the last two: all rows
def test_weights(X, new, k, kernel):
    smoother = Neighbors(k, kernel=kernel).fit(X, 0)
    k = min(k, 16)
    for rows in (new, X):
        A = smoother.weights(rows)
        assert A.nnz == len(rows) * (k + 1)
        expected = dense_weights(rows, X, k, smoother.kernel_)
        assert_allclose(A.toarray(), expected, rtol=1e-9)
        assert_allclose(A.sum(axis=1), np.ones(len(rows)), rtol=1e-14)


@pytest.mark.parametrize("kernel", KERNELS[:2], ids=repr)
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_steps_are_powers_of_the_dense_matrix(X, new, rng, kernel, steps):
    smoother = Neighbors(4, steps, kernel).fit(X)
    V = rng.normal(size=(17, 5))
    A = dense_weights(X, X, 4, kernel)
    D = np.linalg.matrix_power(A, steps - 1)
    assert_allclose(smoother.spread(V), D @ V, rtol=1e-10, atol=1e-12)
    assert_allclose(smoother.spread_adjoint(V), D.T @ V, rtol=1e-10, atol=1e-12)
    overall = smoother.weights(X) @ smoother.spread(V)
    power = np.linalg.matrix_power(A, steps)
    assert_allclose(overall, power @ V, rtol=1e-10, atol=1e-12)
    at_new = smoother.weights(new) @ smoother.spread(V)
    expected = dense_weights(new, X, 4, kernel) @ D @ V
    assert_allclose(at_new, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("steps", [1, 2, 4])
def test_adjoint(X, rng, steps):
    smoother = Neighbors(4, steps).fit(X)
    u, v = rng.normal(size=(2, 17, 3))
    left = (u * smoother.spread(v)).sum()
    right = (smoother.spread_adjoint(u) * v).sum()
    assert_allclose(left, right, rtol=1e-12)


def test_spread_leaves_the_values_alone(X):
    V = np.ones((17, 2))
    Neighbors(4, 3).fit(X).spread(V)
    assert_array_equal(V, np.ones((17, 2)))


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "CSR"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", [None, Gaussian()], ids=repr)
def test_rows_as_they_come(X, new, make, dtype, kernel):
    X, new = X.astype(dtype), new.astype(dtype)
    expected = Neighbors(4, 2, kernel).fit(X.astype(np.float64), 0)
    actual = Neighbors(4, 2, kernel).fit(make(X), 0)
    assert actual.rows_.dtype == dtype
    for rows in (X, new):
        assert_allclose(
            actual.weights(make(rows)).toarray(),
            expected.weights(rows.astype(np.float64)).toarray(),
            rtol=1e-10,
        )


@pytest.mark.parametrize("distance", [1e2, 1e5, 1e10])
@pytest.mark.parametrize("kernel", [None, Gaussian(0.1), Laplace(0.01)], ids=repr)
def test_far_rows_have_finite_weights(X, distance, kernel):
    far = np.zeros((1, X.shape[1]))
    far[0, 0] = distance
    w = Neighbors(4, kernel=kernel).fit(X).weights(far).toarray()
    assert_allclose(w.sum(), 1.0, rtol=1e-14)
    if kernel is not None and distance <= 1e5:
        assert_allclose(w[0, X[:, 0].argmax()], 1.0, atol=1e-2)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "CSR"])
def test_copies_share_their_weight(X, make):
    # Row 0 has five copies, more than neighbors: those found weigh the same.
    X = np.vstack([X, X[[0] * 5]])
    smoother = Neighbors(3, steps=2).fit(make(X))
    for row in smoother.weights(make(X[[0, 18]])).toarray():
        assert_allclose(row[row > 0], [0.25] * 4, rtol=1e-14)
        assert set(np.flatnonzero(row)) <= {0, 17, 18, 19, 20, 21}
    assert_allclose(smoother.spread(np.ones((22, 1))), np.ones((22, 1)), rtol=1e-13)


def test_equal_rows():
    smoother = Neighbors(2).fit(np.ones((4, 2)))
    w = smoother.weights(np.ones((1, 2))).toarray()
    assert_allclose(w[w > 0], [1 / 3] * 3)


def test_no_gradient(X):
    with pytest.raises(TypeError, match=r"jump where the nearest rows.*of a graph, or"):
        Neighbors(4).fit(X).gradient(X, np.ones((17, 1)))


def test_memory_follows_the_neighbors_not_the_rows(X):
    assert Neighbors(4).fit(X).row_bytes == Neighbors(4).fit(X[:9]).row_bytes > 0


def test_errors(X):
    for steps in (0, -1, 1.5):
        with pytest.raises(ValueError, match=f"steps is {steps}; 1, 2, 3"):
            Neighbors(4, steps).fit(X)
    for k in (0, 2.5):
        with pytest.raises(ValueError, match=f"n_neighbors is {k}; 1, 2, 3"):
            Neighbors(k).fit(X)
    for kernel in (Linear(), Multiquadric(1.0), Gaussian(1.0) + Gaussian(2.0)):
        with pytest.raises(ValueError, match=r"weights on the nearest rows need a pos"):
            Neighbors(4, kernel=kernel).fit(X)
    with pytest.raises(ValueError, match="at least two rows"):
        Neighbors(4).fit(X[:1])
