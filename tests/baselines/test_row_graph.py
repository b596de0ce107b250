"""Graphs over rows: sparse and dense agree, and a step stays on its row."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon.baselines._row_graph import AllPairs, NearestRows


def rows(n=11, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 2))


@pytest.mark.parametrize("length_scale", [0.8, None])
def test_with_every_row_a_neighbor_it_is_all_pairs(length_scale):
    X, new = rows(), rows(5, seed=1)
    near, pairs = NearestRows(X, 10, length_scale), AllPairs(X, length_scale, "1MB")
    assert_allclose(near.W.toarray(), pairs.W, rtol=1e-12)
    assert_allclose(near.normalized().toarray(), pairs.normalized(), rtol=1e-12)
    assert_allclose(near.degree, pairs.degree, rtol=1e-12)
    assert_allclose(near.step(new).toarray(), pairs.step(new), rtol=1e-9)


@pytest.mark.parametrize("length_scale", [0.8, None])
def test_steps(length_scale):
    X, new = rows(), rows(5, seed=1)
    for graph in (NearestRows(X, 3, length_scale), AllPairs(X, length_scale, "1MB")):
        w = graph.step(np.vstack([X, new]))
        w = w if isinstance(w, np.ndarray) else w.toarray()
        assert_array_equal(w[:11], np.eye(11))
        assert_allclose(w[11:].sum(axis=1), 1.0, rtol=1e-14)
        if length_scale is not None:
            q = ((new[:, None] - X[None]) ** 2).sum(-1)
            some = w[11:] > 0
            ratio = w[11:][some] / np.exp(-q / (2 * 0.8**2))[some]
            row = np.nonzero(some)[0]
            for i in range(5):  # proportional to the kernel
                assert_allclose(ratio[row == i], ratio[row == i][0], rtol=1e-10)


def test_normalized_weights_of_a_row_alone():
    X = np.array([[0.0], [1.0], [100.0]])
    graph = AllPairs(X, 1.0, "1MB")
    w = np.exp(-0.5)
    assert_allclose(graph.W, [[0, w, 0], [w, 0, 0], [0, 0, 0]], rtol=1e-10)
    assert_allclose(graph.normalized(), [[0, 1, 0], [1, 0, 0], [0, 0, 0]], rtol=1e-12)


def test_what_labels_reach():
    # In a chain, where each row is connected to the next, one end reaches all.
    chain = np.arange(8.0)[:, None]
    apart = np.vstack([chain, chain + 100.0])
    labeled = np.arange(16) == 0
    for graph in (NearestRows(apart, 2, 0.3), AllPairs(apart, 0.3, "1MB")):
        assert_array_equal(graph.reached(labeled), np.arange(16) < 8)
