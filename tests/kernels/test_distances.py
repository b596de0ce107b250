import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon.kernels._distances import squared_distances, squared_norms


def exact(X, Z):
    return ((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=-1)


@pytest.mark.parametrize("d", [1, 2, 7, 100])
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_equals_the_sum_of_squared_differences(d, offset):
    rng = np.random.default_rng(0)
    X, Z = offset + rng.normal(size=(20, d)), offset + rng.normal(size=(15, d))
    # Rows are centered, so an offset costs no digits.
    assert_allclose(squared_distances(X, Z), exact(X, Z), rtol=1e-11, atol=1e-13 * d)


@pytest.mark.parametrize("d", [1, 3, 50, 784])
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_equal_rows_are_at_distance_exactly_zero(d, offset):
    rng = np.random.default_rng(1)
    X = offset + rng.normal(size=(60, d)) * rng.gamma(1.0, size=d)
    order = rng.permutation(60)
    q = squared_distances(X, X[order])
    assert_array_equal(q[order, np.arange(60)], 0.0)
    assert (q[q != 0] > 0).all()
    assert np.count_nonzero(q == 0) == 60


def test_the_diagonal_is_zero_for_the_same_rows():
    X = np.random.default_rng(2).uniform(size=(50, 300))
    assert_array_equal(np.diag(squared_distances(X, X)), 0.0)
    assert_allclose(squared_distances(X, X), exact(X, X), rtol=1e-11, atol=1e-12)


def test_sparse_rows():
    rng = np.random.default_rng(3)
    X, Z = rng.normal(size=(20, 30)), rng.normal(size=(15, 30))
    X[rng.uniform(size=X.shape) < 0.8] = 0.0
    expected = exact(X, Z)
    S, T = sp.csr_array(X), sp.csr_array(Z)
    for left, right in [(S, T), (S, Z), (X, T)]:
        actual = squared_distances(left, right)
        assert isinstance(actual, np.ndarray)
        assert_allclose(actual, expected, rtol=1e-11)
    assert_array_equal(np.diag(squared_distances(S, S.copy())), 0.0)
    assert_array_equal(np.diag(squared_distances(S, S)), 0.0)


def test_squared_norms():
    X = np.array([[3.0, 4.0], [0.0, 0.0], [-1.0, 2.0]])
    assert_array_equal(squared_norms(X), [25.0, 0.0, 5.0])
    assert_array_equal(squared_norms(sp.csr_array(X)), [25.0, 0.0, 5.0])


def test_far_rows_lose_no_more_than_rounding():
    X, Z = np.array([[0.0], [1e8]]), np.array([[1.0], [1e8 + 1.0]])
    assert_allclose(squared_distances(X, Z)[0, 1], (1e8 + 1.0) ** 2, rtol=1e-14)
