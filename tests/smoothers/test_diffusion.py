"""Diffusion against the dense resolvent of the same graph."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon.blocks import worker_count
from halfmoon.smoothers import Diffusion, Neighbors
from halfmoon.smoothers._diffusion import (
    MAX_WORKER_COLUMNS,
    DiffusionKernel,
    chebyshev_product,
    diffused_values,
)
from helpers import squared_distances


def dense_adjacency(X, k):
    """S of the self-tuned neighbor graph, pair by pair."""
    n, d = len(X), np.sqrt(squared_distances(X, X))
    np.fill_diagonal(d, np.inf)
    near = np.argsort(d, axis=1)[:, :k]
    s = d[np.arange(n), near[:, -1]]
    W = np.zeros((n, n))
    for i in range(n):
        W[i, near[i]] = np.exp(-(d[i, near[i]] ** 2) / (s[i] * s[near[i]]))
    W = np.maximum(W, W.T)
    D = W.sum(axis=1)
    return W / np.sqrt(D[:, None] * D)


def dense_diffusion(S, restart, t):
    a, identity = 1 - restart, np.eye(len(S))
    resolvent = (1 - a) * np.linalg.inv(identity - a * S)
    return np.linalg.matrix_power(resolvent, t)


@pytest.fixture
def X(rng):
    return rng.normal(size=(40, 3))


@pytest.fixture(params=[0, 3_000], ids=["series", "factor"])
def way(request, monkeypatch):
    """Never by the Cholesky factor, or wherever it is cheaper."""
    monkeypatch.setattr(
        "halfmoon.smoothers._diffusion.MAX_FACTORED_ROWS", request.param
    )


@pytest.mark.parametrize("restart", [0.9, 0.3, 0.01, 0.003])
@pytest.mark.parametrize("t", [1, 2, 3])
@pytest.mark.usefixtures("way")
def test_spread_is_the_dense_inverse(X, rng, restart, t):
    smoother = Diffusion(4, restart, t).fit(X)
    D = dense_diffusion(dense_adjacency(X, 4), restart, t)
    V = rng.normal(size=(40, 7))
    before = V.copy()
    assert_allclose(smoother.spread(V), D @ V, rtol=0, atol=1e-8)
    assert_allclose(smoother.spread_adjoint(V), D.T @ V, rtol=0, atol=1e-8)
    assert_array_equal(V, before)


@pytest.mark.parametrize("columns", [1, 2, 3, MAX_WORKER_COLUMNS * worker_count() + 5])
@pytest.mark.usefixtures("way")
def test_columns_do_not_depend_on_each_other(X, rng, columns):
    smoother = Diffusion(4, 0.1).fit(X)
    D = dense_diffusion(dense_adjacency(X, 4), 0.1, 1)
    V = rng.normal(size=(40, columns))
    assert_allclose(smoother.spread(V), D @ V, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("restart", "most"), [(0.3, 50), (0.01, 250), (0.003, 450)])
@pytest.mark.parametrize("t", [1, 2, 3])
def test_terms_are_few(X, restart, most, t):
    assert len(Diffusion(4, restart, t).fit(X).series_) < most


@pytest.mark.parametrize("restart", [1 - 1e-12, 0.5, 0.05, 0.001])
@pytest.mark.parametrize("tolerance", [1e-4, 1e-10])
def test_tolerance_bounds_the_error_of_the_series(X, restart, tolerance):
    smoother = Diffusion(4, restart, 2, tolerance).fit(X)
    s = np.linspace(-1, 1, 2_001)
    a = 1 - restart
    expected = ((1 - a) / (1 - a * s)) ** 2
    actual = np.polynomial.chebyshev.chebval(s, smoother.series_)
    # Twice: what the series leaves out, and what interpolation folds back.
    assert_allclose(actual, expected, rtol=0, atol=2 * tolerance)


def test_chebyshev_product_is_the_series_of_the_spectrum(rng):
    S = rng.normal(size=(6, 6))
    S = (S + S.T) / (2 * np.linalg.norm(S, 2))
    s, U = np.linalg.eigh(S)
    V = rng.normal(size=(6, 2))
    for terms in (2, 3, 8):
        series = rng.normal(size=terms)
        values = np.polynomial.chebyshev.chebval(s, series)
        actual = chebyshev_product(sp.csr_array(S), series, V)
        assert_allclose(actual, (U * values) @ U.T @ V, rtol=1e-11, atol=1e-13)


def test_weights_are_one_step_to_the_neighbors(X, rng):
    new = rng.normal(size=(6, 3))
    expected = Neighbors(4).fit(X)
    smoother = Diffusion(4).fit(X)
    for rows in (X, new):
        actual = smoother.weights(rows).toarray()
        assert_array_equal(actual, expected.weights(rows).toarray())


@pytest.mark.usefixtures("way")
def test_a_component_keeps_to_itself(X):
    # Two far groups: what starts in one never comes to the other.
    X = np.vstack([X[:20], X[20:] + 1e3])
    V = np.zeros((40, 1))
    V[:20] = 1.0
    spread = Diffusion(4, 0.05).fit(X).spread(V)
    assert_allclose(spread[20:], np.zeros((20, 1)), atol=1e-9)
    assert spread[:20].min() > 0.1


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "CSR"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.usefixtures("way")
def test_rows_as_they_come(X, rng, make, dtype):
    X = X.astype(dtype)
    D = dense_diffusion(dense_adjacency(X.astype(np.float64), 4), 0.1, 1)
    V = rng.normal(size=(40, 3))
    smoother = Diffusion(4, 0.1).fit(make(X))
    assert smoother.rows_.dtype == dtype
    assert_allclose(smoother.spread(V), D @ V, rtol=0, atol=1e-9)
    assert_allclose(
        smoother.weights(make(X[:4])).toarray(),
        Neighbors(4).fit(X.astype(np.float64)).weights(X[:4]).toarray(),
        rtol=1e-10,
    )


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "CSR"])
@pytest.mark.usefixtures("way")
def test_copies(X, make):
    X = np.vstack([X, X[[0] * 6]])
    smoother = Diffusion(4, 0.1).fit(make(X))
    spread = smoother.spread(np.eye(46))
    assert np.isfinite(spread).all()
    assert_allclose(spread, spread.T, rtol=0, atol=1e-9)
    assert np.isfinite(smoother.weights(make(X)).toarray()).all()
    assert np.isfinite(smoother.weights(make(X + 1e6)).toarray()).all()


def test_a_refit_forgets(X, rng):
    smoother = Diffusion(4, 0.1).fit(rng.normal(size=(9, 2)))
    V = rng.normal(size=(40, 2))
    assert_array_equal(smoother.fit(X).spread(V), Diffusion(4, 0.1).fit(X).spread(V))


def test_errors(X):
    for restart in (0.0, 1.0, -0.1, 2.0, np.nan):
        with pytest.raises(ValueError, match=f"restart is {restart}; a probability"):
            Diffusion(4, restart).fit(X)
    for repeats in (0, 1.5):
        with pytest.raises(ValueError, match=f"repeats is {repeats}; 1, 2, 3"):
            Diffusion(4, repeats=repeats).fit(X)
    with pytest.raises(ValueError, match="n_neighbors is 0; 1, 2, 3"):
        Diffusion(0).fit(X)
    with pytest.raises(TypeError, match=r"no gradient\. Use the energy of a graph"):
        Diffusion(4).fit(X).gradient(X, X)


@pytest.mark.usefixtures("way")
def test_a_variant_equals_a_refitted_walk(X, rng):
    longest = Diffusion(7, 0.01, 2).fit(X)
    V, new = rng.normal(size=(40, 3)), rng.normal(size=(5, 3))
    for k, restart in ((7, 0.3), (4, None), (4, 0.05), (None, 0.2)):
        variant = longest.variant(n_neighbors=k, restart=restart)
        k, restart = k or 7, restart or 0.01
        assert (variant.n_neighbors, variant.restart, variant.repeats) == (
            k,
            restart,
            2,
        )
        D = dense_diffusion(dense_adjacency(X, k), restart, 2)
        assert_allclose(variant.spread(V), D @ V, rtol=0, atol=1e-8)
        expected = Neighbors(k).fit(X).weights(new).toarray()
        assert_array_equal(variant.weights(new).toarray(), expected)
    assert longest.variant(restart=0.2).adjacency_ is longest.adjacency_
    assert (longest.n_neighbors, longest.restart) == (7, 0.01)
    D = dense_diffusion(dense_adjacency(X, 7), 0.01, 2)
    assert_allclose(longest.spread(V), D @ V, rtol=0, atol=1e-8)
    with pytest.raises(ValueError, match="restart is 2; a probability"):
        longest.variant(restart=2)


@pytest.mark.parametrize("restart", [0.9, 0.1, 1e-2, 1e-4])
@pytest.mark.parametrize("t", [1, 2, 4])
def test_the_factor_gives_what_the_series_gives(X, rng, restart, t):
    smoother = Diffusion(4, restart, t).fit(X)
    D = dense_diffusion(dense_adjacency(X, 4), restart, t)
    V = rng.normal(size=(40, 3))
    before = V.copy()
    by_factor = smoother._spread_by_factor(V)
    by_series = chebyshev_product(smoother.adjacency_, smoother.series_, V)
    assert_allclose(by_factor, D @ V, rtol=0, atol=1e-9)
    assert_allclose(by_series, D @ V, rtol=0, atol=1e-8)
    assert_array_equal(V, before)


def test_long_walks_are_spread_by_a_factor_and_short_ones_by_the_series(rng):
    X, V = rng.normal(size=(300, 3)), rng.normal(size=(300, 10))
    for restart, by_factor in ((0.5, False), (1e-4, True)):
        smoother = Diffusion(4, restart).fit(X)
        spread = smoother.spread(V)
        D = dense_diffusion(smoother.adjacency_.toarray(), restart, 1)
        assert_allclose(spread, D @ V, rtol=0, atol=1e-8)
        same = np.array_equal(spread, smoother._spread_by_factor(V))
        assert same == by_factor


def test_no_factor_beyond_some_thousand_rows(X, monkeypatch):
    smoother = Diffusion(4, 1e-4).fit(X)
    assert smoother._is_factored
    monkeypatch.setattr("halfmoon.smoothers._diffusion.MAX_FACTORED_ROWS", 39)
    assert not smoother._is_factored


@pytest.mark.usefixtures("way")
def test_a_vector_is_spread_as_one_column(X, rng):
    v = rng.normal(size=40)
    D = dense_diffusion(dense_adjacency(X, 4), 0.1, 1)
    spread = Diffusion(4, 0.1).fit(X).spread(v)
    assert_allclose(spread, (D @ v)[:, None], rtol=0, atol=1e-9)


@pytest.mark.parametrize("rows", [1, 5, MAX_WORKER_COLUMNS * worker_count() + 5])
def test_values_of_several_walks_are_those_of_each(X, rng, rows):
    first = Diffusion(4, 0.02, 2).fit(X)
    walks = [first, first.variant(restart=0.3), first.variant(restart=0.1)]
    new, other = rng.normal(size=(7, 3)), rng.normal(size=(rows, 3))
    values = diffused_values(walks, new, other)
    assert values.shape == (3, 7, rows)
    step, S = Neighbors(4).fit(X), dense_adjacency(X, 4)
    A_X, A_Z = step.weights(new).toarray(), step.weights(other).toarray()
    for K, walk in zip(values, walks, strict=True):
        expected = A_X @ dense_diffusion(S, walk.restart, 2) @ A_Z.T
        assert_allclose(K, expected, rtol=0, atol=1e-8)
        assert_allclose(K, DiffusionKernel(walk)(new, other), rtol=0, atol=1e-8)
    again = diffused_values(walks, other, new)
    assert_allclose(again, values.transpose(0, 2, 1), rtol=0, atol=1e-12)


def test_values_of_long_walks_by_factors_are_those_of_the_series(X, rng, monkeypatch):
    first = Diffusion(4, 1e-3, 2).fit(X)
    walks = [first, first.variant(restart=1e-2)]
    new, other = rng.normal(size=(7, 3)), rng.normal(size=(5, 3))
    assert all(walk._is_factored for walk in walks)
    by_factor = diffused_values(walks, new, other)
    step, S = Neighbors(4).fit(X), dense_adjacency(X, 4)
    A_X, A_Z = step.weights(new).toarray(), step.weights(other).toarray()
    for K, walk in zip(by_factor, walks, strict=True):
        expected = A_X @ dense_diffusion(S, walk.restart, 2) @ A_Z.T
        assert_allclose(K, expected, rtol=0, atol=1e-10)
    monkeypatch.setattr("halfmoon.smoothers._diffusion.MAX_FACTORED_ROWS", 0)
    assert_allclose(diffused_values(walks, new, other), by_factor, rtol=0, atol=1e-8)
