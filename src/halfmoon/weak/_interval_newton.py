r"""Ridge regression with interval labels, solved to the optimum by Newton steps.

.. math:: min_v \; J(v) = \sum_i dist(g_i, [a_i, b_i])^2 w_i + lam |v_s|^2, \quad
          g = Z v / w^{1/2}                                                          (1)

in the coordinates of `_row_smoother.py`. It is the infimum loss of intervals: the label
is the point of the interval nearest to g_i. J is convex, with a continuous gradient,
and piecewise quadratic. So with B the rows whose g_i is outside of the interval, a
Newton step is ridge of the violated ends on the rows B. With an exact line search, the
steps reach the optimum after finitely many (Mangasarian, "A finite Newton method for
classification", 2002). The optimum satisfies

.. math:: g = H \, clip(g, a, b)                                                     (2)

with H the smoother of all rows; the residual is the largest difference of both sides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg as sla

from halfmoon._rows import EPS, Array, Indices
from halfmoon.weak._row_smoother import RowCoordinates, cholesky, half_solve

__all__ = ["IntervalFit", "fit_intervals"]

MAX_STEPS = 200
BISECTIONS = 100  # down to rounding
TOLERANCE = 1e-13  # of the gradient, relative to the size of its terms
FULL_STEP = 1e-6  # a step length this close to 1 is a full Newton step


@dataclass(frozen=True)
class IntervalFit:
    """A minimizer of (1)."""

    v: Array  # (m,)
    g: Array  # (l,), values at all labeled rows, also at those that were not fitted
    steps: int


def fit_intervals(
    coordinates: RowCoordinates,
    low: Array,  # (l,)
    high: Array,  # (l,)
    alpha: float,
    rows: Indices | None = None,
    start: Array | None = None,  # (m,)
) -> IntervalFit:
    """Minimize (1) over the given rows; None is all labeled rows.

    O(m^3) time for each of about ten steps.
    """
    rows = np.arange(len(low)) if rows is None else rows
    Z, root_w = coordinates.Z[rows], coordinates.root_w[rows, 0]
    a, b = root_w * low[rows], root_w * high[rows]
    lam = coordinates.lam(alpha) * coordinates.penalized
    v = np.zeros(Z.shape[1]) if start is None else start.copy()
    steps, piece, whole, point = 0, None, False, a == b
    while steps < MAX_STEPS:
        steps += 1
        g = Z @ v
        violation = g - np.clip(g, a, b)
        gradient = Z.T @ violation + lam * v
        terms = np.abs(Z.T) @ np.abs(violation) + lam * np.abs(v)
        if (np.abs(gradient) <= TOLERANCE * terms).all():
            break
        # A plain label is violated on both sides: g only approaches it.
        last, piece = piece, np.where(point, 2.0, np.sign(violation))
        if whole and last is not None and np.array_equal(piece, last):
            break  # the minimum of this quadratic piece, and so of J
        A = Z[piece != 0].T @ Z[piece != 0]
        A[np.diag_indices(len(A))] += lam
        step = -_solved(A, gradient)
        linear, quadratic = float(lam * v @ step), float(lam * step @ step)
        t = _line_search(g, Z @ step, a, b, linear, quadratic)
        whole = abs(t - 1.0) < FULL_STEP
        v = v + t * step
        if np.abs(t * step).max() <= EPS * np.abs(v).max():
            break
    g = (coordinates.Z @ v) / coordinates.root_w[:, 0]
    return IntervalFit(v, g, steps)


def _solved(A: Array, right: Array) -> Array:
    """Return A^+ right: directions without rows or penalty do not change."""
    chol = cholesky(A)
    if chol is not None:
        return np.asarray(sla.cho_solve((chol, True), right, check_finite=False))
    S = half_solve(A, np.eye(len(A)))
    return np.asarray(S @ (S.T @ right))


def _line_search(
    g: Array, d: Array, a: Array, b: Array, linear: float, quadratic: float
) -> float:
    """Return t >= 0 where the slope of J along a step, which increases, is 0."""

    def slope(t: float) -> float:
        at = g + t * d
        return float((at - np.clip(at, a, b)) @ d) + linear + t * quadratic

    if slope(1.0) == 0:
        return 1.0
    low, high = 0.0, 1.0
    while slope(high) < 0:
        if high > 1e6:
            return high
        low, high = high, 2 * high
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return 0.5 * (low + high)
