"""The one entry: what it returns for each kind of request, and what it refuses."""

from __future__ import annotations

import logging
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from halfmoon._landmarks.methods import select_landmarks
from halfmoon._landmarks.rpcholesky import randomly_pivoted_cholesky
from halfmoon._landmarks.sampling import leverage, ridge_leverage_scores
from halfmoon.kernels import Gaussian, Kernel, Linear

NAMES = ["rpcholesky", "uniform", "kmeans++", "leverage"]
KERNEL = Gaussian(1.0)


class Conditional(Kernel):
    """-|x - z|, positive definite only up to constants."""

    conditional_degree = 0

    def _value(self, X, Z):
        return -np.abs(X - Z.T)

    def _diag(self, X):
        return np.zeros(len(X))


@pytest.fixture
def X():
    return np.random.default_rng(3).standard_normal((50, 3))


def rows_in(Z, X):
    """Numbers of the rows of X that Z holds."""
    return [int(np.flatnonzero((z == X).all(axis=1))[0]) for z in Z]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_of_X_in_its_dtype(X, name, dtype):
    X = X.astype(dtype)
    Z = select_landmarks(X, 12, name, kernel=KERNEL, rng=0)
    assert Z.shape == (12, 3)
    assert Z.dtype == dtype
    assert len(set(rows_in(Z, X))) == 12
    assert_array_equal(Z, select_landmarks(X, 12, name, kernel=KERNEL, rng=0))


@pytest.mark.parametrize("name", NAMES)
def test_sparse_rows_stay_sparse(name):
    X = sp.random_array(
        (60, 20), density=0.3, format="csr", rng=np.random.default_rng(4)
    ).astype(np.float32)
    Z = select_landmarks(X, 10, name, kernel=KERNEL, rng=0)
    assert sp.issparse(Z)
    assert Z.dtype == np.float32
    dense = select_landmarks(X.toarray(), 10, name, kernel=KERNEL, rng=0)
    assert_array_equal(Z.toarray(), dense)


@pytest.mark.parametrize("name", NAMES)
def test_memory_map(X, name, tmp_path):
    np.save(tmp_path / "rows.npy", X.astype(np.float32))
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    Z = select_landmarks(mapped, 10, name, kernel=KERNEL, rng=0)
    expected = select_landmarks(np.array(mapped), 10, name, kernel=KERNEL, rng=0)
    assert_array_equal(Z, expected)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n_components", [None, 50, np.int64(51), 10_000])
def test_all_rows_in_order(X, name, n_components):
    assert select_landmarks(X, n_components, name, kernel=KERNEL) is X


@pytest.mark.parametrize("name", NAMES)
def test_never_without_landmarks(name):
    Z = select_landmarks(np.zeros((9, 2)), 4, name, kernel=Linear(), rng=0)
    assert Z.shape[0] >= 1


def test_repeated_rows_give_fewer(X):
    X = np.repeat(X[:5], 10, axis=0)
    for name in ("rpcholesky", "kmeans++"):
        Z = select_landmarks(X, 20, name, kernel=KERNEL, rng=0)
        assert np.unique(Z, axis=0).shape == Z.shape == (5, 3)


@pytest.mark.parametrize("dtype", [np.int64, np.uint8])
def test_indices(X, dtype):
    J = np.array([7, 0, 49], dtype=dtype)
    assert_array_equal(select_landmarks(X, None, J, kernel=KERNEL), X[[7, 0, 49]])
    assert_array_equal(select_landmarks(X, 9, [3, 1], kernel=KERNEL), X[[3, 1]])


def test_rows_given(X):
    Z = np.ones((4, 3), dtype=np.float32)
    assert select_landmarks(X, 9, Z, kernel=KERNEL) is Z
    sparse = select_landmarks(X, 9, sp.coo_array(Z), kernel=KERNEL)
    assert_array_equal(sparse.toarray(), Z)


