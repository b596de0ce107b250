r"""The labeled rows in the coordinates of the ridge path, to fit subsets of them.

At the labeled rows every function of the problem is, with root weights,

.. math:: g = Z v, \quad Z = (Q_1, \; U diag(s)), \quad penalty = lam |v_s|^2

with Q_1 an orthonormal basis of the unpenalized features and s, U of
`halfmoon._solvers.ridge`. So a fit to some of the labeled rows is ridge regression of
dimension at most l on rows of Z, for any lam and any lever. The other rows stay in the
table as unlabeled ones, as in leave-one-out, and Z gives their values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.linalg as sla

from halfmoon._rows import EPS, Array, Indices, Rows
from halfmoon.problem._posed import Posed

__all__ = ["RowCoordinates", "RowSmoother", "cholesky", "half_solve"]

MAX_DENSE_ROWS = 4_000  # 128 MB


@dataclass(frozen=True)
class RowSmoother:
    """Ridge on some of the labeled rows: maps their targets to values at all.

    The matrix is H = left right'; targets and values include root weights.
    """

    rows: Indices  # (r,)
    left: Array  # (l, m)
    right: Array | None = None  # (r, m); None is the identity, for few rows

    def values(self, y: Array) -> Array:
        """Return the values at all labeled rows for targets of the rows, (l, t)."""
        return self.left @ (y if self.right is None else self.right.T @ y)

    def column(self, i: int) -> Array:
        """Return what a target of 1 at the i-th row adds to the values, (r,)."""
        if self.right is None:
            return self.left[self.rows, i]
        return self.left[self.rows] @ self.right[i]

    def diagonal(self) -> Array:
        """Return H_ii of the rows, shape (r,)."""
        if self.right is None:
            return self.left[self.rows, np.arange(len(self.rows))]
        return np.einsum("ij,ij->i", self.left[self.rows], self.right)


@dataclass(frozen=True)
class RowCoordinates:
    """The matrix Z, its penalized columns, and the weights of its rows."""

    Z: Array  # (l, m)
    penalized: Array  # (m,), 1 for penalized columns, else 0
    root_w: Array  # (l, 1)
    total_weight: float
    complete: tuple[Array, Array] | None = None  # all U and s^2, if they were kept

    @classmethod
    def of(cls, posed: Posed) -> Self:
        """Return the coordinates of the labeled rows of a posed problem."""
        path, Q1 = posed.path, posed.elimination.Q1
        positive, complete = path.s2 > 0, None
        if path.rows is not None:
            A = path.rows.U[:, positive] * np.sqrt(path.s2[positive])
            complete = path.rows.U, path.s2
        else:
            M = posed.whitening.unwhiten(path.V)

            def in_path(rows: Rows, root_w: Array, Q1: Array) -> Array:
                values = root_w * (posed.basis.transform(rows) @ M)
                return values - Q1 @ (path.cross @ path.V)

            A = posed.stream.map(
                in_path, posed.X_l, posed.root_w, Q1, row_bytes=posed.basis.row_bytes
            )[:, positive]
        Z = np.hstack([Q1, A])
        penalized = np.repeat([0.0, 1.0], [Q1.shape[1], A.shape[1]])
        return cls(Z, penalized, posed.root_w, posed.total_weight, complete)

    def lam(self, alpha: float) -> float:
        """Return W alpha; the same where rows are held out, as in leave-one-out."""
        return self.total_weight * alpha

    def smoother(self, alpha: float, rows: Indices | None = None) -> RowSmoother:
        """Return ridge with targets at the given rows; None is all labeled rows."""
        rows = np.arange(len(self.Z)) if rows is None else rows
        A = self.Z[rows].T @ self.Z[rows]
        A[np.diag_indices(len(A))] += self.lam(alpha) * self.penalized
        S = half_solve(A, self.Z)
        if len(rows) > MAX_DENSE_ROWS:
            return RowSmoother(rows, S, S[rows])
        return RowSmoother(rows, S @ S[rows].T)

    def without(self, alpha: float, folds: Sequence[Indices]) -> Iterator[RowSmoother]:
        r"""Yield ridge without each of some folds, much faster than by refits.

        A held-out label is a free variable: the minimum of y'M y over the labels of a
        fold, M = I - H, is at

        .. math:: y_F = M_{FF}^{-1} H_{FR} y_R, \quad
                  H_{without F} = H_{RR} + H_{RF} M_{FF}^{-1} H_{FR}
        """
        M = self._residual_matrix(alpha)
        for fold in folds:
            rest = np.delete(np.arange(len(self.Z)), fold)
            chol = None if M is None else cholesky(M[np.ix_(fold, fold)])
            if M is None or chol is None:
                yield self.smoother(alpha, rest)
                continue
            H_FR = -M[np.ix_(fold, rest)]
            H = np.empty((len(M), len(rest)))
            H[fold] = sla.cho_solve((chol, True), H_FR, check_finite=False)
            H[rest] = H_FR.T @ H[fold] - M[np.ix_(rest, rest)]
            H[rest, np.arange(len(rest))] += 1.0
            yield RowSmoother(rest, H)

    def _residual_matrix(self, alpha: float) -> Array | None:
        """Return M = I - H of all rows, without cancellation; None for many rows."""
        lam = self.lam(alpha)
        if self.complete is None or len(self.Z) > MAX_DENSE_ROWS or lam == 0:
            return None
        U, s2 = self.complete
        half = U * np.sqrt(lam / (s2 + lam))
        return np.asarray(half @ half.T)


def cholesky(A: Array) -> Array | None:
    """Return the lower factor of A; None if A is singular to rounding."""
    chol, failed = sla.lapack.dpotrf(A, lower=True)
    pivots = np.diagonal(chol) ** 2
    if failed or pivots.min(initial=np.inf) <= EPS * len(A) * A.diagonal().max(
        initial=0.0
    ):
        return None
    return np.asarray(chol)


def half_solve(A: Array, Z: Array) -> Array:
    """Return S with S S' = Z A^+ Z', for positive semi-definite A of shape (m, m)."""
    chol = cholesky(A)
    if chol is not None:
        half = sla.solve_triangular(chol, Z.T, lower=True, check_finite=False)
        return np.asarray(half.T)
    # Directions that neither the rows nor the penalty determine stay at 0.
    s, V = sla.eigh(A, check_finite=False)
    kept = s > EPS * len(A) * s[-1]
    return np.asarray(Z @ (V[:, kept] / np.sqrt(s[kept])))
