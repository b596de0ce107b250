"""Neighbor graphs against brute force over all pairs."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon._graphs import (
    NeighborIndex,
    graph_laplacian,
    neighbor_graph,
    normalized_adjacency,
    weighted_graph,
)
from helpers import peak_bytes, squared_distances


def dense_graph(X, k, length_scale=None):
    """W from its definition, pair by pair."""
    n = len(X)
    d = np.sqrt(squared_distances(X, X))
    np.fill_diagonal(d, np.inf)  # no row is its own neighbor
    near = np.argsort(d, axis=1, kind="stable")[:, :k]
    s = d[np.arange(n), near[:, -1]]
    W = np.zeros((n, n))
    for i in range(n):
        for j in near[i]:
            if length_scale is None:
                w = np.exp(-(d[i, j] ** 2) / (s[i] * s[j]))
            else:
                w = np.exp(-(d[i, j] ** 2) / (2 * length_scale**2))
            W[i, j] = W[j, i] = w  # an edge if either has the other
    return W


@pytest.fixture(params=[3, 20], ids=["tree", "brute"])  # the search differs by d
def X(request):
    return np.random.default_rng(4).normal(size=(23, request.param))


@pytest.mark.parametrize("length_scale", [None, 0.8], ids=["self-tuned", "Gaussian"])
@pytest.mark.parametrize("k", [1, 4, 22, 40])  # the last two: all other rows
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "CSR"])
def test_weights_are_those_of_all_pairs(X, k, length_scale, make):
    W = neighbor_graph(make(X), k, length_scale)
    assert_allclose(W.toarray(), dense_graph(X, min(k, 22), length_scale), rtol=1e-9)


@pytest.mark.parametrize("length_scale", [None, 0.8])
def test_weights_are_symmetric_without_loops_and_sparse(X, length_scale):
    W = neighbor_graph(X, 4, length_scale)
    assert_array_equal(W.toarray(), W.toarray().T)
    assert_array_equal(W.diagonal(), np.zeros(23))
    assert 4 * 23 <= W.nnz <= 2 * 4 * 23
    assert (W.data <= 1).all()


def test_an_offset_and_float32_change_nothing(X):
    X = X.astype(np.float32)
    expected = neighbor_graph(X.astype(np.float64), 4).toarray()
    assert_array_equal(neighbor_graph(X, 4).toarray(), expected)
    grid = np.round(X.astype(np.float64) * 2**20) / 2**20  # exact after adding 1024
    expected = neighbor_graph(grid, 4).toarray()
    assert_allclose(neighbor_graph(grid + 1024, 4).toarray(), expected, rtol=1e-12)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_a_huge_offset_changes_no_neighbor(make, rng):
    X = rng.integers(-20, 20, size=(60, 20)).astype(float)  # exact at any offset
    here, there = NeighborIndex(make(X), 5), NeighborIndex(make(X + 2.0**40), 5)
    assert_array_equal(there.others()[0], here.others()[0])
    moved, _ = there.nearest(make(X + 2.0**40))
    assert_array_equal(np.sort(moved), np.sort(here.nearest(make(X))[0]))
    if make is sp.csr_array:  # dense rows may meet a sparse search, and the reverse
        assert_array_equal(np.sort(there.nearest(X + 2.0**40)[0]), np.sort(moved))


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "CSR"])
def test_copies_take_a_typical_scale(X, make):
    # Row 0 has three copies, as many as neighbors: its scale would be 0.
    X = np.vstack([X, X[[0, 0, 0]]])
    index = NeighborIndex(make(X), 3)
    copies = [0, 23, 24, 25]
    others = np.setdiff1d(np.arange(26), copies)
    assert_allclose(index.scales[copies], index.scales[others].mean(), rtol=1e-12)
    assert_array_equal(index.others()[0][copies], np.zeros((4, 3)))
    W = neighbor_graph(make(X), 3)
    assert np.isfinite(W.data).all()
    assert_array_equal(W.toarray()[0, copies], [0.0, 1.0, 1.0, 1.0])


def test_equal_rows_are_tied_by_one():
    W = neighbor_graph(np.ones((4, 2)), 3)
    assert_array_equal(W.toarray(), 1 - np.eye(4))


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "CSR"])
def test_nearest_rows_of_new_rows(X, make):
    new = np.random.default_rng(5).normal(size=(6, X.shape[1]))
    distances, columns = NeighborIndex(make(X), 4).nearest(make(new))
    expected = np.sqrt(squared_distances(new, X))
    assert columns.shape == (6, 5)  # one more than k
    assert_array_equal(columns, np.argsort(expected, axis=1)[:, :5])
    assert_allclose(distances, np.sort(expected, axis=1)[:, :5], rtol=1e-12)
    itself, columns = NeighborIndex(make(X), 4).nearest(make(X[:6]))
    assert_array_equal(columns[:, 0], np.arange(6))
    assert_array_equal(itself[:, 0], np.zeros(6))


@pytest.mark.parametrize("k", [1, 4])
def test_laplacian(X, k, rng):
    W = neighbor_graph(X, k)
    L = graph_laplacian(W).toarray()
    assert_allclose(L.sum(axis=1), np.zeros(23), atol=1e-14)
    v = rng.normal(size=23)
    edges = W.toarray() * (v[:, None] - v) ** 2
    assert_allclose(v @ L @ v, edges.sum() / 2, rtol=1e-12)

    N = graph_laplacian(W, normalized=True).toarray()
    D = np.diag(1 / np.sqrt(W.toarray().sum(axis=1)))
    assert_allclose(N, D @ L @ D, rtol=1e-12, atol=1e-15)
    values = np.linalg.eigvalsh(N)
    assert values[0] > -1e-14
    assert values[-1] < 2 + 1e-14
    assert_allclose(values[0], 0, atol=1e-14)


def test_normalized_adjacency(X):
    W = neighbor_graph(X, 4)
    d = W.toarray().sum(axis=1)
    S = normalized_adjacency(W)
    assert_allclose(S.toarray(), W.toarray() / np.sqrt(d[:, None] * d), rtol=1e-14)
    assert np.abs(np.linalg.eigvalsh(S.toarray())).max() <= 1 + 1e-14


def test_rows_without_edges_have_only_zeros():
    W = sp.csr_array(np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    plain, normalized = graph_laplacian(W), graph_laplacian(W, normalized=True)
    assert_array_equal(plain.toarray(), [[2, -2, 0], [-2, 2, 0], [0, 0, 0]])
    assert_allclose(normalized.toarray(), [[1, -1, 0], [-1, 1, 0], [0, 0, 0]])
    # The same where the weights of a far row underflow.
    far = neighbor_graph(np.array([[0.0], [1.0], [1e3]]), 1, length_scale=1.0)
    L = graph_laplacian(far, normalized=True).toarray()
    assert_allclose(L, [[1, -1, 0], [-1, 1, 0], [0, 0, 0]], atol=1e-15)


def test_errors(X):
    with pytest.raises(ValueError, match=r"X has one row; .* at least two rows"):
        neighbor_graph(X[:1])
    for k in (0, -1, 1.5):
        with pytest.raises(ValueError, match=f"n_neighbors is {k}; 1, 2, 3"):
            neighbor_graph(X, k)
    for e in (0.0, -1.0):
        with pytest.raises(ValueError, match=f"length_scale is {e}; a positive number"):
            neighbor_graph(X, 3, e)


@pytest.mark.parametrize("k", [1, 3, 7])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "CSR"])
def test_fewer_neighbors_from_the_same_search(X, k, make):
    larger, smaller = NeighborIndex(make(X), 7), NeighborIndex(make(X), k)
    fewer = larger.first(k)
    assert fewer.n_neighbors == k
    assert_array_equal(fewer.scales, smaller.scales)
    for actual, expected in zip(fewer.others(), smaller.others(), strict=True):
        assert_array_equal(actual, expected)
    for actual, expected in zip(
        fewer.nearest(make(X + 0.1)), smaller.nearest(make(X + 0.1)), strict=True
    ):
        assert_array_equal(actual, expected)
    for e in (None, 0.8):
        expected = dense_graph(X, k, e)
        assert_allclose(weighted_graph(fewer, e).toarray(), expected, rtol=1e-9)
    assert larger.n_neighbors == 7  # unchanged
    assert_allclose(weighted_graph(larger).toarray(), dense_graph(X, 7), rtol=1e-9)


def test_no_more_neighbors_than_were_searched(X):
    index = NeighborIndex(X, 4)
    for k in (0, 5):
        with pytest.raises(ValueError, match=f"n_neighbors is {k}; this index needs"):
            index.first(k)


def test_wide_rows_are_compared_a_few_at_a_time():
    X = np.random.default_rng(0).normal(size=(300, 10_000))  # 24 MB
    assert peak_bytes(lambda: NeighborIndex(X, 3)) < 1.2 * X.nbytes


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_blocks_of_compared_rows_agree(container, monkeypatch):
    X = np.random.default_rng(0).normal(size=(53, 4))
    distances, columns = NeighborIndex(container(X), 5).others()
    monkeypatch.setattr("halfmoon._graphs.BLOCK_ENTRIES", 30)
    in_blocks = NeighborIndex(container(X), 5)
    assert_array_equal(in_blocks.others()[0], distances)
    exact = np.linalg.norm(X[:, None] - X[columns], axis=2)
    assert_allclose(distances, exact, rtol=1e-12)
