"""Eigendecomposition of a symmetric matrix: the one call for it."""

from __future__ import annotations

import scipy.linalg as sla

from halfmoon.rows import Array

__all__ = ["symmetric_eigen"]


def symmetric_eigen(A: Array) -> tuple[Array, Array]:  # (p,), (p, p)
    """Eigenvalues, rising, and eigenvectors as columns. O(p^3).

    By divide and conquer, which is the fastest where all eigenvectors are wanted.
    """
    values, vectors = sla.eigh(A, driver="evd", check_finite=False)
    return values, vectors
