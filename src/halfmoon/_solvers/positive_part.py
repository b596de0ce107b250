"""Kernel matrices that rounding made indefinite, and those that are.

A kernel matrix has no negative eigenvalues on what is orthogonal to the unpenalized
features F. Computed, it has some: as large as the rounding errors of the whole matrix,
from which F was projected out, or the errors of a kernel that is summed as a series.
Eigenvalues below the former count as 0. Below the latter, the kernel is not what it
should be.
"""

from __future__ import annotations

import numpy as np

from halfmoon._rows import EPS, Array

__all__ = [
    "IndefiniteKernelError",
    "column_sum_norm",
    "indefinite_limit",
    "positive_part",
    "rounding_of_projection",
]

# Negative eigenvalues up to this share of the size of K are errors of its computation.
# Kernels that are summed as series, such as diffusions, are accurate to about 1e-7.
INDEFINITE = 1e-6


class IndefiniteKernelError(ValueError):
    """A kernel matrix has negative eigenvalues that are no rounding errors."""


def positive_part(
    M: Array,  # (l, l)
    size: float,  # `column_sum_norm` of the matrix that F was projected out of
) -> Array:  # (l, l)
    """Return a projected kernel matrix at its numerical rank. O(l^3)."""
    s2, E = np.linalg.eigh(M)
    rounding = rounding_of_projection(s2, size, len(M))
    root = E * np.sqrt(np.where(s2 > rounding, s2, 0.0))
    return np.asarray(root @ root.T)


def column_sum_norm(K: Array) -> float:
    """Return a bound of the absolute eigenvalues of K."""
    return float(np.abs(K).sum(axis=0).max(initial=0.0))


def rounding_of_projection(s2: Array, size: float, l: int) -> float:
    """Return below what the eigenvalues of a projected kernel matrix are 0.

    Projecting F out leaves rounding errors of the size of the whole matrix.
    """
    lowest = s2.min(initial=0.0)
    if lowest < -indefinite_limit(size, l):
        raise IndefiniteKernelError(
            f"The kernel is not positive definite on the complement of the unpenalized "
            f"features: eigenvalues range from {lowest:.3g} to {s2[-1]:.3g}. A "
            f"conditionally positive definite kernel needs the polynomials of its "
            f"degree unpenalized."
        )
    return EPS * l * size


def indefinite_limit(size: float, l: int) -> float:
    """Return how far below 0 the errors of a kernel matrix may take eigenvalues."""
    return max(INDEFINITE, 10 * EPS * l) * size
