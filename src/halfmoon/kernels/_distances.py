"""Squared distances between rows: the one place where they are computed.

.. math:: q(x, z) = |x - m|^2 + |z - m|^2 - 2 <x - m, z - m>

for any m; with m the mean of the z the three terms are of the size of the spread of
the rows, so an offset of the whole table costs no digits. CSR rows are not centered:
that would make them dense.

Equal rows have distance exactly 0, because the rounding error of the product is
subtracted before clipping at 0. Kernels with a kink at 0 (Laplace, thin plate) need it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from halfmoon._rows import Array, Rows, inner_products

__all__ = ["of_distances", "squared_distances", "squared_norms"]

CACHED_ENTRIES = 2**16  # half a megabyte: fits in the cache of a core


def squared_norms(X: Rows) -> Array:
    """Return the squared length of each row, shape (n,)."""
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


def squared_distances(X: Rows, Z: Rows) -> Array:
    """Return the squared distance of each pair of rows, never negative.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n, d), float64
    Z : ndarray or csr_array of shape (p, d), float64

    Returns
    -------
    ndarray of shape (n, p)
        O(n p d) time, by one matrix product. Temporaries are of the size of X and Z.
    """
    return of_distances(lambda q: q, X, Z)


def of_distances(
    function: Callable[[Array], Any],
    X: Rows,  # (n, d)
    Z: Rows,  # (p, d)
) -> Array:  # (n, p)
    """Return a function of the squared distance of each pair of rows.

    Parameters
    ----------
    function : callable
        Overwrites an array of squared distances with its values.
    X, Z : as in `squared_distances`
    """
    # A product of d terms is off by about sqrt(d) roundings.
    shrink = 1.0 - (4.0 + np.sqrt(X.shape[1])) * np.finfo(np.float64).eps
    if sp.issparse(X) or sp.issparse(Z):
        q = inner_products(X, Z)
        q *= -2.0
        q += shrink * squared_norms(X)[:, None]
        q += shrink * squared_norms(Z)
        _finish(q, function, 0, X is Z)
        return q
    n, d = X.shape
    m = Z.mean(axis=0)
    # (x, |x|^2, 1) times (-2 z, 1, |z|^2) gives the three terms in one product
    left, right = np.ones((n, d + 2)), np.ones((Z.shape[0], d + 2))
    np.subtract(X, m, out=left[:, :d])
    np.subtract(Z, m, out=right[:, :d])
    left[:, d] = shrink * squared_norms(left[:, :d])
    right[:, d + 1] = shrink * squared_norms(right[:, :d])
    right[:, :d] *= -2.0
    q = np.empty((n, Z.shape[0]))
    # A few rows at a time, so that the function finds them in the cache.
    step = max(1, CACHED_ENTRIES // Z.shape[0])
    for start in range(0, n, step):
        block = q[start : start + step]
        np.matmul(left[start : start + step], right.T, out=block)
        _finish(block, function, start, X is Z)
    return q


def _finish(q: Array, function: Callable[[Array], Any], start: int, same: bool) -> None:
    np.maximum(q, 0.0, out=q)
    if same:
        np.fill_diagonal(q[:, start:], 0.0)
    function(q)
