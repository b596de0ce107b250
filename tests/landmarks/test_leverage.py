"""Ridge leverage scores against diag(K (K + lam I)^-1)."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chisquare

from halfmoon._landmarks.sampling import (
    DIMENSION_SHARE,
    leverage,
    ridge_leverage_scores,
    ridge_of_dimension,
)
from halfmoon.kernels import Gaussian, Linear, Matern


def exact_scores(K, lam):
    return np.linalg.solve(K + lam * np.eye(len(K)), K).diagonal()


@pytest.fixture
def X():
    return np.random.default_rng(3).standard_normal((90, 3))


@pytest.mark.parametrize("lam", [1e-4, 1e-2, 1.0, 100.0])
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Matern(2.5, 3.0), Linear()])
def test_full_sketch_is_exact(kernel, X, lam):
    expected = exact_scores(kernel(X), lam)
    assert_allclose(ridge_leverage_scores(kernel, X, lam), expected, atol=1e-8)
    order = np.random.default_rng(0).permutation(90)
    actual = ridge_leverage_scores(kernel, X, lam, indices=order)
    assert_allclose(actual, expected, atol=1e-8)


def test_slices_of_rows_agree(X, monkeypatch):
    whole = ridge_leverage_scores(Gaussian(1.0), X, 0.1, indices=range(0, len(X), 2))
    monkeypatch.setattr("halfmoon.blocks.BLOCK_BYTES", 7 * 16 * 33)
    sliced = ridge_leverage_scores(Gaussian(1.0), X, 0.1, indices=range(0, len(X), 2))
    assert_allclose(sliced, whole, rtol=1e-10)


def test_sketch_comes_near():
    # Copies of one table: any sketch with each row k times is exact, by the n / m.
    X = np.repeat(np.random.default_rng(4).standard_normal((25, 2)), 8, axis=0)
    K = Gaussian(1.0)(X)
    one_of_each = np.arange(0, 200, 8)
    actual = ridge_leverage_scores(Gaussian(1.0), X, 0.5, indices=one_of_each)
    assert_allclose(actual, exact_scores(K, 0.5), rtol=1e-8)

    X = np.random.default_rng(5).standard_normal((400, 2))
    exact = exact_scores(Gaussian(1.0)(X), 2.0)
    near = ridge_leverage_scores(Gaussian(1.0), X, 2.0, indices=range(200))
    assert_allclose(near.sum(), exact.sum(), rtol=0.1)
    assert np.corrcoef(near, exact)[0, 1] > 0.9


def test_row_unlike_the_sketch_scores_high():
    X = np.vstack([np.random.default_rng(6).standard_normal((99, 2)), [[50.0, 50.0]]])
    scores = ridge_leverage_scores(Gaussian(1.0), X, 0.5, indices=np.arange(40))
    assert scores[99] == 1.0  # K_ii / lam = 2, and a score is at most 1
    assert scores[:40].max() < 1.0


@pytest.mark.parametrize("dimension", [0.5, 3.0, 20.0])
def test_ridge_of_dimension(dimension):
    s = 0.8 ** np.arange(60)
    lam = ridge_of_dimension(s, dimension)
    assert_allclose((s / (s + lam)).sum(), dimension, rtol=1e-10)


def test_ridge_of_dimension_above_the_rank_is_rounding():
    assert ridge_of_dimension(np.array([1.0, 1.0, 0.0]), 5.0) < 1e-14


@pytest.mark.parametrize("n_components", [1, 20, 90, 500])
def test_drawn_without_replacement(X, n_components):
    chosen = leverage(Gaussian(0.5), X, n_components, rng=0)
    assert chosen.size == min(n_components, 90)
    assert np.unique(chosen).size == chosen.size
    assert_array_equal(chosen, leverage(Gaussian(0.5), X, n_components, rng=0))


def test_drawn_in_proportion_to_the_scores():
    # A linear kernel on the axes: K is diagonal, the scores are s / (s + lam).
    s = np.array([4.0, 2.0, 1.0, 0.5])
    X = np.diag(np.sqrt(s))
    scores = s / (s + ridge_of_dimension(s, DIMENSION_SHARE))
    rng, draws = np.random.default_rng(8), 1_000
    first = [leverage(Linear(), X, 1, rng)[0] for _ in range(draws)]
    expected = draws * scores / scores.sum()
    assert chisquare(np.bincount(first, minlength=4), expected).pvalue > 1e-3


def test_rows_of_score_zero_are_not_drawn():
    X = np.zeros((50, 2))
    X[[7, 31]] = [[1.0, 0.0], [0.0, 1.0]]
    assert_array_equal(np.sort(leverage(Linear(), X, 10, rng=0)), [7, 31])
    assert leverage(Linear(), np.zeros((50, 2)), 10, rng=0).size == 0


def test_finds_the_rare_cluster():
    rng = np.random.default_rng(9)
    X = np.vstack([rng.normal(0, 0.1, (990, 2)), rng.normal(9, 2.0, (10, 2))])
    rare = [(leverage(Gaussian(1.0), X, 20, seed) >= 990).sum() for seed in range(5)]
    assert min(rare) >= 3  # uniform would have 0.2 of them


def test_sparse_equals_dense():
    X = sp.random_array((80, 30), density=0.2, rng=np.random.default_rng(10)).toarray()
    kernel = Gaussian(1.0)
    dense = ridge_leverage_scores(kernel, X, 0.1, indices=range(40))
    sparse = ridge_leverage_scores(kernel, sp.csr_array(X), 0.1, indices=range(40))
    assert_allclose(sparse, dense, rtol=1e-10)
    assert_array_equal(
        leverage(kernel, sp.csr_array(X), 15, rng=0), leverage(kernel, X, 15, rng=0)
    )


@pytest.mark.parametrize("lam", [0.0, -1.0, np.inf, np.nan])
def test_lam_must_be_positive(X, lam):
    with pytest.raises(ValueError, match="positive number"):
        ridge_leverage_scores(Gaussian(1.0), X, lam)
