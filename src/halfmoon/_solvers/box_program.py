r"""Piecewise linear or quadratic losses: a quadratic program with bounds.

.. math:: min_v \; \tfrac12 v'(M + E) v - target'v, \quad F'v = 0, \quad
          low \le v \le high                                                         (1)

is the dual of the hinge, Huber's and the quantile loss with any unpenalized features F,
b being the multipliers of F'v = 0. It is solved by Mehrotra's predictor-corrector: with
z and u the multipliers of the bounds, s = v - low and r = high - v, Newton steps on

.. math:: (M + E) v + F b - target - z + u = 0, \quad F'v = 0, \quad
          s z = r u = \sigma \mu                                                     (2)

eliminate z and u, and are steps of `bordered_system.py` with curvatures
:math:`h = 1 / (e + z/s + u/r)`. S. Mehrotra, "On the implementation of a primal-dual
interior point method", 1992. There are 10 to 30 steps, with a Cholesky factorization
each.

**Leave-one-out.** At the minimum the curvature of a piecewise linear loss is 0, or
infinite at a kink, and one Newton step would never let a row pass a kink. So the step
of `bordered_system.py` is taken at an earlier iterate, where the gap is still a tenth
of the objective and the kinks are smoothed. With 60 and 150 labels this halves the
error of the values for the quantile loss, and makes no difference for the hinge loss.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from halfmoon._rows import EPS, Array
from halfmoon._solvers.bordered_system import Bordered, loo_values
from halfmoon.losses import Box

__all__ = ["LossPoint", "solve_box"]

MAX_STEPS = 100
GAP = 1e-13  # tolerance of the duality gap, relative to the objective
RESIDUAL = 1e-11  # tolerance of the residual, relative to the targets
STEP_TO_BOUND = 0.995  # longest step, relative to the distance from a bound
MAY_STALL = 1e7  # error over tolerance below which steps may stop to help
CONVERGED = 1e4  # error over tolerance below which the minimum counts as found
LOO_GAP, LOO_RESIDUAL = 0.1, 1e-3  # relative, of the iterate for leave-one-out
MAX_STIFFNESS = 1e7  # relative to the kernel; beyond it a row is fixed, or free


class LossPoint(NamedTuple):
    """A minimum of losses and penalty, for one output or for coupled ones.

    Attributes
    ----------
    v : ndarray of shape (l,) or (l, C)
        Minus the derivatives of the weighted losses.
    b : ndarray of shape (k,) or (k, C)
        Coefficients of F.
    loo_values : ndarray of shape (l,) or (l, C)
        Leave-one-out values; NaN where the other labels do not determine them.
    converged : bool
    """

    v: Array
    b: Array
    loo_values: Array
    converged: bool


class _State(NamedTuple):
    """An iterate: v, b, the distances s and r from the bounds, their multipliers."""

    v: Array
    b: Array
    s: Array
    r: Array
    z: Array
    u: Array

    @property
    def gap(self) -> float:
        return float(self.s @ self.z + self.r @ self.u)

    @property
    def stiffness(self) -> Array:
        """The terms that the bounds add to the diagonal."""
        return np.asarray(self.z / self.s + self.u / self.r)

    def moved(self, length: float, step: _State) -> _State:
        return _State(*(a + length * d for a, d in zip(self, step, strict=True)))

    def longest(self, step: _State, within: float = 1.0) -> float:
        """Return the longest step, at most 1, that keeps s, r, z and u positive."""
        length = 1.0
        for values, changes in zip(self[2:], step[2:], strict=True):
            falling = changes < 0
            if falling.any():
                to_zero = float((-values[falling] / changes[falling]).min())
                length = min(length, within * to_zero)
        return length


def solve_box(
    M: Array,  # (l, l)
    F: Array,  # (l, k)
    box: Box,
) -> LossPoint:
    """Minimize (1); O(l^3) for each step.

    Parameters
    ----------
    M : ndarray of shape (l, l)
        Kernel matrix over 2 lam; positive semi-definite.
    F : ndarray of shape (l, k)
        Of full column rank; may have no columns.
    box : Box
    """
    # The features can be fitted to the targets first: F'v = 0, so only b changes. Then
    # adding F @ c to the targets adds c to b, and changes nothing else.
    b_first = np.linalg.lstsq(F, box.target)[0]
    first = F @ b_first
    rounding = 100 * EPS * float(np.abs(box.target).max())
    box = box._replace(target=box.target - first)
    t, low, high, e = box
    size = max(float(np.abs(t).max()), rounding) or 1.0
    half, ends = (high - low) / 2, np.full_like(t, size)
    at = _State((low + high) / 2, np.zeros(F.shape[1]), half, half, ends, ends)
    # Curvatures beyond the rounding errors of M do not help.
    least = 10 * EPS * max(float(np.trace(M)), EPS)
    best, point, stalled = np.inf, at, 0
    smoothed: _State | None = None
    for _ in range(MAX_STEPS):
        Mv = M @ at.v
        g = Mv + F @ at.b
        residual = g + e * at.v - t - at.z + at.u
        objective = 0.5 * float(at.v @ Mv) + float(_losses(box, g).sum())
        off = float(np.abs(residual).max()) / size
        error = max(at.gap / max(objective, EPS * size) / GAP, off / RESIDUAL)
        if error < best:
            best, point, stalled = error, at, 0
        elif best < MAY_STALL:
            stalled += 1
        if smoothed is None and off < LOO_RESIDUAL and at.gap < LOO_GAP * objective:
            smoothed = at
        if error <= 1.0 or stalled > 5:
            break
        factor = Bordered(M, F, 1.0 / (e + np.maximum(at.stiffness, least)))
        step = _newton(factor, F, at, residual)
        after = at.moved(at.longest(step), step).gap
        mean = (after / at.gap) ** 3 * at.gap / (2 * len(t))
        step = _newton(factor, F, at, residual, mean, step)
        at = at.moved(at.longest(step, STEP_TO_BOUND), step)
    near = point if smoothed is None or e.any() else smoothed
    loo = _loo_values(M, F, near, e, size)
    return LossPoint(point.v, point.b + b_first, loo + first, best < CONVERGED)


def _newton(
    factor: Bordered,
    F: Array,
    at: _State,
    residual: Array,
    mean: float = 0.0,
    predicted: _State | None = None,
) -> _State:
    """Return a step towards (2), corrected by the products of a predicted step."""
    v, _, s, r, z, u = at
    cs = cr = np.zeros_like(v)
    if predicted is not None:
        cs, cr = predicted.s * predicted.z, predicted.r * predicted.u
    dz, du = (mean - cs) / s - z, (mean - cr) / r - u
    dv, db = factor.solve(factor.root * (dz - du - residual), -F.T @ v)
    return _State(dv, db, dv, -dv, dz - z / s * dv, du + u / r * dv)


def _loo_values(M: Array, F: Array, at: _State, e: Array, size: float) -> Array:
    """(3) of `bordered_system.py`, with the curvatures that the bounds leave."""
    g = M @ at.v + F @ at.b
    unit = float(np.trace(M)) / len(M) or 1.0
    h = 1.0 / np.clip(e + at.stiffness, unit / MAX_STIFFNESS, unit * MAX_STIFFNESS)
    inside = int((at.stiffness < e).sum())  # rows in the quadratic part of Huber's loss
    if inside <= F.shape[1] > 0:
        # If few rows have curvature, nothing determines the unpenalized features. A
        # weak penalty keeps them from moving by more than the size of the labels. It
        # must not be stronger than that of M, which is weaker yet for a small alpha.
        spread = F @ F.T
        M, F = M + max(size, unit) / np.diag(spread).max() * spread, F[:, :0]
    return loo_values(g, at.v, h, Bordered(M, F, h).shares())


def _losses(box: Box, g: Array) -> Array:
    """Return the losses, by their conjugates."""
    r = box.target - g
    linear = np.maximum(box.low * r, box.high * r)
    quadratic = box.e > 0
    if not quadratic.any():
        return linear
    e = np.where(quadratic, box.e, 1.0)
    v = np.clip(r / e, box.low, box.high)
    return np.where(quadratic, v * r - e * v * v / 2, linear)
