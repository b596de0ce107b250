r"""Whitening: coordinates in which a penalty matrix is the identity.

.. math:: Q = R'R, \quad \tilde phi = R^{-T} phi, \quad theta = R^{-1} \tilde theta

so that theta' Q theta is the squared length of theta~. R is a Cholesky factor; where Q
is singular to rounding it is the square root of what is left above ``eps * p * max`` of
the eigenvalues, and the directions below are reported, never patched by a jitter. A
diagonal Q, such as the identity of random features, costs no factorization at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dpocon, dpotrf

from halfmoon.eigen import symmetric_eigen
from halfmoon.rows import Array

__all__ = ["Whitening", "nothing_to_whiten", "whitening"]

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Whitening:
    """A root of a penalty matrix, and what of it is numerically 0.

    Attributes
    ----------
    root : ndarray of shape (p, p), (p, rank) or (p,)
        Upper triangular R; R^-1 itself where Q was truncated; the diagonal of R where
        it has nothing else.
    truncated : bool
        Whether `root` is R^-1.
    null : ndarray of shape (p, p - rank)
        Orthonormal directions in which Q is 0 to rounding.
    """

    root: Array
    truncated: bool
    null: Array

    @property
    def rank(self) -> int:
        """Numerical rank of Q."""
        return int(self.root.shape[-1])

    def whiten(self, Phi: Array) -> Array:
        """Phi R^-1, shape (b, rank)."""
        if self.truncated:
            return Phi @ self.root
        if self.root.ndim == 1:
            return Phi / self.root
        return np.asarray(dtrsm(1.0, self.root, Phi.T, trans_a=1).T)

    def unwhiten(self, theta: Array) -> Array:
        """R^-1 theta, shape (p, t)."""
        if self.truncated:
            return self.root @ theta
        if self.root.ndim == 1:
            return theta / self.root[:, None]
        return np.asarray(dtrsm(1.0, self.root, theta))

    def congruence(self, G: Array) -> Array:
        """R^-T G R^-1 for a symmetric G, shape (rank, rank)."""
        half = self.whiten(G)  # G R^-1
        out = self.whiten(half.T)  # (R^-T G) R^-1, as G is symmetric
        return np.asarray((out + out.T) / 2)


def nothing_to_whiten(p: int) -> Whitening:
    """The root of the identity of p functions, which is not formed."""
    return Whitening(np.ones(p), truncated=False, null=np.empty((p, 0)))


def whitening(Q: Array) -> Whitening:
    """Factor a positive semi-definite Q = R'R at its numerical rank.

    Parameters
    ----------
    Q : ndarray of shape (p, p)

    Returns
    -------
    Whitening
        O(p^3): a Cholesky factorization, or an eigendecomposition where that fails or
        its factor is too ill-conditioned to solve with. O(p^2) for a diagonal Q.
    """
    p = Q.shape[0]
    diagonal = np.diag(Q)
    well = diagonal.min(initial=np.inf) > EPS * p * diagonal.max(initial=0.0)
    if well and np.count_nonzero(Q) == p:
        root = np.sqrt(diagonal)
        return Whitening(root, truncated=False, null=np.empty((p, 0)))
    R, failed = dpotrf(Q)  # upper triangular
    if not failed:
        reciprocal_condition, _ = dpocon(R, np.abs(Q).sum(axis=0).max())
        if reciprocal_condition > EPS * p:
            return Whitening(R, truncated=False, null=np.empty((p, 0)))
    values, vectors = symmetric_eigen(Q)
    top = max(float(values[-1]), 0.0)
    if values[0] < -np.sqrt(EPS) * top or (top == 0 and values[0] < 0):
        raise ValueError(
            f"The penalty is not positive semi-definite: its eigenvalues reach from "
            f"{values[0]:.3g} to {values[-1]:.3g}. Only a conditionally positive "
            f"definite kernel in the exact basis may be so."
        )
    kept = values > EPS * p * top
    return Whitening(
        vectors[:, kept] / np.sqrt(values[kept]),
        truncated=True,
        null=vectors[:, ~kept],
    )
