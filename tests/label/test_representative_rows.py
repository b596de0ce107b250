"""Rows that represent a table, compared with the distance that they minimize."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from halfmoon._label.representative_rows import representative_rows
from halfmoon.blocks import Stream
from halfmoon.kernels import Gaussian


def squared_distance(K, chosen):
    """Equation (1), squared, from the whole kernel matrix."""
    S = np.flatnonzero(chosen)
    between = K[np.ix_(S, range(len(K)))].mean()
    return K[np.ix_(S, S)].mean() - 2 * between + K.mean()


def by_trying_all(X, count, labeled, free):
    scaled = X / X.std(axis=0)
    K = Gaussian().resolve(scaled, np.random.default_rng(0))(scaled, scaled)
    chosen, free, picks = labeled.copy(), free.copy(), []
    for _ in range(count):
        tried = {}
        for row in np.flatnonzero(free):
            chosen[row], before = True, chosen[row]
            tried[row] = squared_distance(K, chosen)
            chosen[row] = before
        picks.append(min(tried, key=tried.get))
        chosen[picks[-1]], free[picks[-1]] = True, False
    return picks


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * [1.0, 5.0, 0.1]
    X[:20] += 3.0
    labeled = rng.random(60) < 0.1
    return X, labeled, ~labeled & (rng.random(60) < 0.9)


@pytest.mark.parametrize("some", [True, False])
def test_each_row_reduces_the_distance_most(table, some):
    X, labeled, free = table
    if not some:
        labeled = np.zeros(60, dtype=bool)
    expected = by_trying_all(X, 12, labeled, free)
    assert_array_equal(representative_rows(X, 12, labeled, free), expected)
    assert_array_equal(
        representative_rows(sp.csr_array(X), 12, labeled, free), expected
    )
    with Stream("20kB", n_jobs=1).handed_down():  # a few rows at a time
        assert_array_equal(representative_rows(X, 12, labeled, free), expected)


def test_only_free_rows_are_returned(table):
    X, labeled, free = table
    found = representative_rows(X, 100, labeled, free)
    assert sorted(found) == np.flatnonzero(free).tolist()
    assert len(representative_rows(X, 5, labeled, np.zeros(60, dtype=bool))) == 0


def test_equal_rows_and_constant_columns():
    X = np.ones((5, 2))
    none, every = np.zeros(5, dtype=bool), np.ones(5, dtype=bool)
    assert sorted(representative_rows(X, 5, none, every)) == [0, 1, 2, 3, 4]
