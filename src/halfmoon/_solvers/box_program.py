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
each. It is used where the Newton steps of `rounded_newton.py`, which are faster, do not
end at the minimum: if nothing determines b, or M is singular to rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from halfmoon._rows import EPS, Array
from halfmoon._solvers.bordered_system import Bordered
from halfmoon._solvers.left_out_pivots import left_out_values
from halfmoon._solvers.rounded_newton import BoxPoint, solve_rounded
from halfmoon.losses import Box

__all__ = ["LossPoint", "solve_box"]

MAX_STEPS = 100
GAP = 1e-13  # tolerance of the duality gap, relative to the objective
RESIDUAL = 1e-11  # tolerance of the residual, relative to the targets
STEP_TO_BOUND = 0.995  # longest step, relative to the distance from a bound
NEWTON_GAP = 1e-10  # the same, of Newton's steps
MAY_STALL = 1e7  # error over tolerance below which steps may stop to help
AT_BOUND = 1e-7  # distance of a row from its bound, relative to that of the bounds
CONVERGED = 1e4  # error over tolerance below which the minimum counts as found


class LossPoint(NamedTuple):
    """A minimum of losses and penalty, for one output or for C coupled ones."""

    v: Array  # (l,) or (l, C), minus the derivatives of the weighted losses
    b: Array  # (k,) or (k, C), coefficients of F
    loo_values: Array  # like v; NaN where the other labels do not determine them
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
    M: Array,  # (l, l), kernel matrix over 2 lam; positive semi-definite
    F: Array,  # (l, k), of full column rank; may have no columns
    box: Box,
    *,
    leave_one_out: bool = True,
) -> LossPoint:
    """Minimize (1). Leave-one-out values take longer than the rest."""
    # The features can be fitted to the targets first: F'v = 0, so only b changes. Then
    # adding F @ c to the targets adds c to b, and changes nothing else.
    b_first = np.linalg.lstsq(F, box.target)[0]
    first = F @ b_first
    rounding = 100 * EPS * float(np.abs(box.target).max())
    box = box._replace(target=box.target - first)
    found, converged = solve_rounded(M, F, box), True
    if found is None or _relative_gap(M, F, box, found, rounding) > NEWTON_GAP:
        found, converged = _interior_point(M, F, box, rounding)
        found = _in_the_middle(M, F, box, found)
    loo = np.full(len(M), np.nan)
    if leave_one_out:
        loo = left_out_values(M, F, box, found.v, found.b)
    return LossPoint(found.v, found.b + b_first, loo + first, converged)


def _interior_point(
    M: Array, F: Array, box: Box, rounding: float
) -> tuple[BoxPoint, bool]:
    """Minimize (1) by (2). Returns the point, and whether it is the minimum."""
    t, low, high, e = box
    size = max(float(np.abs(t).max()), rounding) or 1.0
    half, ends = (high - low) / 2, np.full_like(t, size)
    at = _State((low + high) / 2, np.zeros(F.shape[1]), half, half, ends, ends)
    # Curvatures beyond the rounding errors of M do not help.
    least = 10 * EPS * max(float(np.trace(M)), EPS * size)
    best, point, stalled = np.inf, at, 0
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
        if error <= 1.0 or stalled > 5:
            break
        factor = Bordered(M, F, 1.0 / (e + np.maximum(at.stiffness, least)))
        step = _newton(factor, F, at, residual)
        after = at.moved(at.longest(step), step).gap
        mean = (after / at.gap) ** 3 * at.gap / (2 * len(t))
        step = _newton(factor, F, at, residual, mean, step)
        at = at.moved(at.longest(step, STEP_TO_BOUND), step)
    return BoxPoint(point.v, point.b), best < CONVERGED


def _in_the_middle(M: Array, F: Array, box: Box, point: BoxPoint) -> BoxPoint:
    """Return the point with b in the middle, if nothing determines it but an interval.

    This is so with one feature and all rows at a bound: for example, a median of an
    even number of labels.
    """
    t, low, high, e = box
    at_high = point.v > (low + high) / 2
    v = np.where(at_high, high, low)
    off = np.abs(point.v - v) > AT_BOUND * (high - low)
    if F.shape[1] != 1 or off.any():
        return point
    # A row keeps its bound up to the b at which its residual is 0.
    f, d = F[:, 0], t - M @ v - e * v
    seen = f != 0
    ends, from_above = d[seen] / f[seen], (at_high == (f > 0))[seen]
    least = ends[~from_above].max(initial=-np.inf)
    most = ends[from_above].min(initial=np.inf)
    if not -np.inf < least < most < np.inf:
        return point
    return BoxPoint(v, np.array([(least + most) / 2]))


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


def _relative_gap(
    M: Array, F: Array, box: Box, point: BoxPoint, rounding: float
) -> float:
    """Return the duality gap at a point, relative to the objective."""
    v, g = point.v, M @ point.v + F @ point.b
    penalty, losses = float(v @ (M @ v)), float(_losses(box, g).sum())
    dual = float(v @ box.target) - 0.5 * (penalty + float(box.e @ v**2))
    return (0.5 * penalty + losses - dual) / max(0.5 * penalty + losses, rounding)


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
