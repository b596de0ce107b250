"""Randomly pivoted Cholesky against the dense algorithm, one row at a time."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import cholesky
from scipy.stats import chisquare

from halfmoon._landmarks.rpcholesky import randomly_pivoted_cholesky
from halfmoon.kernels import Gaussian, Laplace, Linear, Matern, Polynomial

BLOCK_SIZES = [1, 2, 7, 40, 1000]  # single, small, ragged, as many as asked, over


def residual_matrix(K, S):
    """K - K_:S K_SS^-1 K_S:, as on paper."""
    return K - K[:, S] @ np.linalg.solve(K[np.ix_(S, S)], K[S])


def dense_twin(K, p, rng):
    """One pivot at a time, on the whole residual matrix."""
    R, S = K.copy(), []
    for _ in range(p):
        weight = np.clip(R.diagonal(), 0, None)
        weight[S] = 0
        i = rng.choice(len(K), p=weight / weight.sum())
        R -= np.outer(R[:, i], R[i]) / R[i, i]
        S.append(i)
    return S, R.trace()


def probability_of(order, K):
    """Product over the pivots of R_ii / tr R."""
    probability = 1.0
    for step, i in enumerate(order):
        S = list(order[:step])
        R = residual_matrix(K, S) if S else K
        probability *= R[i, i] / R.trace()
    return probability


@pytest.fixture
def X():
    return np.random.default_rng(3).standard_normal((60, 3))


@pytest.mark.parametrize("block_size", [1, 3, 16])
def test_pivots_have_the_distribution_of_the_unblocked_algorithm(block_size):
    # A cluster, so that pivots exclude their neighbors, and rows of unlike weight.
    X = np.array([[1.0, 0.1], [1.1, 0.2], [0.9, 0.1], [-0.5, 0.6], [0.2, -1.5], [2, 2]])
    kernel = Polynomial(degree=2)
    K = kernel(X)
    orders = list(permutations(range(6), 3))
    expected = np.array([probability_of(order, K) for order in orders])
    assert_allclose(expected.sum(), 1.0)

    rng, draws = np.random.default_rng(20 + block_size), 1_500
    seen = Counter(
        tuple(
            randomly_pivoted_cholesky(
                kernel, X, 3, rng, block_size=block_size
            ).indices.tolist()
        )
        for _ in range(draws)
    )
    observed = np.array([seen[order] for order in orders])
    assert observed.sum() == draws
    rare = expected * draws < 5  # pooled: the test needs 5 expected in each cell
    pooled = [np.append(v[~rare], v[rare].sum()) for v in (observed, expected * draws)]
    assert chisquare(*pooled).pvalue > 1e-3


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Matern(1.5, 2.0), Laplace(0.5)])
def test_factor_is_exact_on_the_pivots(kernel, X, block_size):
    K = kernel(X)
    chosen = randomly_pivoted_cholesky(kernel, X, 40, 0, block_size=block_size)
    S, G = chosen.indices, chosen.factor
    assert S.shape == (40,)
    assert G.shape == (60, 40)
    assert np.unique(S).size == 40
    assert_allclose(G @ G[S].T, K[:, S], atol=1e-10)
    assert_allclose(np.triu(G[S], 1), 0, atol=1e-10)
    assert_allclose(chosen.trace, K.trace())
    assert_allclose(chosen.residual_trace, np.trace(K - G @ G.T), atol=1e-10)
    assert_allclose(
        chosen.residual_trace, residual_matrix(K, S).trace(), rtol=1e-6, atol=1e-9
    )


def test_slices_of_rows_add_up(X, monkeypatch):
    whole = randomly_pivoted_cholesky(Gaussian(1.0), X, 20, 0)
    monkeypatch.setattr("halfmoon.blocks.BLOCK_BYTES", 7 * 24 * 20)
    sliced = randomly_pivoted_cholesky(Gaussian(1.0), X, 20, 0)
    assert_array_equal(sliced.indices, whole.indices)
    assert_allclose(sliced.factor, whole.factor, atol=1e-12)


def test_error_is_that_of_the_dense_twin():
    # The same mean residual trace, within the spread of 100 runs of each.
    X = np.random.default_rng(5).standard_normal((80, 2))
    kernel = Gaussian(1.0)
    K, rng = kernel(X), np.random.default_rng(6)
    fast = [
        randomly_pivoted_cholesky(kernel, X, 10, rng, block_size=8).residual_trace
        for _ in range(100)
    ]
    slow = [dense_twin(K, 10, rng)[1] for _ in range(100)]
    standard_error = np.hypot(np.std(fast), np.std(slow)) / 10
    assert abs(np.mean(fast) - np.mean(slow)) < 3 * standard_error


@pytest.mark.parametrize("decay", ["algebraic", "geometric"])
def test_trace_error_is_near_the_best(decay):
    # Chen, Epperly, Tropp, Webber: the expected error is at most 2 tail_r once
    # p >= r + r log(tr K / tail_r), tail_r the sum of the eigenvalues beyond r.
    n, r = 300, 8
    i = np.arange(1, n + 1)
    s = i**-2.0 if decay == "algebraic" else 0.7**i
    rng = np.random.default_rng(7)
    U = np.linalg.qr(rng.standard_normal((n, n)))[0]
    X = U * np.sqrt(s)  # a linear kernel with these eigenvalues
    tail = s[r:].sum()
    p = int(np.ceil(r + r * np.log(s.sum() / tail)))
    errors = [
        randomly_pivoted_cholesky(Linear(), X, p, rng).residual_trace for _ in range(20)
    ]
    assert np.mean(errors) < 2 * tail
    assert np.min(errors) > s[p:].sum()


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
@pytest.mark.parametrize("seed", range(5))
def test_stops_at_the_rank(block_size, seed):
    X = np.random.default_rng(seed).standard_normal((200, 3)) * [1, 1e-3, 10]
    chosen = randomly_pivoted_cholesky(Linear(), X, 50, seed, block_size=block_size)
    assert chosen.indices.size == 3
    assert chosen.residual_trace < 1e-12 * chosen.trace
    cubic = randomly_pivoted_cholesky(Polynomial(3), X[:, ::2], 50, seed)
    assert cubic.indices.size == 10  # monomials of degree 3 or less in two variables


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Laplace(1.0), Gaussian(1e-3)])
@pytest.mark.parametrize("offset", [0.0, 1e4])
@pytest.mark.parametrize("block_size", [1, 64])
def test_equal_rows_are_chosen_once(kernel, offset, block_size):
    rng = np.random.default_rng(8)
    distinct = rng.standard_normal((12, 4)) + offset
    X = distinct[rng.integers(12, size=300)]
    chosen = randomly_pivoted_cholesky(kernel, X, 100, rng, block_size=block_size)
    assert chosen.indices.size == 12
    assert np.unique(X[chosen.indices], axis=0).shape == (12, 4)


def test_constant_rows_give_one_landmark_and_zero_rows_none():
    constant = randomly_pivoted_cholesky(Gaussian(1.0), np.ones((9, 2)), 5, 0)
    assert constant.indices.size == 1
    assert constant.residual_trace == 0
    nothing = randomly_pivoted_cholesky(Linear(), np.zeros((9, 2)), 5, 0)
    assert nothing.indices.size == 0
    assert nothing.factor.shape == (9, 0)


@pytest.mark.parametrize("length_scale", [1.0, 10.0])
def test_landmarks_are_never_numerically_dependent(length_scale):
    # A smooth kernel on a line: rank far below the 400 asked for.
    X = np.random.default_rng(9).uniform(size=(2_000, 1))
    kernel = Gaussian(length_scale)
    chosen = randomly_pivoted_cholesky(kernel, X, 400, 0)
    assert chosen.indices.size < 20
    cholesky(kernel(X[chosen.indices]))  # does not fail
    assert chosen.residual_trace < 1e-10 * chosen.trace


def test_tolerance_stops_earlier(X):
    loose = randomly_pivoted_cholesky(Gaussian(2.0), X, 60, 0, tolerance=0.01)
    tight = randomly_pivoted_cholesky(Gaussian(2.0), X, 60, 0)
    assert loose.indices.size < tight.indices.size
    assert loose.residual_trace < 0.02 * loose.trace
    none = randomly_pivoted_cholesky(Gaussian(9.0), X, 60, 0, tolerance=0.0)
    assert np.unique(none.indices).size == none.indices.size


@pytest.mark.parametrize("as_sparse", [sp.csr_array, sp.csr_matrix, sp.coo_array])
def test_sparse_equals_dense(as_sparse):
    X = sp.random_array((80, 30), density=0.2, rng=np.random.default_rng(10)).toarray()
    kernel = Gaussian(1.0)
    dense = randomly_pivoted_cholesky(kernel, X, 25, 0)
    sparse = randomly_pivoted_cholesky(kernel, as_sparse(X), 25, 0)
    assert_array_equal(sparse.indices, dense.indices)
    assert_allclose(sparse.factor, dense.factor, atol=1e-10)


def test_float32_rows_are_lifted(X):
    X = X.astype(np.float32)
    single = randomly_pivoted_cholesky(Gaussian(1.0), X, 20, 0)
    double = randomly_pivoted_cholesky(Gaussian(1.0), X.astype(np.float64), 20, 0)
    assert_array_equal(single.indices, double.indices)
    assert_array_equal(single.factor, double.factor)


def test_a_seed_gives_the_same_rows(X):
    one, same, other = (
        randomly_pivoted_cholesky(Gaussian(1.0), X, 20, rng).indices
        for rng in (4, np.random.default_rng(4), 5)
    )
    assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_more_than_all_rows_is_all_rows(X):
    chosen = randomly_pivoted_cholesky(Gaussian(0.3), X, 999, 0)
    assert_array_equal(np.sort(chosen.indices), np.arange(60))


@pytest.mark.parametrize("option", [{"block_size": 0}, {"tolerance": 1.0}])
def test_options_out_of_range(X, option):
    with pytest.raises(ValueError, match="is needed"):
        randomly_pivoted_cholesky(Gaussian(1.0), X, 5, **option)


def test_negative_diagonal_is_refused(X):
    class Negative(Linear):
        def _diag(self, X):
            return -super()._diag(X)

    with pytest.raises(ValueError, match="a positive definite kernel is needed"):
        randomly_pivoted_cholesky(Negative(), X, 5)
