r"""Is a kernel positive definite, or conditionally so? A look at some rows.

A kernel k is conditionally positive definite with respect to features F if

.. math:: c'K c \ge 0 \quad for all c with F'c = 0,

that is, if N'K N has no negative eigenvalue, N an orthonormal basis of the c with
F'c = 0. For kernels of this library `conditional_degree` says so; for a function of the
user's own the rows at hand can refute it, though not prove it for all others.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import scipy.linalg as sla

from halfmoon.kernels.names import as_kernel
from halfmoon.rows import Array, Rows, as_rows

__all__ = ["conditional_degree_of", "least_eigenvalue"]

ROUNDING = 1e-10  # of the largest eigenvalue: what counts as 0
HIGHEST = 2  # degree


def least_eigenvalue(kernel: Any, X: Rows, F: Array | None = None) -> float:
    """Least eigenvalue of N'K N, as a share of the largest in size.

    Parameters
    ----------
    kernel : Kernel, str or callable
    X : array-like of shape (n, d)
        Some hundred rows: O(n^3).
    F : array-like of shape (n, k) or None
        Features of these rows that are to be unpenalized.

    Examples
    --------
    >>> def distance(X, Z):
    ...     return -np.abs(X - Z.T)
    >>> X = np.arange(5.0)[:, None]
    >>> least_eigenvalue(distance, X) < -0.1
    True
    >>> least_eigenvalue(distance, X, np.ones((5, 1))) > 0
    True
    """
    X = as_rows(X)
    K = as_kernel(kernel).resolve(X)(X, X.copy())
    if not np.allclose(K, K.T, rtol=1e-8, atol=1e-12 * float(np.abs(K).max())):
        raise ValueError("The kernel is not symmetric: k(x, z) differs from k(z, x).")
    if F is not None:
        F = np.asarray(F, dtype=np.float64).reshape(X.shape[0], -1)
        N = sla.null_space(F.T)
        K = N.T @ K @ N
    if not K.size:
        return 0.0
    s = sla.eigvalsh((K + K.T) / 2)
    return float(s[0] / max(np.abs(s).max(), np.finfo(float).tiny))


def conditional_degree_of(kernel: Any, X: Rows) -> int | None:
    """Least degree of polynomials that must be unpenalized, by some rows.

    -1 where none must be: the kernel is positive definite on these rows; None where
    not even degree 2 is enough.

    Parameters
    ----------
    kernel : Kernel, str or callable
    X : array-like of shape (n, d)
        More rows than there are polynomials.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> conditional_degree_of("gaussian", X), conditional_degree_of("thin_plate", X)
    (-1, 1)
    """
    X = as_rows(X)
    rows = np.asarray(X, dtype=np.float64)
    Z = (rows - rows.mean(axis=0)) / np.maximum(rows.std(axis=0), 1e-300)
    for degree in range(-1, HIGHEST + 1):
        F = None if degree < 0 else _monomials(Z, degree)
        if F is not None and F.shape[1] >= len(Z):
            raise ValueError(
                f"{len(Z)} rows are too few for {F.shape[1]} polynomials of degree "
                f"{degree}. Give more rows."
            )
        if least_eigenvalue(kernel, X, F) >= -ROUNDING:
            return degree
    return None


def _monomials(Z: Array, degree: int) -> Array:
    columns = [np.ones(len(Z))]
    for power in range(1, degree + 1):
        for chosen in combinations_with_replacement(range(Z.shape[1]), power):
            columns.append(np.prod(Z[:, chosen], axis=1))
    return np.array(columns).T
