"""Systems on a graph: each way to solve them gives the same."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from halfmoon.baselines import graph_systems
from halfmoon.baselines.graph_systems import graph_solve


def system(n=60, left=1e-3):
    """I - (1 - left) S of a ring with chords."""
    rng = np.random.default_rng(0)
    W = np.zeros((n, n))
    for i in range(n):
        W[i, (i + 1) % n] = rng.uniform(0.5, 2.0)
        W[i, (7 * i + 3) % n] += 0.1
    W += W.T
    np.fill_diagonal(W, 0.0)
    root = 1 / np.sqrt(W.sum(axis=1))
    return np.eye(n) - (1 - left) * root[:, None] * W * root


@pytest.mark.parametrize("lu_rows", [0, 1_000])  # conjugate gradients, and LU
def test_sparse_is_dense(rng, monkeypatch, lu_rows):
    monkeypatch.setattr(graph_systems, "LU_ROWS", lu_rows)
    A, B = system(), rng.normal(size=(60, 3))
    expected = np.linalg.solve(A, B)
    assert_allclose(graph_solve(A, B), expected, rtol=1e-9)
    assert_allclose(graph_solve(sp.csr_array(A), B), expected, rtol=1e-6)


def test_gradients_that_do_not_converge_give_way(rng, monkeypatch):
    monkeypatch.setattr(graph_systems, "LU_ROWS", 0)
    monkeypatch.setattr(graph_systems, "TOLERANCE", 0.0)  # never reached
    A, B = system(), rng.normal(size=(60, 1))
    expected = np.linalg.solve(A, B)
    assert_allclose(graph_solve(sp.csr_array(A), B), expected, rtol=1e-9)


def test_nothing_to_solve():
    assert graph_solve(sp.csr_array((0, 0)), np.zeros((0, 2))).shape == (0, 2)


def test_a_singular_system_has_a_solution_of_least_norm():
    A = np.array([[1.0, -1.0], [-1.0, 1.0]])
    assert_allclose(graph_solve(A, np.array([[2.0], [-2.0]])), [[1.0], [-1.0]])
