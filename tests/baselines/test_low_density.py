"""The objective of the transductive SVM: value, gradient and annealing."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime, minimize
from sklearn.exceptions import ConvergenceWarning

from halfmoon.baselines._tsvm import LowDensity, anneal

C, C_STAR, BALANCE = 2.0, 0.7, 0.25


def rows(n=23, p=4, seed=0):
    return np.random.default_rng(seed).normal(0.3, 1.0, (n, p))


def signs(l):
    return np.where(np.arange(l) % 3 == 0, 1.0, -1.0)


def written_out(w, b, X_l, X_u, y, C_star):
    """Equation (1), term by term."""
    m = X_u.mean(axis=0)
    total = 0.5 * np.sum(w**2)
    for x, sign in zip(X_l, y, strict=True):
        total += C * max(0.0, 1.0 - sign * ((x - m) @ w + b)) ** 2
    for x in X_u:
        total += C_star * np.exp(-3.0 * ((x - m) @ w + b) ** 2)
    return total


def test_value_is_equation_1(rng):
    X, w = rows(), rng.normal(size=4)
    objective = LowDensity(X, signs(7), C, BALANCE)
    value, _ = objective.value_and_gradient(w, C_STAR, objective.center)
    expected = written_out(w, BALANCE, X[:7], X[7:], signs(7), C_STAR)
    assert_allclose(value, expected, rtol=1e-13)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("l", [7, 23])  # with unlabeled rows, and with a free b
def test_gradient_is_that_of_the_value(rng, l, sparse):
    X = rows()
    X[np.abs(X) < 0.4] = 0.0
    A = sp.csr_array(X) if sparse else X
    objective = LowDensity(A, signs(l), C, BALANCE)
    center = objective.center
    v = rng.normal(size=objective.start.shape)
    _, gradient = objective.value_and_gradient(v, C_STAR, center)
    numeric = approx_fprime(
        v, lambda v: objective.value_and_gradient(v, C_STAR, center)[0], 1e-7
    )
    assert_allclose(gradient, numeric, rtol=1e-5, atol=1e-5)
    assert gradient.shape == ((5,) if l == 23 else (4,))


def test_annealing_ends_in_a_minimum(rng):
    X, y = rows(60), signs(8)
    objective = LowDensity(X, y, C, BALANCE)
    found = anneal(objective, C_STAR, 10, tolerance=1e-7, max_iter=500)

    def value(w):
        return written_out(w, BALANCE, X[:8], X[8:], y, C_STAR)

    assert_allclose(found.value, value(found.w), rtol=1e-12)
    for step in 1e-3 * rng.normal(size=(50, 4)):
        assert value(found.w + step) > found.value
    better = minimize(value, found.w, method="Nelder-Mead", options={"xatol": 1e-9})
    assert better.fun > found.value * (1 - 1e-9)
    m = X[8:].mean(axis=0)
    assert_allclose(found.intercept, BALANCE - m @ found.w, rtol=1e-12)


def test_annealing_finds_more_than_a_cold_start():
    # The objective is not convex; the path from the SVM leads to the gap between two
    # long clusters, where a start at full weight may miss it.
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(m, [1.0, 0.1], (100, 2)) for m in ([-1, -1], [1, 1])])
    order = np.r_[0, 100, 1:100, 101:200]
    objective = LowDensity(X[order], np.array([-1.0, 1.0]), 10.0, 0.0)
    slow = anneal(objective, 1.0, 10, tolerance=1e-6, max_iter=500)
    fast = anneal(objective, 1.0, 1, tolerance=1e-6, max_iter=500)
    assert slow.value <= fast.value * (1 + 1e-6)
    assert abs(slow.w[1]) > 5 * abs(slow.w[0])  # across the gap


def test_the_size_of_the_objective_does_not_stop_it_early():
    # |w|^2 / 2 + C (...) with X by 1e4 and C by 1e-8 has its values by 1e-8.
    X, y = rows(60), signs(8)
    plain = anneal(LowDensity(X, y, C, 0.0), C_STAR, 5, tolerance=1e-8, max_iter=500)
    scaled = LowDensity(1e4 * X, y, 1e-8 * C, 0.0)
    small = anneal(scaled, 1e-8 * C_STAR, 5, tolerance=1e-8, max_iter=500)
    assert_allclose(small.value, 1e-8 * plain.value, rtol=1e-9)
    assert_allclose(1e4 * small.w, plain.w, rtol=1e-4, atol=1e-5)


def test_too_few_iterations_warn():
    objective = LowDensity(rows(60), signs(8), 1e3, 0.0)
    with pytest.warns(ConvergenceWarning, match="in 1 iterations"):
        anneal(objective, C_STAR, 3, tolerance=1e-9, max_iter=1)
