"""Left-out values are those of refits, also where few rows are at a kink."""

from __future__ import annotations

import numpy as np
import pytest

from halfmoon._solvers.box_program import _interior_point, solve_box
from halfmoon.losses import Hinge, Quantile


def program(loss, X, y, w, F, alpha):
    """A program as `solve_loss` states it: F is projected out of the kernel matrix."""
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 2)
    Q = np.linalg.qr(F)[0]
    off = np.eye(len(X)) - Q @ Q.T
    return off @ K @ off / (2 * alpha * len(X)), F, loss.box(y, w)


def refit(M, F, box, i):
    rest = np.delete(np.arange(len(M)), i)
    part = type(box)(*(each[rest] for each in box))
    point, converged = _interior_point(M[np.ix_(rest, rest)], F[rest], part, 1e-14)
    assert converged
    return M[i, rest] @ point.v + F[i] @ point.b


def table(l, d=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(l, d))
    return X, X[:, 0] + 0.5 * rng.normal(size=l), rng


@pytest.mark.parametrize("alpha", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("level", [0.23, 0.9])
def test_as_many_free_rows_as_features(level, alpha):
    # A straight line through as many rows as it has coefficients: a linear program.
    X, y, _ = table(40)
    F = np.c_[np.ones(40), X]
    M, F, box = program(Quantile(level), X, y, np.ones(40), F, alpha)
    found = solve_box(M, F, box).loo_values
    expected = [refit(M, F, box, i) for i in range(40)]
    np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize("alpha", [1e-3, 0.1, 10.0])
def test_equal_rows(alpha):
    X, y, rng = table(36)
    X, w = np.round(X), rng.uniform(0.5, 2.0, 36)
    F = np.c_[np.ones(36), X]
    M, F, box = program(Quantile(0.37), X, y, w, F, alpha)
    found = solve_box(M, F, box).loo_values
    expected = [refit(M, F, box, i) for i in range(36)]
    np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize("seed", [3, 5, 10])
def test_one_row_more_than_features(seed):
    # Without a row, the features alone go through all others; some values were 1e16.
    X, y, rng = table(5, d=3, seed=seed)
    y[0] += 100.0 * (seed % 2)
    w = np.where(rng.uniform(size=5) < 0.5, 1.0, 0.1)
    M, F, box = program(Quantile(0.9), X, y, w, np.c_[np.ones(5), X], 1e-3)
    found = solve_box(M, F, box).loo_values
    rest = [np.delete(np.arange(5), i) for i in range(5)]
    expected = [F[i] @ np.linalg.solve(F[rest[i]], y[rest[i]]) for i in range(5)]
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("seed", [2, 3])
def test_weights_of_very_unequal_size(seed):
    # A kink is rounded over the same width in all rows, whatever their weights.
    X, y, rng = table(25, seed=seed)
    w = np.where(rng.uniform(size=25) < 0.7, 1e-3, 1.0)
    y = np.where(y + rng.normal(size=25) > 0, 1.0, -1.0)
    M, F, box = program(Hinge(), X, y, w, np.ones((25, 1)), 0.1)
    point = solve_box(M, F, box)
    heavy = np.flatnonzero((w == 1.0) & (np.abs(point.v) > 1e-6))
    expected = [refit(M, F, box, i) for i in heavy]
    np.testing.assert_allclose(point.loo_values[heavy], expected, atol=1e-4)
