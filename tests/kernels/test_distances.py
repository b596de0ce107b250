"""Squared distances of rows of very different sizes, compared with differences."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from halfmoon import ConditionalRegressor, LaplacianRegressor
from halfmoon._moments import dirichlet
from halfmoon.bases import Exact
from halfmoon.blocks import Stream
from halfmoon.kernels import Gaussian, Laplace, Matern, ThinPlate
from halfmoon.kernels import _length_scales as length_scales
from halfmoon.kernels._length_scales import squared_distances
from helpers import peak_bytes


def far_rows(kind, n, d):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    if kind == "one far":
        X[n // 3] = 1e12
    elif kind == "each farther":
        X[:8] *= 10.0 ** np.arange(1, 9)[:, None]
    elif kind == "pairs far away":
        X[0], X[1] = 1e12, 1e12
        X[1, 0] += 3.0
    elif kind == "two groups":
        X[::2] += 1e8
    elif kind == "many groups":
        X += 1e7 * rng.integers(20, size=(n, 1))
    elif kind == "offset":
        X += 1e9
    return X


KINDS = ["one far", "each farther", "pairs far away", "two groups", "many groups"]


@pytest.mark.parametrize("container", [np.array, np.asfortranarray, sp.csr_array])
@pytest.mark.parametrize("d", [1, 4, 120])
@pytest.mark.parametrize("kind", [*KINDS, "offset"])
def test_every_distance_has_nine_digits(kind, d, container):
    X = far_rows(kind, 90, d)
    Z = X[20:70].copy()
    assert_allclose(
        squared_distances(container(X), container(Z)),
        cdist(X, Z, "sqeuclidean"),
        rtol=1e-9,
    )
    q = squared_distances(S := container(X), S)
    assert_allclose(q, cdist(X, X, "sqeuclidean"), rtol=1e-9)
    assert_array_equal(np.diag(q), 0.0)


@pytest.mark.parametrize("kind", KINDS)
def test_float32_rows_are_compared_as_they_are_stored(kind):
    X = far_rows(kind, 60, 3).astype(np.float32)
    exact = cdist(X.astype(np.float64), X.astype(np.float64), "sqeuclidean")
    assert_allclose(Gaussian(1.0)(X), np.exp(-exact / 2), rtol=1e-7)


@pytest.mark.parametrize("container", [np.array, sp.csr_array])
@pytest.mark.parametrize("kind", KINDS)
def test_blocks_of_rows_agree(kind, container, monkeypatch):
    X = far_rows(kind, 90, 3)
    whole = squared_distances(container(X), container(X[:40]))
    monkeypatch.setattr(length_scales, "CACHED_ENTRIES", 100)
    monkeypatch.setattr(length_scales, "SLICE_ENTRIES", 100)
    in_blocks = Stream(block_rows=7).map(
        lambda rows: squared_distances(rows, container(X[:40])),
        container(X),
        row_bytes=8,
    )
    assert_allclose(in_blocks, whole, rtol=1e-10)


@pytest.mark.parametrize(
    "kernel", [Gaussian(1.5), Laplace(1.5), Matern(2.5, 1.5), ThinPlate()], ids=repr
)
@pytest.mark.parametrize("kind", ["one far", "two groups"])
def test_gradients_at_ordinary_rows_do_not_feel_far_ones(kind, kernel):
    X = far_rows(kind, 60, 3)
    near = np.arange(1, 60, 2)  # far rows have even numbers
    A, B = kernel.gradient_coefficients(X, X)
    exact, _ = kernel.gradient_coefficients(X[near], X[near])
    assert_allclose(A[np.ix_(near, near)], exact, rtol=1e-7)
    assert_array_equal(B, -A)


@pytest.mark.parametrize("kind", KINDS)
def test_sums_of_kernels_do_not_feel_far_rows(kind):
    X = far_rows(kind, 80, 3)
    C = np.random.default_rng(1).normal(size=(80, 2))
    expected = np.exp(-cdist(X, X, "sqeuclidean") / 2) @ C
    assert_allclose(Gaussian(1.0).combination(X, C)(X), expected, atol=1e-7)


def test_the_energy_of_ordinary_rows_does_not_feel_a_far_one():
    X = far_rows("one far", 60, 2)
    others = np.delete(X, 20, axis=0)
    E = dirichlet(Exact(Gaussian(1.0)).fit(X), X)
    alone = dirichlet(Exact(Gaussian(1.0)).fit(others), others)
    ordinary = np.delete(np.delete(E, 20, axis=0), 20, axis=1)
    assert_allclose(60 * ordinary, 59 * alone, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_an_unlabeled_row_far_away_changes_no_prediction(dtype):
    X = far_rows("one far", 60, 2).astype(dtype)
    y = np.where(np.arange(60) % 3 == 1, np.sin(X[:, 0]), np.nan)
    others = np.arange(60) != 20

    def values(model, rows):
        return model.fit(X[rows], y[rows]).predict(X[others])

    model = ConditionalRegressor(Gaussian(1.0), alpha=1e-3)
    assert_allclose(values(model, slice(None)), values(model, others), atol=1e-12)
    # The energy is a mean over all rows, and the far row has no gradient.
    kernel, share = Matern(1.5, 1.0), 59 / 60
    model = LaplacianRegressor(kernel, alpha=1e-3 / share, mu=share, unpenalized=None)
    alone = LaplacianRegressor(kernel, alpha=1e-3, mu=1.0, unpenalized=None)
    assert_allclose(values(model, slice(None)), values(alone, others), atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", [*KINDS, "offset"])
def test_tiles_of_wide_rows_agree(kind, dtype, monkeypatch):
    X = far_rows(kind, 90, 23).astype(dtype)
    Z = X[20:70].copy()
    monkeypatch.setattr(length_scales, "WIDE_ENTRIES", 100)
    monkeypatch.setattr(length_scales, "TILE_ROWS", 7)
    monkeypatch.setattr(length_scales, "TILE_COLUMNS", 5)
    exact = cdist(X.astype(np.float64), Z.astype(np.float64), "sqeuclidean")
    assert_allclose(squared_distances(X, Z), exact, rtol=1e-9)
    assert_allclose(squared_distances(sp.csr_array(X), Z), exact, rtol=1e-9)
    q = squared_distances(X, X)
    assert_allclose(q[:, 20:70], exact, rtol=1e-9)
    assert_array_equal(np.diag(q), 0.0)


def test_wide_rows_are_not_copied_at_once():
    X = np.random.default_rng(0).normal(size=(80, 60_000)).astype(np.float32)
    peak = peak_bytes(lambda: Gaussian(100.0)(X, X[:60]))
    assert peak < 0.9 * X.nbytes  # some tiles; in float64 they would be twice as much


def test_few_columns_of_distances_take_little_memory():
    X = np.random.default_rng(0).normal(size=(60_000, 30))
    kernel = Gaussian(1.0)
    tracemalloc.start()
    kernel(X, X[:3])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < X.nbytes  # rows are copied a few at a time, not all at once
