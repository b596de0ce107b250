r"""The labeled rows in the coordinates of the ridge path, for fits to some of them.

At the labeled rows every function of the problem is, root weights in,

.. math:: g = Z v, \quad Z = (Q_1, \; U diag(s)), \quad penalty = lam |v_s|^2

with Q_1 an orthonormal basis of the unpenalized features, which are free, and s, U of
`halfmoon.solvers.ridge`. So a fit to some of the labeled rows is ridge regression of
dimension at most l on rows of Z, at any lam, whatever the levers. The other rows are
unlabeled ones of the same table, as in leave-one-out, and Z gives their values.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import scipy.linalg as sla

from halfmoon.problem import Posed
from halfmoon.rows import Array, Indices, Rows

__all__ = ["RowCoordinates", "RowSmoother"]

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
        """What a target of 1 at row i adds to the values at the rows, shape (r,)."""
        if self._dense is not None:
            return self._dense[i]
        return self.S[self.rows] @ self.S[self.rows[i]]

    @cached_property
    def _dense(self) -> Array | None:
        """H of the rows, shape (r, r), where it is small: columns are then at hand."""
        if len(self.rows) > DENSE:
            return None
        return np.asarray(self.S[self.rows] @ self.S[self.rows].T)

    def own(self) -> Array:
        """H_ii of the rows, shape (r,): what a target adds to the value of its row."""
        return np.einsum("ij,ij->i", self.S[self.rows], self.S[self.rows])


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
    """

    Z: Array
    penalized: Array
    root_w: Array
    total_weight: float

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
        return cls(Z, penalized, posed.root_w, posed.total_weight)

    def smoother(self, alpha: float, rows: Indices | None = None) -> RowSmoother:
        """Ridge with targets at the given rows alone, None being all labeled ones.

        The averaged loss is over these rows: lam is alpha times their weight.
        """
        rows = np.arange(len(self.Z)) if rows is None else rows
        lam = self.lam(alpha, rows)
        A = self.Z[rows].T @ self.Z[rows]
        A[np.diag_indices(len(A))] += lam * self.penalized
        return RowSmoother(half_solve(A, self.Z), rows)

    def lam(self, alpha: float, rows: Indices) -> float:
        """The penalty beside the loss summed over the given rows."""
        return alpha * float((self.root_w[rows] ** 2).sum())


def half_solve(A: Array, Z: Array) -> Array:
    """S with S S' = Z A^+ Z', for positive semi-definite A of shape (m, m)."""
    chol, failed = sla.lapack.dpotrf(A, lower=True)
    if not failed:
        diagonal = np.abs(np.diagonal(chol))
        if diagonal.min(initial=np.inf) ** 2 > EPS * len(A) * A.diagonal().max():
            half = sla.solve_triangular(chol, Z.T, lower=True, check_finite=False)
            return np.asarray(half.T)
    # Directions that neither the rows nor the penalty sees are left at 0.
    s, V = sla.eigh(A, check_finite=False)
    kept = s > EPS * len(A) * s[-1]
    return np.asarray(Z @ (V[:, kept] / np.sqrt(s[kept])))
