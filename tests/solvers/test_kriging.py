"""Kriging variance by elimination, against the bordered system."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon._solvers.cholesky_ridge import factor_of_path
from halfmoon._solvers.elimination import Elimination
from halfmoon._solvers.ridge import ridge_dual


@pytest.mark.parametrize("alpha", [1e-3, 0.5])
@pytest.mark.parametrize("k", [0, 1, 3])
def test_bordered_system(k, alpha, rng):
    X, new = rng.normal(size=(12, 2)), rng.normal(size=(6, 2))
    w = rng.uniform(0.3, 3, 12)
    root, lam = np.sqrt(w), alpha * w.sum()

    def kernel(A, B):
        return np.exp(-((A[:, None] - B[None]) ** 2).sum(-1))

    def features(x):
        return np.c_[np.ones(len(x)), x][:, :k]

    # [K + lam W^-1, F; F', 0] in the rows as they are, roots of weights in the code
    A = kernel(X, X) + lam * np.diag(1 / w)
    F = features(X)
    border = np.block([[A, F], [F.T, np.zeros((k, k))]])
    right = np.vstack([kernel(X, new), features(new).T])
    expected = 1 - np.einsum("ij,ij->j", right, np.linalg.solve(border, right))
    elimination = Elimination(root[:, None] * F)
    K = root[:, None] * kernel(X, X) * root
    path = ridge_dual(K, rng.normal(size=(12, 1)), elimination, w.sum())
    factor, rows = factor_of_path(path, lam), (kernel(new, X) * root, features(new))
    by_noise, by_prior = factor.variance_parts(rows[0], np.ones(6), rows[1])
    assert_allclose(by_prior + lam * by_noise, expected, rtol=1e-9)  # tau = 1
    # The noise of the labels in c'y, c from the bordered system itself.
    solution = np.linalg.solve(border, right)
    by_noise = (factor.smoother_matrix(*rows) ** 2).sum(axis=1)
    assert_allclose(by_noise, (solution[:12] ** 2 / w[:, None]).sum(axis=0), rtol=1e-9)
    C = factor.covariance(rows[0], kernel(new, new), rows[1])
    assert_allclose(C, kernel(new, new) - right.T @ solution, rtol=1e-8, atol=1e-12)


def test_never_negative(rng):
    X = rng.normal(size=(40, 1))
    K = np.exp(-((X - X.T) ** 2))
    path = ridge_dual(K, X, Elimination(np.zeros((40, 0))), 40.0)
    factor = factor_of_path(path, 0.0)
    _, by_prior = factor.variance_parts(K, np.ones(40), np.zeros((40, 0)))
    assert (by_prior >= 0).all()
    assert_allclose(by_prior, 0, atol=1e-11)
    none = ridge_dual(
        np.zeros((2, 2)), np.ones((2, 1)), Elimination(np.ones((2, 1))), 2
    )
    k_x, F = np.zeros((3, 2)), np.ones((3, 1))
    by_noise, by_prior = factor_of_path(none, 0.0).variance_parts(k_x, np.zeros(3), F)
    assert_array_equal(by_prior, 0.0)
    assert_allclose(by_noise, 0.5)  # of the mean of two labels
