from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from scipy.stats import chisquare

from halfmoon._landmarks.sampling import kmeans_plusplus, uniform


def test_different_rows_in_order():
    chosen = uniform(100, 30, rng=0)
    assert chosen.size == 30
    assert (np.diff(chosen) > 0).all()
    assert_array_equal(chosen, uniform(100, 30, rng=np.random.default_rng(0)))
    assert_array_equal(uniform(4, 9), [0, 1, 2, 3])


def test_each_row_is_as_likely():
    rng = np.random.default_rng(1)
    counts = np.bincount(np.concatenate([uniform(8, 2, rng) for _ in range(2_000)]))
    assert chisquare(counts).pvalue > 1e-3


def test_one_row_of_each_far_cluster():
    rng = np.random.default_rng(0)
    label = rng.integers(6, size=300)
    X = rng.normal(0, 0.01, (300, 2)) + 10 * np.eye(6)[label][:, :2] + label[:, None]
    chosen = kmeans_plusplus(X, 6, rng=0)
    assert_array_equal(np.sort(label[chosen]), np.arange(6))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csr_matrix])
def test_equal_rows_are_chosen_once(dtype, make):
    rng = np.random.default_rng(1)
    distinct = 3 * np.arange(10)[:, None] + np.array([[0, 1, 2]])
    X = distinct[rng.integers(10, size=200)].astype(dtype)
    chosen = kmeans_plusplus(make(X), 50, rng=0)
    assert np.unique(X[chosen], axis=0).shape[0] == chosen.size == 10


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_kmeans_plusplus_does_not_feel_an_offset(make, rng):
    X = rng.integers(-20, 20, size=(200, 3)).astype(float)  # exact at any offset
    expected = kmeans_plusplus(make(X), 20, rng=0)
    assert_array_equal(kmeans_plusplus(make(X + 2.0**40), 20, rng=0), expected)


def test_a_seed_gives_the_same_rows():
    X = np.random.default_rng(2).standard_normal((100, 3))
    assert_array_equal(
        kmeans_plusplus(X, 20, 4), kmeans_plusplus(X, 20, np.random.default_rng(4))
    )
    assert_array_equal(
        kmeans_plusplus(X, 20, 4), kmeans_plusplus(sp.csr_array(X), 20, 4)
    )
    assert not np.array_equal(kmeans_plusplus(X, 20, 4), kmeans_plusplus(X, 20, 5))
