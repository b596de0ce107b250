r"""The labeled rows in the coordinates of the ridge path, for fits to some of them.

At the labeled rows every function of the problem is, root weights in,

.. math:: g = Z v, \quad Z = (Q_1, \; U diag(s)), \quad penalty = lam |v_s|^2

with Q_1 an orthonormal basis of the unpenalized features, which are free, and s, U of
`halfmoon.solvers.ridge`. So a fit to some of the labeled rows is ridge regression of
dimension at most l on rows of Z, at any lam, whatever the levers. The other rows are
unlabeled ones of the same table, as in leave-one-out, and Z gives their values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self, TypeAlias

import numpy as np
import scipy.linalg as sla

from halfmoon.problem import Posed
from halfmoon.rows import Array, Indices, Rows
from halfmoon.solvers.ridge import RowFactor

__all__ = ["DenseSmoother", "RowCoordinates", "RowSmoother", "Smoother"]

DENSE = 4_000  # rows: 128 MB
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class RowSmoother:
    """Ridge on some of the labeled rows: targets to values at all of them.

    Attributes
    ----------
    S : ndarray of shape (l, m)
        Values from targets y~ of the rows: S S[rows]'y~, root weights in.
    rows : ndarray of shape (r,)
    """

    S: Array
    rows: Indices

    def values(self, y: Array) -> Array:
        """Fitted values at all labeled rows, from targets of the rows; (l, t)."""
        return self.S @ (self.S[self.rows].T @ y)

    def column(self, i: int) -> Array:
        """What a target of 1 at the i-th of the rows adds to their values, (r,)."""
        return self.S[self.rows] @ self.S[self.rows[i]]

    def own(self) -> Array:
        """H_ii of the rows, shape (r,): what a target adds to the value of its row."""
        return np.einsum("ij,ij->i", self.S[self.rows], self.S[self.rows])


@dataclass(frozen=True)
class DenseSmoother:
    """The same with the matrix itself, where there are few rows: columns are at hand.

    Attributes
    ----------
    H : ndarray of shape (l, r)
    rows : ndarray of shape (r,)
    """

    H: Array
    rows: Indices

    def values(self, y: Array) -> Array:
        """Fitted values at all labeled rows, from targets of the rows; (l, t)."""
        return self.H @ y

    def column(self, i: int) -> Array:
        """What a target of 1 at the i-th of the rows adds to their values, (r,)."""
        return self.H[self.rows, i]

    def own(self) -> Array:
        """H_ii of the rows, shape (r,)."""
        return self.H[self.rows, np.arange(len(self.rows))]


Smoother: TypeAlias = RowSmoother | DenseSmoother


@dataclass(frozen=True)
class RowCoordinates:
    """Z, what of it is penalized, and the weights that are in it.

    Attributes
    ----------
    Z : ndarray of shape (l, m)
    penalized : ndarray of shape (m,)
        1 in the directions that the penalty sees, else 0.
    root_w : ndarray of shape (l, 1)
    total_weight : float
    complete : RowFactor or None
        U and s^2 with the directions of s = 0, where the factorization has them.
    """

    Z: Array
    penalized: Array
    root_w: Array
    total_weight: float
    complete: RowFactor | None = None

    @classmethod
    def of(cls, posed: Posed) -> Self:
        """Coordinates of the labeled rows of a problem, by its factorization."""
        path, Q1 = posed.path, posed.elimination.Q1
        if path.rows is not None:
            seen = path.rows.s2 > 0
            A = path.rows.U[:, seen] * np.sqrt(path.rows.s2[seen])
        else:
            M = posed.whitening.unwhiten(path.V)

            def in_path(rows: Rows, root_w: Array, own: Array) -> Array:
                values = root_w * (posed.basis.transform(rows) @ M)
                return values - own @ (path.cross @ path.V)

            A = posed.stream.map(
                in_path, posed.X_l, posed.root_w, Q1, row_bytes=posed.basis.row_bytes
            )[:, path.s2 > 0]
        Z = np.hstack([Q1, A])
        penalized = np.repeat([0.0, 1.0], [Q1.shape[1], A.shape[1]])
        return cls(Z, penalized, posed.root_w, posed.total_weight, path.rows)

    def lam(self, alpha: float) -> float:
        """W alpha, held where rows are held out, as in leave-one-out."""
        return self.total_weight * alpha

    def smoother(self, alpha: float, rows: Indices | None = None) -> Smoother:
        """Ridge with targets at the given rows alone, None being all labeled ones."""
        rows = np.arange(len(self.Z)) if rows is None else rows
        A = self.Z[rows].T @ self.Z[rows]
        A[np.diag_indices(len(A))] += self.lam(alpha) * self.penalized
        S = half_solve(A, self.Z)
        if len(rows) > DENSE:
            return RowSmoother(S, rows)
        return DenseSmoother(S @ S[rows].T, rows)

    def without(self, alpha: float, folds: Sequence[Indices]) -> Iterator[Smoother]:
        r"""Ridge without each of some folds, at a fraction of the cost of fits anew.

        A held-out label is one that is free: the minimum of y'M y over the labels of a
        fold, M = I - H, is at

        .. math:: y_F = M_{FF}^{-1} H_{FR} y_R, \quad
                  H_{without F} = H_{RR} + H_{RF} M_{FF}^{-1} H_{FR}
        """
        M = self._left(alpha)
        for fold in folds:
            kept = np.delete(np.arange(len(self.Z)), fold)
            chol = None if M is None else _cholesky(M[np.ix_(fold, fold)])
            if M is None or chol is None:
                yield self.smoother(alpha, kept)
                continue
            H_FR = -M[np.ix_(fold, kept)]
            H = np.empty((len(M), len(kept)))
            H[fold] = sla.cho_solve((chol, True), H_FR, check_finite=False)
            H[kept] = H_FR.T @ H[fold] - M[np.ix_(kept, kept)]
            H[kept, np.arange(len(kept))] += 1.0
            yield DenseSmoother(H, kept)

    def _left(self, alpha: float) -> Array | None:
        """M = I - H of all rows without cancellation, where they are few enough."""
        lam = self.lam(alpha)
        if self.complete is None or len(self.Z) > DENSE or lam == 0:
            return None
        half = self.complete.U * np.sqrt(lam / (self.complete.s2 + lam))
        return np.asarray(half @ half.T)


def _cholesky(A: Array) -> Array | None:
    """The lower factor of A; None where A is singular to rounding."""
    chol, failed = sla.lapack.dpotrf(A, lower=True)
    pivots = np.diagonal(chol) ** 2
    if failed or pivots.min(initial=np.inf) <= EPS * len(A) * A.diagonal().max(
        initial=0.0
    ):
        return None
    return np.asarray(chol)


def half_solve(A: Array, Z: Array) -> Array:
    """S with S S' = Z A^+ Z', for positive semi-definite A of shape (m, m)."""
    chol = _cholesky(A)
    if chol is not None:
        half = sla.solve_triangular(chol, Z.T, lower=True, check_finite=False)
        return np.asarray(half.T)
    # Directions that neither the rows nor the penalty sees are left at 0.
    s, V = sla.eigh(A, check_finite=False)
    kept = s > EPS * len(A) * s[-1]
    return np.asarray(Z @ (V[:, kept] / np.sqrt(s[kept])))
