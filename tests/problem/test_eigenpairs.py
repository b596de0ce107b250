"""Generalized eigenpairs against their definition and scipy's."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg as sla
from numpy.testing import assert_allclose

from halfmoon._whitening import whitening
from halfmoon.filters import Cutoff, Heat, Tikhonov
from halfmoon.problem._spectral_filter import filtered, generalized_eigenpairs


@pytest.fixture
def Q(rng):
    A = rng.normal(size=(8, 8))
    return A @ A.T + 0.1 * np.eye(8)


@pytest.fixture
def Sigma(rng):
    A = rng.normal(size=(5, 8))
    return A.T @ A / 5  # rank 5


def test_definition(Sigma, Q):
    pairs = generalized_eigenpairs(Sigma, whitening(Q))
    s, U = pairs.values, pairs.vectors
    assert_allclose(Sigma @ U, Q @ U * s, atol=1e-12)
    assert_allclose(U.T @ Q @ U, np.eye(8), atol=1e-12)
    assert (np.diff(s) <= 0).all()
    assert (s >= 0).all()
    assert_allclose(s, sla.eigh(Sigma, Q, eigvals_only=True)[::-1], atol=1e-12)


def test_numerical_rank_with_duplicates(Sigma, Q):
    # Every function twice: as many pairs as before, with the same values.
    twice = np.ix_(np.arange(16) % 8, np.arange(16) % 8)
    pairs = generalized_eigenpairs(Sigma[twice], whitening(Q[twice]))
    s, U = pairs.values, pairs.vectors
    assert s.shape == (8,)
    assert U.shape == (16, 8)
    expected = sla.eigh(Sigma, Q, eigvals_only=True)[::-1]
    assert_allclose(s, expected, atol=1e-11)
    assert_allclose(U.T @ Q[twice] @ U, np.eye(8), atol=1e-10)
    assert_allclose(Sigma[twice] @ U, Q[twice] @ U * s, atol=1e-10)


@pytest.mark.parametrize("psi", [Tikhonov(0.1), Cutoff(0.05), Heat(0.3)], ids=repr)
def test_filtered(Sigma, Q, psi, rng):
    b = rng.normal(size=(8, 2))
    s, U = sla.eigh(Sigma, Q)
    expected = U @ (psi(s)[:, None] * (U.T @ b))
    actual = filtered(generalized_eigenpairs(Sigma, whitening(Q)), b, psi)
    assert_allclose(actual, expected, rtol=1e-8, atol=1e-10)


def test_tikhonov_is_a_linear_system(Sigma, Q, rng):
    b = rng.normal(size=(8, 2))
    actual = filtered(generalized_eigenpairs(Sigma, whitening(Q)), b, Tikhonov(0.2))
    assert_allclose(actual, np.linalg.solve(Sigma + 0.2 * Q, b), rtol=1e-9)
