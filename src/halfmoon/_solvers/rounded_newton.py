r"""Losses with kinks by Newton steps: round the kinks, sharpen them step by step.

The program (1) of `box_program.py` with e added to its diagonal is a loss whose kinks
are rounded over a width of e (high - low): its slope in r = target - g is

.. math:: v = clip(r / e, low, high)                                                 (1)

So the objective is convex, smooth and piecewise quadratic. A Newton step fixes the rows
at a bound and solves a ridge problem for the others, the *free* rows I:

.. math:: (M_{II} + e) v_I + F_I b = target_I - M_{IJ} v_J, \quad F'v = 0            (2)

With an exact line search such steps end after finitely many (Mangasarian, "A finite
Newton method for classification", 2002). From one e to the next, five times smaller,
few rows change; at the end e = 0. A step costs |I|^3, not l^3: with the hinge loss
most rows are at a bound.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

from halfmoon._rows import EPS, Array
from halfmoon.losses import Box

__all__ = ["BoxPoint", "solve_rounded"]

#: Widths of the rounded kinks, relative to the size of the targets.
WIDTHS = tuple(0.3 / 5.0**i for i in range(11))
SHARP_FROM = 1e-3  # widths from which on e = 0 is tried
MAX_STEPS = 25  # for each width; far more than were ever needed
MAX_REPAIRS = 5  # of the free rows, at e = 0
MAX_SEARCH_STEPS = 30  # of a line search; mostly five to seven are made
TOLERANCE = 1e-10  # of the conditions at the end, relative to targets and bounds
INSIDE = 1e-7  # distance of a free row from its bounds, relative to their difference
CORNER = 1e-13  # penalty of b, so that it is determined if no row is free
JITTER = 1e-14  # added to the diagonal, relative to the mean of the kernel's


class BoxPoint(NamedTuple):
    """A solution v and b."""

    v: Array
    b: Array


def solve_rounded(
    M: Array,  # (l, l)
    F: Array,  # (l, k)
    box: Box,
) -> BoxPoint | None:
    """Minimize (1) of `box_program.py`; None if rounding errors are in the way.

    The targets of the box are centered: F'target = 0.
    """
    steps = _Steps(M, F, box)
    if box.e.any():
        return steps.sharp() if steps.at(0.0) else None
    for width in WIDTHS:
        if not steps.at(width):
            return None
        found = steps.sharp() if width <= SHARP_FROM else None
        if found is not None:
            return found
    return None


class _Steps:
    """The iterate: v, b, and the values g = M v + F b."""

    def __init__(self, M: Array, F: Array, box: Box) -> None:
        self.M, self.F, self.box = M, F, box
        self.v, self.b = np.zeros(len(M)), np.zeros(F.shape[1])
        self.g = np.zeros(len(M))
        # The e that rounds kinks over a width of the size of the targets.
        size = float(np.abs(box.target).max()) or 1.0
        self.unit = size / (float(np.median(box.high - box.low)) or 1.0)
        self.status = np.zeros(len(M), dtype=np.int8)
        # What the rows at a bound leave of the targets, kept up to date.
        self.fixed, self.right = np.zeros(len(M)), box.target.copy()

    def at(self, width: float) -> bool:
        """Minimize with rounded kinks; False if a matrix is singular."""
        self.corner = max(CORNER, width) * len(self.v) / self.unit
        e = self.box.e + width * self.unit
        for _ in range(MAX_STEPS):
            new = self._newton_point(self._status(self.g, e), e)
            if new is None:
                return False
            v, b, g = new
            length = self._line_search(v - self.v, b - self.b, g - self.g, e)
            self.v = self.v + length * (v - self.v)
            self.b = self.b + length * (b - self.b)
            self.g = self.g + length * (g - self.g)
            if length == 1.0 and np.array_equal(self._status(g, e), self.status):
                break
        return True

    def _status(self, g: Array, e: Array) -> NDArray[np.int8]:
        """Return 1 and -1 for rows at their high and low bound by (1), 0 if free."""
        t, low, high, _ = self.box
        pull = (t - g) / e
        return (pull >= high).astype(np.int8) - (pull <= low)

    def sharp(self) -> BoxPoint | None:
        """Return the minimum at e = 0, if the free rows are right but for a few."""
        t, low, high, e = self.box
        self.corner = CORNER / self.unit
        scale, span = float(np.abs(t).max()) or 1.0, high - low
        e = e + JITTER * float(np.trace(self.M)) / len(t)
        status = self.status
        for _ in range(MAX_REPAIRS):
            new = self._newton_point(status, e)
            if new is None:
                return None
            v, b, g = new
            rest = t - g - self.box.e * v
            status = status.copy()
            free = self.status == 0
            status[free & (v < low - TOLERANCE * span)] = -1
            status[free & (v > high + TOLERANCE * span)] = 1
            status[(self.status < 0) & (rest > TOLERANCE * scale)] = 0
            status[(self.status > 0) & (rest < -TOLERANCE * scale)] = 0
            if not np.array_equal(status, self.status):
                continue
            off = np.abs(rest[free]).max(initial=0.0)
            balanced = np.abs(self.F.T @ v).max(initial=0.0)
            size = (np.abs(self.F).T @ np.abs(v)).max(initial=0.0)
            inside = (v > low + INSIDE * span) & (v < high - INSIDE * span)
            if (
                off > TOLERANCE * scale
                or balanced > TOLERANCE * size
                or inside.sum() < self.F.shape[1]  # then b is not determined
            ):
                return None
            return BoxPoint(np.clip(v, low, high), b)
        return None

    def _newton_point(
        self, status: NDArray[np.int8], e: Array
    ) -> tuple[Array, Array, Array] | None:
        """Return v, b and g of (2); None if a matrix is singular."""
        _, low, high, _ = self.box
        fixed = np.where(status > 0, high, np.where(status < 0, low, 0.0))
        moved = np.flatnonzero(fixed != self.fixed)
        self.right = self.right - (fixed - self.fixed)[moved] @ self.M[moved]
        self.fixed, self.status = fixed, status
        rows = np.flatnonzero(status == 0)
        A, F = self.M[rows][:, rows], self.F[rows]
        A[np.diag_indices(len(rows))] += e[rows]
        X = np.column_stack([self.right[rows], F])
        if len(rows):
            chol, failed = dpotrf(A.T, lower=1, overwrite_a=1, clean=0)
            if failed:
                return None
            X, _ = dpotrs(chol, X, lower=1)
        S = F.T @ X[:, 1:]
        S[np.diag_indices(len(S))] += self.corner
        try:
            b = np.asarray(np.linalg.solve(S, F.T @ X[:, 0] + self.F.T @ fixed), float)
        except np.linalg.LinAlgError:
            return None
        v = fixed.copy()
        v[rows] = X[:, 0] - X[:, 1:] @ b
        g = self.box.target - self.right + v[rows] @ self.M[rows] + self.F @ b
        return v, b, g

    def _line_search(self, dv: Array, db: Array, dg: Array, e: Array) -> float:
        """Return the length in (0, 1] at which the objective along a step is least."""
        t, low, high, _ = self.box
        Mdv = dg - self.F @ db
        linear = float(self.v @ Mdv) + self.corner * float(self.b @ db)
        quadratic = float(dv @ Mdv) + self.corner * float(db @ db)

        def slope(s: float) -> tuple[float, float]:
            """Return the derivative and the second derivative, which jumps."""
            pull = (t - self.g - s * dg) / e
            clipped = np.clip(pull, low, high)
            curved = np.where(pull == clipped, dg / e, 0.0)
            first = linear + s * quadratic - float(clipped @ dg)
            return first, quadratic + float(curved @ dg)

        rounding = 1e3 * EPS * (abs(linear) + quadratic)
        length, short, long = 1.0, 0.0, 1.0
        first, second = slope(length)
        if first <= rounding:
            return 1.0
        for _ in range(MAX_SEARCH_STEPS):
            length -= first / second if second > 0 else np.inf
            if not short < length < long:
                length = 0.5 * (short + long)
            first, second = slope(length)
            if abs(first) <= rounding:
                break
            short, long = (length, long) if first < 0 else (short, length)
        return length