def test_conditional_kernels_need_a_method_without_the_kernel(X):
    X, kernel = X[:, :1], Conditional()
    for name in ("uniform", "kmeans++"):
        assert select_landmarks(X, 5, name, kernel=kernel, rng=0).shape == (5, 1)
    for name in ("rpcholesky", "leverage"):
        with pytest.raises(ValueError, match=r"'uniform' or 'kmeans\+\+'"):
            select_landmarks(X, 5, name, kernel=kernel)
    with pytest.raises(ValueError, match="positive definite"):
        randomly_pivoted_cholesky(kernel, X, 5)
    with pytest.raises(ValueError, match="positive definite"):
        leverage(kernel, X, 5)
    with pytest.raises(ValueError, match="positive definite"):
        ridge_leverage_scores(kernel, X, 1.0)


@pytest.mark.parametrize("as_sparse", [False, True])
def test_memory_limit_samples_rows(as_sparse, caplog):
    X = np.random.default_rng(5).standard_normal((40_000, 2)).astype(np.float32)
    X = sp.csr_array(X) if as_sparse else X
    limit, kernel = 2 * 2**20, Gaussian(0.2)
    tracemalloc.start()
    with caplog.at_level(logging.INFO):
        Z = select_landmarks(X, 50, kernel=kernel, rng=0, memory_limit=limit)
        _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert Z.shape == (50, 2)
    assert "uniform sample" in caplog.text
    # The factor of all rows is 16 MB; row blocks add 8 MB at most.
    assert peak < limit + 10 * 2**20
    tiny = select_landmarks(X, 50, kernel=kernel, rng=0, memory_limit=1)
    assert tiny.shape == (50, 2)


@pytest.mark.parametrize("n_components", [0, -3, 2.0, "ten", True, np.True_])
def test_n_components_must_be_a_count(X, n_components):
    with pytest.raises(ValueError, match="n_components is"):
        select_landmarks(X, n_components, kernel=KERNEL)


def test_unknown_method_lists_the_known_ones(X):
    with pytest.raises(ValueError, match="'kmeans' is not a method") as error:
        select_landmarks(X, 5, "kmeans", kernel=KERNEL)
    assert all(repr(name) in str(error.value) for name in NAMES)


@pytest.mark.parametrize(
    ("indices", "message"),
    [
        ([0, 50], "from 0 to 49"),
        ([-1, 2], "from 0 to 49"),
        ([4, 4, 1], "row 4 more than once"),
        ([0.0, 1.0], "row numbers"),
        ([True, False], "flatnonzero"),
        ([], "row numbers"),
        (3, "one-dimensional"),
    ],
)
def test_indices_refused(X, indices, message):
    with pytest.raises(ValueError, match=message):
        select_landmarks(X, None, np.array(indices), kernel=KERNEL)


def test_rows_refused(X):
    with pytest.raises(ValueError, match="2 columns and X has 3"):
        select_landmarks(X, None, np.ones((4, 2)), kernel=KERNEL)
    with pytest.raises(
        ValueError, match="landmarks contains NaN or infinity, first infinity in row 1"
    ):
        select_landmarks(X, None, [[1.0, 1, 1], [1, np.inf, 1]], kernel=KERNEL)
    with pytest.raises(ValueError, match="at least one of each"):
        select_landmarks(X, None, np.ones((0, 3)), kernel=KERNEL)
    with pytest.raises(ValueError, match="a table of rows and columns"):
        select_landmarks(X[0], 1, kernel=KERNEL)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_non_finite_rows_are_named(X, name, make, monkeypatch):
    monkeypatch.setattr("halfmoon._rows.SLICE_ENTRIES", 7 * 3)
    X[:, 0] = 0.0  # so that a place among the stored values is not a place in the rows
    X[33, 1] = np.nan
    with pytest.raises(ValueError, match="first NaN in row 33, column 1;"):
        select_landmarks(make(X), 5, name, kernel=KERNEL)
    with pytest.raises(ValueError, match="text"):
        select_landmarks(X.astype(str).astype(object) + "a", 5, name, kernel=KERNEL)
