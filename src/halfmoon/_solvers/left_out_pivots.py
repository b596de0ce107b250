r"""Leave-one-out of losses with kinks: let rows pass their kinks.

At a minimum each row is free or at a bound (`rounded_newton.py`). Without the label of
row i, v_i is 0, and the others move. As long as none of them reaches a bound or leaves
one, their change is linear in that of v_i. With I the free rows, J those at a bound,
and d the residuals target - g - e v, which are 0 in I,

.. math:: \binom{\Delta v_I}{\Delta d_J} = T \binom{d_I}{\Delta v_J}, \quad
          T = \begin{pmatrix} -B & -W \\ W' & -S \end{pmatrix}                       (1)

where B is the inverse of (M + e)_II on the complement of F_I, W = B M_IJ and S the rest
of M_JJ. Rows that pass a bound on the way trade places: a row of I that is held at a
bound has an unknown d, a row of J that is freed an unknown change of v. So their change
is a small linear system with entries of T, and no left-out row needs a factorization of
its own. All rows that ask for a trade trade at once (block principal pivoting: Judice,
Pires, 1994); where this does not end, v_i is followed to 0 from one trade to the next.
Both end at the refit without row i. With many labels and hardly any free row the way is
long: rows that would take too long have the value after one Newton step on wider kinks.
Kinks are rounded over 1e-5 of the size of the targets, so that T is well conditioned.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as sla
from numpy.typing import NDArray

from halfmoon._rows import Array, Indices
from halfmoon._solvers.bordered_system import Bordered, loo_values
from halfmoon.losses import Box

__all__ = ["left_out_values"]

WIDTH = 1e-5  # of the rounded kinks, relative to the size of the targets
MAX_TRADES = 8
MAX_EVENTS = 10**6  # of all rows, times the number of rows: about a second
MAX_ROW_EVENTS = 50  # of one row
SLACK = 1e-9  # of bounds and residuals, relative
ROUNDED = 0.1  # width of the kinks for one Newton step
WILD = 1e6  # more than this multiple of targets or bounds is 1 / 0, but for rounding
FLAT = 1e-7  # curvature of straight pieces, relative to the kernel
BLOCK_ENTRIES = 2**21  # in a block of rows by left-out rows


def left_out_values(
    M: Array,  # (l, l)
    F: Array,  # (l, k)
    box: Box,
    v: Array,  # (l,)
    b: Array,  # (k,)
) -> Array:  # (l,)
    """Return the value at each row without its label, from the minimum v and b."""
    out = M @ v + F @ b
    active = np.flatnonzero(np.abs(v) > SLACK * (box.high - box.low))
    out[active] = np.nan
    try:
        pivots = _Pivots(M, F, box, v, b)
        step = max(1, BLOCK_ENTRIES // len(v))
        for start in range(0, len(active), step):
            some = active[start : start + step]
            out[some] = box.target[some] - pivots.without(some)
    except np.linalg.LinAlgError:  # M is singular, but for rounding
        pass
    unsettled = np.isnan(out)
    if unsettled.any():
        out[unsettled] = _one_step(M, F, box, v, b)[unsettled]
    Q = np.linalg.qr(F)[0]
    out[(Q**2).sum(axis=1) > 1.0 - SLACK] = np.nan  # only this row tells of a feature
    return out


class _Pivots:
    """The tableau T at the minimum, and the trades from it."""

    def __init__(self, M: Array, F: Array, box: Box, v: Array, b: Array) -> None:
        l = len(v)
        self.low, self.high, span = box.low, box.high, box.high - box.low
        size = float(np.abs(box.target).max()) or 1.0
        self.slack_v, self.slack_d = SLACK * span, SLACK * size
        self.F, self.size_F = F, float(np.abs(F).max(initial=0.0))
        e = box.e if box.e.any() else WIDTH * size / span
        # The minimum for the rounded loss too: its targets move by e v.
        self.v, self.events = v, MAX_EVENTS // l
        d = box.target - (M @ v + F @ b) - box.e * v
        inside = (v > box.low + self.slack_v) & (v < box.high - self.slack_v)
        d[inside] = 0.0
        self.d = d
        self.status = np.where(inside, 0, np.where(v > (box.low + box.high) / 2, 1, -1))
        self.status = self.status.astype(np.int8)
        self.free = inside | _near(d, F, inside)
        self.most = WILD * np.where(self.free, size, span)  # of inputs: d in I, v in J
        I, J = np.flatnonzero(self.free), np.flatnonzero(~self.free)
        A, corner = M + np.diag(e), np.zeros((F.shape[1], F.shape[1]))
        border = np.block([[A[np.ix_(I, I)], F[I]], [F[I].T, corner]])
        B = np.linalg.inv(border) if len(border) else border
        to_J = np.vstack([A[np.ix_(I, J)], F[J].T])
        W = B @ to_J
        self.T = np.empty((l, l))
        self.T[np.ix_(I, I)] = -B[: len(I), : len(I)]
        self.T[np.ix_(I, J)] = -W[: len(I)]
        self.T[np.ix_(J, I)] = W[: len(I)].T
        self.T[np.ix_(J, J)] = to_J.T @ W - A[np.ix_(J, J)]
        # The outputs for inputs of 0; d is an input in I.
        self.base = np.where(self.free, v, d) - self.T[:, I] @ d[I]

    def without(self, rows: Indices) -> Array:  # (r,)
        """Return the residuals d of the left-out rows; NaN if trades do not end."""
        out = np.full(len(rows), np.nan)
        status = np.tile(self.status, (len(rows), 1))
        left = np.arange(len(rows))
        for _ in range(MAX_TRADES):
            X = np.array([self._inputs(rows[i], status[i]) for i in left])
            v, d = self._values(X, self.base + X @ self.T.T)
            mine, new = (
                (np.arange(len(left)), rows[left]),
                self._trades(status[left], v, d),
            )
            new[mine] = status[left, rows[left]]
            settled = (new == status[left]).all(axis=1) & np.isfinite(d[mine])
            status[left] = new
            out[left[settled]] = d[mine][settled]
            left = left[~settled]
            if not len(left):
                break
        for which in left:
            if self.events < 0:
                break
            out[which] = self._follow(int(rows[which]))
        return out

    def _follow(self, i: int) -> float:
        """Return d of row i, following v_i to 0 from trade to trade; NaN if too far."""
        status, v, d = self.status.copy(), self.v, self.d
        held, sign = i, float(np.sign(self.v[i]))  # the row held last, and its bound
        for _ in range(MAX_ROW_EVENTS):
            self.events -= 1
            free = status == 0
            free[i] = False
            changes = self._changes_of_features(free, held, sign)
            if changes:
                row, d = self._until_free(changes, status, d, [i, held])
                if row < 0:
                    return np.nan
                status[row] = 0
                continue
            v_end, d_end = self._point(i, status)
            new = self._trades(status, v_end, d_end)
            may = new != status
            may[i] = False
            if not may.any():
                return float(d_end[i])
            # A free row trades at a bound, a row at a bound where d is 0.
            way = np.where(free, np.where(new > 0, self.high, self.low) - v, -d)
            row, share = _first(way, np.where(free, v_end - v, d_end - d), may)
            v, d = v + share * (v_end - v), d + share * (d_end - d)
            if free[row]:
                held, sign = row, float(new[row])
            status[row] = new[row]
        return np.nan

    def _changes_of_features(
        self, free: NDArray[np.bool_], held: int, sign: float
    ) -> list[Array]:
        """Return how d may change with the features that the free rows leave open.

        The residual of the row held last gets the sign of its bound; if the open
        features do not change it, either direction will do.
        """
        F = self.F[free]
        _, s, Vt = np.linalg.svd(F, full_matrices=len(F) < F.shape[1])
        N = Vt[int((s > SLACK * self.size_F).sum()) :]
        if not len(N):
            return []
        along = N @ self.F[held]
        if np.abs(along).max() > SLACK * self.size_F:
            return [sign * (self.F @ (along @ N))]
        return [self.F @ N[0], -self.F @ N[0]]

    def _until_free(
        self,
        changes: list[Array],
        status: NDArray[np.int8],
        d: Array,
        others: list[int],
    ) -> tuple[int, Array]:
        """Return the first row at a bound that reaches its kink, and d there.

        -1 if no row does, so that nothing determines the features.
        """
        for change in changes:
            may = (status != 0) & (change * status < -SLACK * np.abs(change).max())
            may[others] = False
            if may.any():
                row, share = _first(-d, change, may)
                return row, d + share * change
        return -1, d

    def _point(self, i: int, status: NDArray[np.int8]) -> tuple[Array, Array]:
        """Return v and d of all rows, with v_i = 0."""
        x = self._inputs(i, status)
        used = np.flatnonzero(x)
        return self._values(x, self.base + self.T[:, used] @ x[used])

    def _values(self, x: Array, out: Array) -> tuple[Array, Array]:
        """Return v and d, from the inputs and the outputs of (1)."""
        return np.where(self.free, out, self.v + x), np.where(self.free, x, out)

    def _inputs(self, i: int, status: NDArray[np.int8]) -> Array:
        """Return the inputs of (1) at which traded rows are at their bounds, or free.

        Row i is held at 0. NaN if no inputs do that, as where all rows but i are at
        their bounds and a feature is free.
        """
        held = status != 0
        held[i] = True
        bound = np.where(status > 0, self.high, self.low)
        bound[i] = 0.0
        x = np.zeros(len(status))
        moved = held & ~self.free & (status != self.status)
        moved[i] = not self.free[i]
        x[moved] = (bound - self.v)[moved]
        unknown = np.flatnonzero(held == self.free)
        if len(unknown):
            wanted = np.where(self.free, bound, 0.0)[unknown] - self.base[unknown]
            known = np.flatnonzero(moved)
            right = wanted - self.T[np.ix_(unknown, known)] @ x[known]
            try:
                x[unknown] = np.linalg.solve(self.T[np.ix_(unknown, unknown)], right)
            except np.linalg.LinAlgError:
                x[unknown] = np.nan
            if not (np.abs(x) <= self.most).all():  # singular, but for rounding
                x[unknown] = np.nan
        return x

    def _trades(self, status: NDArray[np.int8], v: Array, d: Array) -> NDArray[np.int8]:
        """Return the status that the values ask for, one left-out row after another."""
        new = status.copy()
        new[(status == 0) & (v < self.low - self.slack_v)] = -1
        new[(status == 0) & (v > self.high + self.slack_v)] = 1
        new[(status < 0) & (d > self.slack_d)] = 0
        new[(status > 0) & (d < -self.slack_d)] = 0
        return new


def _first(way: Array, change: Array, may: NDArray[np.bool_]) -> tuple[int, float]:
    """Return the row that first has gone its way, and the share of the change."""
    share = np.full(len(way), np.inf)
    share[may] = np.maximum(way[may] / change[may], 0.0)
    row = int(share.argmin())
    return row, float(share[row])


def _near(d: Array, F: Array, inside: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mark the rows nearest to a kink that determine F, if the free rows do not."""
    out, k = np.zeros(len(d), dtype=bool), F.shape[1]
    free = F[inside]
    if k and (len(free) < k or np.linalg.matrix_rank(free) < k):
        weight = 1.0 / (np.abs(d) + SLACK * (float(np.abs(d).max()) or 1.0))
        order = sla.qr((weight[:, None] * F).T, mode="r", pivoting=True)[1]
        out[order[:k]] = True
    return out


def _one_step(M: Array, F: Array, box: Box, v: Array, b: Array) -> Array:
    """(3) of `bordered_system.py`, with curvatures of kinks that are rounded."""
    g = M @ v + F @ b
    size = float(np.abs(box.target).max()) or 1.0
    unit = max(float(np.trace(M)), 0.0) / len(M) or 1.0  # M may be rounding errors only
    span = box.high - box.low
    near = np.abs(box.target - g - box.e * v) <= ROUNDED * size
    h = np.where(near, span / (ROUNDED * size + box.e * span), FLAT / unit)
    if near.sum() <= F.shape[1] > 0:
        # If few rows have curvature, nothing determines the unpenalized features. A
        # weak penalty keeps them from moving by more than the size of the labels. It
        # must not be stronger than that of M, which is weaker yet for a small alpha.
        spread = F @ F.T
        M, F = M + max(size, unit) / np.diag(spread).max() * spread, F[:, :0]
    return loo_values(g, v, h, Bordered(M, F, h).shares())
