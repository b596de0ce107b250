"""Kernel ridge at one lam, compared with dense systems and with actual refits."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from halfmoon._solvers import cholesky_ridge as point
from halfmoon._solvers.cholesky_ridge import (
    factor_of_path,
    factor_point,
    ridge_point,
)
from halfmoon._solvers.elimination import Elimination
from halfmoon._solvers.ridge import ridge_dual

S, LAM = 14, 0.3


def block_system(K, F, y, w, lam):
    """c and beta of [[K + lam W^-1, F], [F', 0]], F of full rank."""
    k = F.shape[1]
    M = np.block([[K + lam * np.diag(1 / w), F], [F.T, np.zeros((k, k))]])
    solution = np.linalg.solve(M, np.vstack([y, np.zeros((k, y.shape[1]))]))
    return solution[: len(K)], solution[len(K) :]


@pytest.fixture
def data(rng):
    Z = rng.normal(size=(S, 2))
    K = np.exp(-((Z[:, None] - Z[None]) ** 2).sum(-1))
    F = np.column_stack([np.ones(S), Z[:, 0], 40.0 + rng.normal(size=S)])
    return K, F, rng.normal(size=(S, 2)) + 5, rng.uniform(0.2, 3, S)


@pytest.mark.parametrize("lam", [1e-6, LAM, 1e4])
@pytest.mark.parametrize("k", [0, 1, 3])
def test_the_block_system_and_refits_without_each_row(data, k, lam):
    K, F, y, w = data
    F = F[:, :k]
    before = K.copy()
    found = ridge_point(K, F, y, w, lam)
    assert_allclose(K, before, rtol=0)
    c, beta = block_system(K, F, y, w, lam)
    size = np.abs(c).max()
    assert_allclose(found.c, c, rtol=1e-7, atol=1e-9 * size)
    assert_allclose(found.beta, beta, rtol=1e-7)
    assert_allclose(found.energy, (y * c).sum(axis=0), rtol=1e-7)
    assert found.degrees == S - k
    for i in range(S):
        rest = np.delete(np.arange(S), i)
        c, beta = block_system(K[np.ix_(rest, rest)], F[rest], y[rest], w[rest], lam)
        expected = y[i] - K[i, rest] @ c - F[i] @ beta
        assert_allclose(found.residuals[i], expected, rtol=1e-6, atol=1e-9)


def test_dependent_columns_have_coefficients_of_least_norm(data):
    K, F, y, w = data
    both = np.column_stack([F[:, 0], F[:, 1], 2 * F[:, 0] - F[:, 1], 0 * F[:, 0]])
    found = ridge_point(K, both, y, w, LAM)
    c, beta = block_system(K, F[:, :2], y, w, LAM)
    assert_allclose(found.c, c, rtol=1e-8, atol=1e-11)
    assert_allclose(found.beta, np.linalg.pinv(both) @ (F[:, :2] @ beta), rtol=1e-8)
    assert_allclose(
        found.residuals, ridge_point(K, F[:, :2], y, w, LAM).residuals, rtol=1e-8
    )
    assert found.degrees == S - 2


def test_nothing_is_known_of_a_row_that_alone_has_a_feature(data):
    K, F, y, w = data
    F = np.column_stack([np.ones(S), np.arange(S) == 4])
    residuals = ridge_point(K, F, y, w, LAM).residuals
    assert np.isinf(residuals[4]).all()
    rest = np.delete(np.arange(S), 4)
    without = ridge_point(K[np.ix_(rest, rest)], F[rest, :1], y[rest], w[rest], LAM)
    assert_allclose(residuals[rest], without.residuals, rtol=1e-9)
    alone = ridge_point(np.ones((1, 1)), np.ones((1, 1)), y[:1], w[:1], LAM)
    assert np.isinf(alone.residuals).all()
    assert_allclose(alone.beta, y[:1])
    assert alone.degrees == 0


def test_more_features_than_rows(data):
    K, F, y, w = data
    found = ridge_point(K[:2, :2], F[:2], y[:2], w[:2], LAM)
    assert_allclose(F[:2] @ found.beta, y[:2], rtol=1e-9)
    assert_allclose(found.c, 0, atol=1e-12)
    assert found.degrees == 0


@pytest.mark.parametrize("k", [0, 1, 3])
def test_the_path_answers_where_cholesky_fails(data, k, monkeypatch):
    K, F, y, w = data
    expected = ridge_point(K, F[:, :k], y, w, LAM)
    monkeypatch.setattr(point, "half_of_G", lambda *_: None)
    for value, other in zip(ridge_point(K, F[:, :k], y, w, LAM), expected, strict=True):
        assert_allclose(value, other, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("lam", [0.0, 1e-300, 1e-18])
def test_a_singular_kernel_matrix(data, lam):
    # Equal rows in pairs, and next to no penalty: pairs are averaged.
    K, F, y, w = data
    pairs = np.repeat(np.arange(S // 2), 2)
    K, F = K[np.ix_(pairs, pairs)], F[:, :1]
    found = ridge_point(K, F, y, w, lam)
    weighted = w[:, None] * y
    mean = (weighted[::2] + weighted[1::2]) / (w[::2] + w[1::2])[:, None]
    assert_allclose(K @ found.c + F @ found.beta, mean[pairs], rtol=1e-6)
    other = np.arange(S) ^ 1  # without its label, only its copy determines a row
    assert_allclose(found.residuals, y - y[other], rtol=1e-6)


def test_a_conditionally_positive_definite_kernel(rng, data):
    _, _, y, w = data
    x = rng.uniform(size=S)
    K, F = -np.abs(x[:, None] - x), np.ones((S, 1))
    found = ridge_point(K, F, y, w, 0.01)
    c, beta = block_system(K, F, y, w, 0.01)
    assert_allclose(found.c, c, rtol=1e-8)
    assert_allclose(found.beta, beta, rtol=1e-8)
    with pytest.raises(ValueError, match="not positive definite"):
        ridge_point(K, F[:, :0], y, w, 0.01)


def test_leave_one_out_loses_no_digits_where_a_feature_hangs_on_one_row(data):
    # 1 - H_ii of row 4 is about 1e-12: differences of squares would have 4 digits.
    K, _, y, w = data
    F = np.column_stack([np.ones(S), 1e-3 * np.arange(S) + 1e3 * (np.arange(S) == 4)])
    found = ridge_point(K, F, y, w, LAM)
    rest = np.delete(np.arange(S), 4)
    c, beta = block_system(K[np.ix_(rest, rest)], F[rest], y[rest], w[rest], LAM)
    expected = y[4] - K[4, rest] @ c - F[4] @ beta
    assert_allclose(found.residuals[4], expected, rtol=1e-6)


def test_a_point_of_the_path(data):
    K, F, y, w = data
    root = np.sqrt(w)[:, None]
    path = ridge_dual(root * K * root.T, root * y, Elimination(root * F), w.sum())
    found = ridge_point(K, F, y, w, 0.05 * w.sum())
    assert_allclose(found.c, root * path.theta(0.05), rtol=1e-8, atol=1e-11)
    assert_allclose(found.beta, path.beta(0.05), rtol=1e-8)
    _, tau = path.scales(0.05)
    assert_allclose(found.energy / found.degrees, tau, rtol=1e-9)


@pytest.mark.parametrize("lam", [-1.0, np.nan, np.inf])
def test_a_penalty_must_be_a_number_that_is_not_negative(data, lam):
    with pytest.raises(ValueError, match="lam is"):
        ridge_point(*data, lam)


@pytest.mark.parametrize("by_path", [False, True])
@pytest.mark.parametrize("k", [0, 1, 3])
def test_smoother_and_variance_at_new_rows(data, rng, k, by_path, monkeypatch):
    K, F, _, w = data
    x, F = rng.normal(size=(5, S)), F[:, :k]
    k_x, f_x = 0.1 * x @ K, rng.normal(size=(5, k))
    k_xx = 1 + np.einsum("ij,ij->i", 0.01 * x @ K, x)  # a positive definite whole
    if by_path:
        monkeypatch.setattr(point, "half_of_G", lambda *_: None)
    factor = factor_point(K, F, w, LAM)
    M = np.block([[K + LAM * np.diag(1 / w), F], [F.T, np.zeros((k, k))]])
    right = np.hstack([k_x, f_x]).T
    solution = np.linalg.solve(M, right)
    H = factor.smoother_matrix(k_x, f_x)
    assert_allclose(H, solution[:S].T, rtol=1e-8, atol=1e-11)
    variance = k_xx - np.einsum("ji,ji->i", right, solution)
    assert_allclose(factor.variance(k_x, k_xx, f_x), variance, rtol=1e-8)


def test_smoother_and_variance_with_dependent_columns(data, rng):
    K, F, y, w = data
    both = np.column_stack([F[:, 0], F[:, 1], F[:, 0] + F[:, 1]])
    k_x, f_x = rng.normal(size=(5, S)) @ K, rng.normal(size=(5, 3))
    factor, found = factor_point(K, both, w, LAM), ridge_point(K, both, y, w, LAM)
    values = k_x @ found.c + f_x @ found.beta
    assert_allclose(factor.smoother_matrix(k_x, f_x) @ y, values, rtol=1e-8)


@pytest.mark.parametrize("lam", [1e-6, 1e-9, 1e-12, 1e-15])
def test_variance_at_the_labeled_rows_is_their_noise(data, lam):
    # k(x, x) - k'A^-1 k has no digits left here.
    K, F, y, w = data
    K = K + np.eye(S)
    root = np.sqrt(w)[:, None]
    path = ridge_dual(root * K * root.T, root * y, Elimination(root * F), 1.0)
    expected = factor_of_path(path, lam).variance(K * root.T, np.diag(K), F)
    found = factor_point(K, F, w, lam).variance(K, np.diag(K), F)
    assert_allclose(found, expected, rtol=1e-7)
    assert_allclose(found, lam / w, rtol=1e-5)
