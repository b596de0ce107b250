"""Energy on a graph against the dense Laplacian."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon._graphs import graph_laplacian, neighbor_graph
from halfmoon._moments import graph_energy
from halfmoon.bases import Nystrom
from halfmoon.blocks import Stream
from halfmoon.kernels import Gaussian
from helpers import BASES, BLOCK_ROWS


@pytest.fixture
def X(rng):
    return rng.normal(size=(11, 3))


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("case", BASES, ids=[case.name for case in BASES])
def test_dense_laplacian(case, X, normalized):
    basis = case.build().fit(X, 0)
    W = neighbor_graph(X, 3)
    laplacian = graph_laplacian(W, normalized=normalized)
    Phi = basis.transform(X)
    expected = Phi.T @ laplacian.toarray() @ Phi / 11**2
    actual = graph_energy(basis, X, laplacian, stream=Stream(block_rows=4))
    assert_allclose(actual, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    assert_array_equal(actual, actual.T)


def test_sum_over_edges(X, rng):
    basis = Nystrom(Gaussian(1.0), 5, "uniform").fit(X, 0)
    W = neighbor_graph(X, 3)
    g = basis.transform(X) @ rng.normal(size=5)
    theta = np.linalg.lstsq(basis.transform(X), g)[0]
    E = graph_energy(basis, X, graph_laplacian(W))
    expected = (W.toarray() * (g[:, None] - g) ** 2).sum() / (2 * 11**2)
    assert_allclose(theta @ E @ theta, expected, rtol=1e-10)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("block_rows", BLOCK_ROWS)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "CSR"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_add_up(X, block_rows, n_jobs, make, dtype):
    X = X.astype(dtype)
    basis = Nystrom(Gaussian(1.0), 5, "uniform").fit(X, 0)
    laplacian = graph_laplacian(neighbor_graph(X, 3))
    Phi = basis.transform(X)
    expected = Phi.T @ laplacian.toarray() @ Phi / 11**2
    stream = Stream(n_jobs=n_jobs, block_rows=block_rows)
    actual = graph_energy(basis, make(X), laplacian, stream=stream)
    assert_allclose(actual, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_rows_without_edges(X):
    basis = Nystrom(Gaussian(1.0), 5, "uniform").fit(X, 0)
    nothing = sp.csr_array((11, 11))
    for block_rows in BLOCK_ROWS:
        E = graph_energy(basis, X, nothing, stream=Stream(block_rows=block_rows))
        assert_array_equal(E, np.zeros((5, 5)))


def test_the_graph_has_a_node_for_each_row(X):
    basis = Nystrom(Gaussian(1.0), 5, "uniform").fit(X, 0)
    laplacian = graph_laplacian(neighbor_graph(X, 3))
    with pytest.raises(ValueError, match=r"shape \(11, 11\) and the table 10 rows"):
        graph_energy(basis, X[:10], laplacian)
