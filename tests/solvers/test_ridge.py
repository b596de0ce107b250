"""The three ways to one ridge path, against the dense formulas."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from halfmoon._solvers.elimination import Elimination
from halfmoon._solvers.ridge import ridge_dual, ridge_eigh, ridge_svd, ridge_weighted

W = 13.0  # any total weight: the root weights are in the matrices already
ALPHAS = [1e-6, 1e-2, 1.0]


@pytest.fixture(params=[(9, 12), (9, 9), (20, 6)], ids=["wide", "square", "tall"])
def system(request, rng):
    l, r = request.param
    return rng.normal(size=(l, r)), rng.normal(size=(l, 2)), rng.normal(size=(l, 3))


def svd(Phi, y, F):
    return ridge_svd(Phi, y, Elimination(F), W)


def eigh(Phi, y, F):
    e = Elimination(F)
    return ridge_eigh(Phi.T @ Phi, Phi.T @ y, e.Q1.T @ Phi, y, e, W)


def dual(Phi, y, F):
    return ridge_dual(Phi @ Phi.T, y, Elimination(F), W)


def normal_equations(Phi, y, F, lam):
    r, k = Phi.shape[1], F.shape[1]
    A = np.hstack([Phi, F])
    system = A.T @ A + lam * np.diag([1.0] * r + [0.0] * k)
    solution = np.linalg.solve(system, A.T @ y)
    H = A @ np.linalg.solve(system, A.T)
    return solution[:r], solution[r:], H


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("way", [svd, eigh, dual])
def test_coefficients(system, way, alpha):
    Phi, y, F = system
    if (way is svd) == (Phi.shape == (20, 6)):  # each way for its own shape
        way = dual
    path = way(Phi, y, F)
    theta, beta, H = normal_equations(Phi, y, F, W * alpha)
    actual = path.theta(alpha)
    actual = Phi.T @ actual if way is dual else actual
    assert_allclose(actual, theta, rtol=1e-6, atol=1e-8)
    assert_allclose(path.beta(alpha), beta, rtol=1e-6, atol=1e-8)
    assert path.lam(alpha) == W * alpha
    assert_allclose(path.degrees_of_freedom(alpha), np.trace(H), rtol=1e-8)
    r = y - H @ y
    s2 = np.einsum("it,it->t", y, r) / (len(y) - 3)
    assert_allclose(path.scales(alpha)[0], s2, rtol=1e-5)
    assert_allclose(path.scales(alpha)[1], s2 / (W * alpha), rtol=1e-5)
    expected = r / (1 - np.diag(H))[:, None]
    if way is eigh:
        Q1 = path.elimination.Q1
        loo = path.leave_one_out_block(Phi @ path.V, Q1, y, [alpha])[:, 0]
        with pytest.raises(ValueError, match="use leave_one_out_block"):
            path.leave_one_out([alpha])
    else:
        loo = path.leave_one_out([alpha])[0]
    # The formula by residuals loses digits as alpha falls; those by G do not.
    assert_allclose(loo, expected, rtol=1e-3 if alpha < 1e-3 else 1e-8)


@pytest.mark.parametrize("way", [svd, eigh, dual])
def test_all_alphas_at_once(system, way):
    path = way(*system)
    thetas, betas = path.coefficients(ALPHAS)
    for i, alpha in enumerate(ALPHAS):
        assert_allclose(thetas[:, i], path.theta(alpha), rtol=1e-12, atol=1e-12)
        assert_allclose(betas[:, i], path.beta(alpha), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("way", [svd, eigh])
def test_variance_parts(system, way, alpha, rng):
    # s2 a'M a, split into what has s2 and what has tau = s2 / lam as its factor.
    Phi, y, F = system
    path, lam = way(Phi, y, F), W * alpha
    new, features = rng.normal(size=(5, Phi.shape[1])), rng.normal(size=(5, 3))
    a = np.hstack([new, features])
    A = np.hstack([Phi, F])
    M = np.linalg.inv(A.T @ A + lam * np.diag([1.0] * Phi.shape[1] + [0.0] * 3))
    noise, prior = path.variance_parts(new, features, alpha)
    expected = np.einsum("ij,jk,ik->i", a, M, a)
    assert_allclose(noise + prior / lam, expected, rtol=1e-6)
    if Phi.shape[0] - 3 < Phi.shape[1] and way is svd:
        assert (prior > 0).all()
    elif Phi.shape == (20, 6):
        assert_allclose(prior, 0, atol=1e-12)


def test_dual_takes_a_conditionally_positive_definite_kernel(rng):
    # -|x - z| with a free constant: N'K N is positive definite, K is not.
    x = np.sort(rng.uniform(size=12))
    y = rng.normal(size=(12, 1))
    K, F = -np.abs(x[:, None] - x), np.ones((12, 1))
    path = ridge_dual(K, y, Elimination(F), 12.0)
    saddle = np.block([[K + 0.12 * np.eye(12), F], [F.T, np.zeros((1, 1))]])
    expected = np.linalg.solve(saddle, np.r_[y, [[0.0]]])
    assert_allclose(path.theta(0.01), expected[:12], rtol=1e-10, atol=1e-12)
    assert_allclose(path.beta(0.01), expected[12:], rtol=1e-10)
    with pytest.raises(ValueError, match="not positive definite on the complement"):
        ridge_dual(K, y, Elimination(np.zeros((12, 0))), 12.0)


def test_pseudo_inverse_without_a_penalty(rng):
    # Two equal rows and a function that is 0: alpha = 0 is the solution of least norm.
    Phi = rng.normal(size=(6, 9))
    Phi[1], Phi[:, 4] = Phi[0], 0.0
    y, none = rng.normal(size=(6, 1)), np.zeros((6, 0))
    expected = np.linalg.pinv(Phi) @ y
    assert_allclose(svd(Phi, y, none).theta(0.0), expected, rtol=1e-9, atol=1e-12)
    assert_allclose(eigh(Phi, y, none).theta(0.0), expected, rtol=1e-6, atol=1e-9)
    c = dual(Phi, y, none).theta(0.0)
    assert_allclose(Phi.T @ c, expected, rtol=1e-7, atol=1e-10)
    # The limit of a small penalty is the same, in leave-one-out too.
    for path in [svd(Phi, y, none), dual(Phi, y, none)]:
        zero, small = path.leave_one_out([0.0, 1e-9])
        assert_allclose(zero, small, rtol=1e-6)
        assert_allclose(zero[0], y[0] - y[1], rtol=1e-9)
        refits = [
            y[i] - Phi[i] @ np.linalg.pinv(Phi[k := np.arange(6) != i]) @ y[k]
            for i in range(6)
        ]
        assert_allclose(zero, refits, rtol=1e-9)
        assert_allclose(path.degrees_of_freedom(0.0), 5, rtol=1e-12)


@pytest.mark.parametrize("way", [svd, dual])
@pytest.mark.parametrize("k", [0, 3])
def test_other_targets_need_no_other_factorization(way, k, rng):
    Phi, F = rng.normal(size=(9, 12)), rng.normal(size=(9, k))
    Phi[4] = Phi[2]  # a direction with s = 0, which decides at lam = 0
    F[4] = F[2]
    first, other = 5.0 + rng.normal(size=(9, 2)), 1e3 + rng.normal(size=(9, 4))
    path, expected = way(Phi, first, F).with_targets(other), way(Phi, other, F)
    for alpha in (0.0, *ALPHAS):
        for name in ("theta", "beta", "scales"):
            actual = getattr(path, name)(alpha)
            assert_allclose(actual, getattr(expected, name)(alpha), rtol=1e-8)
        actual, left_out = (each.leave_one_out([alpha]) for each in (path, expected))
        assert_allclose(actual, left_out, rtol=1e-8, atol=1e-9)


def test_moments_cannot_take_other_targets(rng):
    path = eigh(*(rng.normal(size=(20, m)) for m in (6, 2, 3)))
    with pytest.raises(ValueError, match="Only moments of the rows were kept"):
        path.with_targets(np.zeros((20, 1)))


@pytest.mark.parametrize("alpha", [-1e-9, np.nan, np.inf])
def test_alpha_must_not_be_negative(system, alpha):
    path = dual(*system)
    with pytest.raises(ValueError, match=f"alpha is {alpha}; a finite number, 0"):
        path.theta(alpha)


def test_as_many_features_as_rows(rng):
    # The features fit everything, and nothing determines the scales.
    F, y = rng.normal(size=(3, 3)), rng.normal(size=(3, 1))
    path = svd(rng.normal(size=(3, 5)), y, F)
    assert_allclose(path.theta(0.1), 0)
    assert_allclose(F @ path.beta(0.1), y, rtol=1e-10)
    assert_allclose(path.leave_one_out([0.1]), np.inf)
    assert_allclose(path.scales(0.1), np.inf)


def test_weighted_ridge_solves_the_weighted_problem(rng):
    l, alpha = 9, 0.3
    A = rng.normal(size=(l, l))
    K, F = A @ A.T, np.column_stack([np.ones(l), rng.normal(size=l)])
    y, w = rng.normal(size=(l, 2)), rng.uniform(0.2, 3.0, size=l)
    path = ridge_weighted(K, F, y, w)
    c, beta = np.sqrt(w)[:, None] * path.theta(alpha), path.beta(alpha)
    # K (W (y - K c - F beta) - lam c) = 0 and F'W (y - K c - F beta) = 0
    residuals = w[:, None] * (y - K @ c - F @ beta)
    assert_allclose(residuals, w.sum() * alpha * c, atol=1e-9)
    assert_allclose(F.T @ residuals, 0.0, atol=1e-9)


def test_a_kernel_that_was_summed_as_a_series_may_be_indefinite_by_its_error(rng):
    # A walk that is nearly mixed: one large eigenvalue, the rest and its error small.
    U = np.linalg.qr(rng.normal(size=(12, 12)))[0]
    s = np.array([2000.0, *np.geomspace(1, 1e-3, 10), -5e-4])
    y = rng.normal(size=(12, 1))
    path = ridge_dual((U * s) @ U.T, y, Elimination(np.zeros((12, 0))), 12.0)
    exact = ridge_dual(
        (U * np.maximum(s, 0)) @ U.T, y, Elimination(np.zeros((12, 0))), 12.0
    )
    assert_allclose(path.theta(0.1), exact.theta(0.1), atol=1e-9)
