r"""Test on rows whether a kernel is positive definite, or conditionally so.

A kernel k is conditionally positive definite with respect to features F if

.. math:: c'K c \ge 0 \quad for all c with F'c = 0,

that is, if N'K N has no negative eigenvalue, N an orthonormal basis of the c with
F'c = 0. Kernels of this library declare it by `conditional_degree`. For a user's own
function, rows can refute it, but not prove it for all other rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sla
from sklearn.preprocessing import PolynomialFeatures

from halfmoon._rows import TINY, Array, Rows, as_rows
from halfmoon.kernels._user_kernels import as_kernel

__all__ = ["conditional_degree_of", "least_eigenvalue"]

ROUNDING = 1e-10  # relative to the largest eigenvalue: smaller ones count as 0
MAX_DEGREE = 2


def least_eigenvalue(kernel: Any, X: Rows, F: Array | None = None) -> float:
    """Return the least eigenvalue of N'K N, divided by the largest absolute one.

    Parameters
    ----------
    kernel : Kernel, str or callable
    X : array-like of shape (n, d)
        A few hundred rows: the cost is O(n^3).
    F : array-like of shape (n, k) or None
        Unpenalized features of these rows.

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
        raise ValueError(
            "The kernel is not symmetric: k(x, z) differs from k(z, x). Use a "
            "symmetric function, such as (k(x, z) + k(z, x)) / 2."
        )
    if F is not None:
        F = np.asarray(F, dtype=np.float64).reshape(X.shape[0], -1)
        N = sla.null_space(F.T)
        K = N.T @ K @ N
    if not K.size:
        return 0.0
    s = sla.eigvalsh((K + K.T) / 2)
    return float(s[0] / max(np.abs(s).max(), TINY))


def conditional_degree_of(kernel: Any, X: Rows) -> int | None:
    """Return the least degree of polynomials that must be unpenalized on these rows.

    It is -1 if the kernel is positive definite on these rows, and None if not even
    degree 2 is enough.

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
    for degree in range(-1, MAX_DEGREE + 1):
        F = None if degree < 0 else PolynomialFeatures(degree).fit_transform(Z)
        if F is not None and F.shape[1] >= len(Z):
            raise ValueError(
                f"{len(Z)} rows are too few for {F.shape[1]} polynomials of degree "
                f"{degree}. Give more rows."
            )
        if least_eigenvalue(kernel, X, F) >= -ROUNDING:
            return degree
    return None
