"""Filters against their formulas, their limits, and the iterations they stand for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from halfmoon.filters import (
    Cutoff,
    GradientFlow,
    Heat,
    IteratedTikhonov,
    Landweber,
    Tikhonov,
)

S = np.array([1e-3, 0.05, 0.3, 0.7, 1.2, 1.9])
TINY, HUGE = np.array([0.0, 5e-324, 1e-308, 1e-200, 1e-20]), np.array([1e20, 1e300])

# filter, psi on paper, limit at s = 0
TABLE = [
    (Tikhonov(0.3), lambda s: 1 / (s + 0.3), 1 / 0.3),
    (Cutoff(0.3), lambda s: (s > 0.3) / s, 0.0),
    (IteratedTikhonov(0.3, 1), lambda s: 1 / (s + 0.3), 1 / 0.3),
    (IteratedTikhonov(0.3, 4), lambda s: (1 - (0.3 / (s + 0.3)) ** 4) / s, 4 / 0.3),
    (Landweber(1, 0.9), lambda s: 0.9 + 0 * s, 0.9),
    (Landweber(5, 0.9), lambda s: (1 - (1 - 0.9 * s) ** 5) / s, 4.5),
    (Landweber(6, 0.9), lambda s: (1 - (1 - 0.9 * s) ** 6) / s, 5.4),
    (GradientFlow(0.3), lambda s: (1 - np.exp(-s / 0.3)) / s, 1 / 0.3),
    (Heat(0.3), lambda s: np.exp(-0.3 / s) / s, 0.0),
]
WITHOUT_PENALTY = [
    Tikhonov(0.0),
    Cutoff(0.0),
    IteratedTikhonov(0.0, 3),
    GradientFlow(0.0),
    Heat(0.0),
]


@pytest.mark.parametrize(("psi", "formula", "limit"), TABLE)
def test_formula(psi, formula, limit):
    assert_allclose(psi(S), formula(S), rtol=1e-12)


@pytest.mark.parametrize(("psi", "formula", "limit"), TABLE)
def test_limit_at_0(psi, formula, limit):
    assert_allclose(psi(np.zeros(2)), [limit, limit], rtol=1e-15)
    assert_allclose(psi(TINY), np.full(TINY.shape, limit), rtol=1e-12)
    # Rounding leaves eigenvalues slightly below 0, which count as 0.
    assert_allclose(psi(np.array([-1e-18])), [limit], rtol=1e-15)


@pytest.mark.parametrize("psi", [row[0] for row in TABLE if "alpha" in vars(row[0])])
@pytest.mark.parametrize("alpha", [1e-300, 1e-10, 1.0, 1e10])
def test_huge_eigenvalues_are_taken_whole(psi, alpha):
    psi = clone(psi).set_params(alpha=alpha)
    assert_allclose(psi(HUGE), 1 / HUGE, rtol=1e-9)
    assert np.isfinite(psi(np.concatenate([TINY, S, HUGE]))).all()


@pytest.mark.parametrize("psi", WITHOUT_PENALTY)
def test_without_penalty_all_is_taken_but_the_null_space(psi):
    s = np.concatenate([S, HUGE])
    assert_allclose(psi(s), 1 / s, rtol=1e-15)
    assert_array_equal(psi(np.array([0.0])), [0.0])


def test_small_eigenvalues_lose_no_digits():
    # (1 - (1 - e)^t) / s = t/alpha (1 - (t + 1)/2 s/alpha + ...): the naive form of it
    # has no correct digit at s = 1e-16.
    s = np.array([1e-16, 1e-12])
    assert_allclose(IteratedTikhonov(1.0, 3)(s), 3 * (1 - 2 * s), rtol=1e-14)
    assert_allclose(Landweber(3, 1.0)(s), 3 * (1 - s), rtol=1e-14)
    assert_allclose(GradientFlow(1.0)(s), 1 - s / 2, rtol=1e-14)


def test_the_step_of_gradient_descent_where_all_eigenvalues_are_0():
    assert_array_equal(Landweber(3, None)(np.zeros(2)), [3.0, 3.0])


@pytest.fixture
def problem(rng):
    """Sigma and b of theta = argmin theta'Sigma theta / 2 - b'theta, and psi(Sigma)."""
    B = rng.normal(size=(9, 4))
    Sigma, b = B.T @ B / 9, rng.normal(size=4)
    s, U = np.linalg.eigh(Sigma)
    return Sigma, b, lambda psi: U @ (psi(s) * (U.T @ b))


@pytest.mark.parametrize("t", [1, 2, 30])
def test_landweber_is_gradient_descent(problem, t):
    Sigma, b, filtered = problem
    step = 1.7 / np.linalg.eigvalsh(Sigma).max()  # some factors 1 - step s are negative
    theta = np.zeros(4)
    for _ in range(t):
        theta += step * (b - Sigma @ theta)
    assert_allclose(filtered(Landweber(t, step)), theta, rtol=1e-12)


@pytest.mark.parametrize("t", [1, 2, 5])
def test_iterated_tikhonov_is_ridge_on_the_residuals_of_ridge(problem, t):
    Sigma, b, filtered = problem
    theta = np.zeros(4)
    for _ in range(t):
        theta += np.linalg.solve(Sigma + 0.2 * np.eye(4), b - Sigma @ theta)
    assert_allclose(filtered(IteratedTikhonov(0.2, t)), theta, rtol=1e-12)


def test_gradient_flow_is_the_limit_of_short_steps(problem):
    _, _, filtered = problem
    flow = filtered(GradientFlow(0.2))  # time 5
    errors = [
        np.abs(filtered(Landweber(round(5 / step), step)) - flow).max()
        for step in (1e-2, 1e-3)
    ]
    assert_allclose(errors[0] / errors[1], 10, rtol=0.1)  # of first order in the step
    assert errors[1] < 1e-3 * np.abs(flow).max()


@pytest.mark.parametrize("value", [-1.0, np.nan])
@pytest.mark.parametrize(
    "psi", [Tikhonov, Cutoff, IteratedTikhonov, GradientFlow, Heat]
)
def test_alpha_is_checked(psi, value):
    with pytest.raises(ValueError, match=f"alpha is {value}; a positive number"):
        psi(value)(S)


def test_steps_are_checked():
    with pytest.raises(ValueError, match="t is 0; a positive number"):
        Landweber(0)(S)
    with pytest.raises(ValueError, match="step is 0; a positive number"):
        Landweber(3, 0)(S)
    with pytest.raises(ValueError, match=r"t is 2\.5; a whole number"):
        IteratedTikhonov(1.0, 2.5)(S)
    with pytest.raises(ValueError, match=r"diverges.*is 1\.9, so .* below 1\.05"):
        Landweber(10, 1.2)(S)


def test_no_eigenvalues():
    for psi, _, _ in TABLE:
        assert psi(np.empty(0)).shape == (0,)
