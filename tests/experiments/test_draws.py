"""Theorem 5.2 by draws, against the matrix M written out, and in long double."""

import numpy as np
import pytest
from experiments.conditional.draws import drawn_ratio, plain_ratio
from numpy.testing import assert_allclose


def by_projection(s, xi, dtype):
    """The diagonal of (I - Pi) S (I - Pi) over s, Pi on the span of the features."""
    s = s.astype(dtype)
    Q = (xi * np.sqrt(s)).T.astype(dtype)
    for j in range(Q.shape[1]):
        for _ in range(2):  # Gram and Schmidt, and once more for rounding
            Q[:, j] -= Q[:, :j] @ (Q[:, :j].T @ Q[:, j])
        Q[:, j] /= np.sqrt(Q[:, j] @ Q[:, j])
    rest = np.eye(len(s)) - Q @ Q.T
    return (rest**2 @ s) / s


@pytest.mark.parametrize("a", [4.0, 2.0, 1.1])
def test_as_written_in_the_theorem(a):
    s, k, modes = np.arange(1, 81) ** -a, 12, np.array([0, 3, 11, 12, 40, 79])
    xi = np.random.default_rng(3).standard_normal((k, 80))
    G = (xi * s) @ xi.T
    M = xi.T @ np.linalg.solve(G, xi)
    expected = (1 - 2 * s * np.diag(M) + M**2 @ s**2)[modes]
    actual = drawn_ratio(s, k, modes, np.random.default_rng(3))
    assert_allclose(actual, expected, rtol=1e-7, atol=1e-9)
    plain, rank = plain_ratio(s, k, modes, np.random.default_rng(3))
    assert_allclose(plain, expected, rtol=1e-7, atol=1e-9)
    assert rank == k


def test_where_the_gram_matrix_is_singular():
    """exp(-i / 2) and 70 features: G falls by 15 decades, its root by 7."""
    s, k, every = np.exp(-0.5 * np.arange(1, 161)), 70, np.arange(160)
    xi = np.random.default_rng(3).standard_normal((k, 160))
    expected = by_projection(s, xi, np.longdouble).astype(float)
    actual = drawn_ratio(s, k, every, np.random.default_rng(3))
    assert_allclose(actual, expected, rtol=1e-12, atol=1e-12)
    plain, rank = plain_ratio(s, k, every, np.random.default_rng(3))
    assert rank < k
    assert np.abs(plain / expected - 1)[80:].max() > 0.01


def test_modes_beyond_enter_by_their_mean(rng):
    """400 modes, or 60 and the mean of the rest: the same up to how the rest varies."""
    s, k, modes = np.arange(1, 401) ** -1.1, 10, np.arange(20, 60)
    few, rest = s[:60], s[60:]

    def mean(s, *tail):
        return np.mean([drawn_ratio(s, k, modes, rng, *tail) for _ in range(200)], 0)

    whole = mean(s)
    assert_allclose(mean(few, rest.sum(), (rest**2).sum()), whole, rtol=0.05)
    assert np.abs(mean(few) / whole - 1).max() > 0.1
