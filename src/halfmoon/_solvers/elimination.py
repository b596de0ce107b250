r"""Elimination of unpenalized columns by orthogonal projection.

.. math:: F = Q_1 T, \quad P = Q_1 Q_1', \quad N'N = I, \; N'F = 0

Q1 spans the columns of F and N everything else. Multiplying a problem by N' removes
beta from it; afterwards beta solves :math:`T beta = Q_1'(y - Phi theta)`. Columns that
depend on others to rounding are found by pivoting and named in a warning. The
coefficients are then those of least norm.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import scipy.linalg as sla
from scipy.linalg.lapack import dormqr

from halfmoon._rows import EPS, Array, Indices

__all__ = ["Elimination"]

BLOCK = 64  # columns that LAPACK reflects together


class Elimination:
    """Q1, T and products with N, for columns F that already carry the root weights.

    F may have no columns. A warning names the columns that depend on others, unless
    `quiet`.
    """

    Q1: Array  # (l, rank)
    T: Array  # (rank, k)
    rank: int
    dependent: list[str]  # names of columns that are 0 or depend on the others

    def __init__(
        self, F: Array, names: Sequence[str] | None = None, *, quiet: bool = False
    ) -> None:
        l, k = F.shape
        if k == 0:
            self.rank, self.dependent = 0, []
            self.Q1, self.T = np.zeros((l, 0)), np.zeros((0, 0))
            return
        names = [f"column {j}" for j in range(k)] if names is None else names
        scale = np.sqrt(np.einsum("ij,ij->j", F, F))
        scale[scale == 0] = 1.0
        # Columns of unit length, so that the rank does not depend on their units.
        Q, R, order = sla.qr(F / scale, mode="economic", pivoting=True)
        diagonal = np.abs(np.diag(R))
        top = diagonal[0] if l else 0.0
        self.rank = int((diagonal > EPS * max(l, k) * top).sum())
        self.dependent = [names[j] for j in sorted(order[self.rank :])]
        self.Q1 = Q[:, : self.rank]
        self.T = np.empty((self.rank, k))
        self.T[:, order] = R[: self.rank]
        self.T *= scale
        if self.rank:
            (self._reflectors, self._tau), _ = sla.qr(self.Q1, mode="raw")
            self._set_null_space(R[: self.rank], order, scale)
        if self.dependent and not quiet:
            warnings.warn(
                f"The unpenalized features have {k} columns but rank {self.rank} on "
                f"the {l} labeled rows: {', '.join(self.dependent)} depend(s) on the "
                f"others there. Their coefficients are those of least norm. Drop these "
                f"columns, label more rows, or let them be penalized.",
                stacklevel=4,
            )

    def complement(self, M: Array) -> Array:
        """Return N'M, shape (l - rank, q), for M of shape (l, q)."""
        return self._rotate(M, "T")[self.rank :]

    def congruence(self, K: Array) -> Array:
        """Return N'K N, shape (l - rank, l - rank), for a symmetric K."""
        half = self._rotate(K.T, "T")  # the transpose is in Fortran's order already
        return self._rotate(half, "N", side="R")[self.rank :, self.rank :]

    def expand(self, V: Array) -> Array:
        """Return N V, shape (l, q), for V of shape (l - rank, q)."""
        whole = np.zeros((len(self.Q1), V.shape[1]), order="F")
        whole[self.rank :] = V
        return self._rotate(whole, "N")

    def solve(self, M: Array) -> Array:
        """Return the beta of least norm, (k, q), with T beta = M, (rank, q)."""
        beta = np.zeros((self.T.shape[1], M.shape[1]))
        if self.rank == 0:
            return beta
        beta[self._lead] = sla.solve_triangular(self._R, M) / self._scale[:, None]
        return np.asarray(beta - self._null @ (self._null.T @ beta))

    def solve_adjoint(self, F: Array) -> Array:
        """Return T^-T f for each row f of F, shape (b, rank)."""
        if self.rank == 0:
            return np.zeros((F.shape[0], 0))
        F = F - (F @ self._null) @ self._null.T
        scaled = F[:, self._lead] / self._scale
        return np.asarray(sla.solve_triangular(self._R, scaled.T, trans="T").T)

    def _set_null_space(self, R: Array, order: Indices, scale: Array) -> None:
        """Store the leading columns of T and its null space, for least norm.

        A solution in the leading columns alone scales each column separately, so that
        units cost no digits. Its part in the null space is subtracted afterwards.
        """
        lead, rest = order[: self.rank], order[self.rank :]
        self._R, self._lead, self._scale = R[:, : self.rank], lead, scale[lead]
        null = np.zeros((len(order), len(rest)))
        null[rest] = np.eye(len(rest))
        by_lead = sla.solve_triangular(self._R, R[:, self.rank :] * scale[rest])
        null[lead] = -by_lead / self._scale[:, None]
        self._null = sla.qr(null, mode="economic")[0] if len(rest) else null

    def _rotate(self, M: Array, trans: str, side: str = "L") -> Array:
        """Return Q'M, Q M or M Q with Q = (Q1, N), fastest in Fortran's order."""
        if self.rank == 0:
            return M
        room = BLOCK * (max(M.shape) + BLOCK + 1)  # what LAPACK wants for its blocks
        out, _, _ = dormqr(side, trans, self._reflectors, self._tau, M, room)
        return np.asarray(out)
