r"""Whitening: coordinates in which a penalty matrix is the identity.

.. math:: Q = R'R, \quad \tilde phi = R^{-T} phi, \quad theta = R^{-1} \tilde theta

so that theta' Q theta is the squared length of theta~. R is a Cholesky factor. If Q is
numerically singular, R is its square root over the eigenvalues above ``eps * p * max``.
The other directions are reported; no jitter is added. A diagonal Q, such as the
identity of random features, needs no factorization.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dpocon, dpotrf

from halfmoon._rows import EPS, Array

__all__ = [
    "Whitening",
    "identity_whitening",
    "refuse_asymmetric",
    "whitening",
]

TILE = 128  # rows and columns; a tile and its mirror image fit into a cache
ILL_CONDITIONED = 1e-6  # reciprocal condition of Q
ASYMMETRY = 1e-4  # relative to the largest entry: what rounding to float32 may leave


def refuse_asymmetric(A: Array, *, name: str) -> None:
    """Raise a ValueError for a square matrix that is not symmetric, but for rounding.

    Factorizations read one triangle only, so they would not notice.
    """
    limit = ASYMMETRY * max(float(A.max(initial=0.0)), -float(A.min(initial=0.0)))
    starts = range(0, len(A), TILE)
    for row, column in product(starts, starts):
        if row > column:
            continue
        rows, columns = slice(row, row + TILE), slice(column, column + TILE)
        off = A[rows, columns] - A[columns, rows].T
        if max(off.max(), -off.min()) > limit:
            place = np.unravel_index(np.abs(off).argmax(), off.shape)
            i, j = int(place[0]) + row, int(place[1]) + column
            raise ValueError(
                f"{name} is not symmetric: entry ({i}, {j}) is {A[i, j]:.6g} and entry "
                f"({j}, {i}) is {A[j, i]:.6g}. A symmetric kernel is needed."
            )


@dataclass(frozen=True)
class Whitening:
    """A root of a penalty matrix, and its numerical null space."""

    root: Array  # R, (p, p); or R^-1, (p, rank); or the diagonal of a diagonal R, (p,)
    truncated: bool  # whether the root is R^-1, because Q has no full rank
    null: Array  # (p, p - rank), orthonormal directions in which Q is numerically 0
    ill_conditioned: bool = False  # so that it enlarges rounding errors of moments

    @property
    def rank(self) -> int:
        """Numerical rank of Q."""
        return int(self.root.shape[-1])

    def whiten(self, Phi: Array) -> Array:
        """Return Phi R^-1, shape (b, rank)."""
        if self.truncated:
            return Phi @ self.root
        if self.root.ndim == 1:
            return Phi / self.root
        return np.asarray(dtrsm(1.0, self.root, Phi.T, trans_a=1).T)

    def unwhiten(self, theta: Array) -> Array:
        """Return R^-1 theta, shape (p, t)."""
        if self.truncated:
            return self.root @ theta
        if self.root.ndim == 1:
            return theta / self.root[:, None]
        return np.asarray(dtrsm(1.0, self.root, theta))

    def congruence(self, G: Array) -> Array:
        """Return R^-T G R^-1 for a symmetric G, shape (rank, rank)."""
        half = self.whiten(G)  # G R^-1
        out = self.whiten(half.T)  # (R^-T G) R^-1, as G is symmetric
        return np.asarray((out + out.T) / 2)


def identity_whitening(p: int) -> Whitening:
    """Return the whitening of a p-by-p identity, which is not formed."""
    return Whitening(np.ones(p), truncated=False, null=np.empty((p, 0)))


def whitening(Q: Array) -> Whitening:
    """Factor a positive semi-definite Q = R'R, (p, p), at its numerical rank.

    O(p^3) time, by a Cholesky factorization, or by an eigendecomposition if that fails
    or is too ill-conditioned. O(p^2) for a diagonal Q.
    """
    p = Q.shape[0]
    diagonal = np.diag(Q)
    well = diagonal.min(initial=np.inf) > EPS * p * diagonal.max(initial=0.0)
    if well and np.count_nonzero(Q) == p:
        return Whitening(np.sqrt(diagonal), truncated=False, null=np.empty((p, 0)))
    R, failed = dpotrf(Q)  # upper triangular
    if not failed:
        reciprocal_condition, _ = dpocon(R, np.abs(Q).sum(axis=0).max())
        if reciprocal_condition > EPS * p:
            ill = bool(reciprocal_condition < ILL_CONDITIONED)
            return Whitening(R, False, np.empty((p, 0)), ill_conditioned=ill)
    values, vectors = np.linalg.eigh(Q)
    top = max(float(values[-1]), 0.0)
    if values[0] < -np.sqrt(EPS) * top or (top == 0 and values[0] < 0):
        raise ValueError(
            f"The penalty is not positive semi-definite: its eigenvalues range from "
            f"{values[0]:.3g} to {values[-1]:.3g}. Use a positive definite kernel, or "
            f"a conditionally positive definite one in the exact basis."
        )
    above = values > EPS * p * top
    root = vectors[:, above] / np.sqrt(values[above])
    return Whitening(root, True, vectors[:, ~above], ill_conditioned=True)
