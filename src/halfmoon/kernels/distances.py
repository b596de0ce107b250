"""Squared distances between rows: the one place where they are computed.

.. math:: q(x, z) = |x - m|^2 + |z - m|^2 - 2 <x - m, z - m>

for any m; with m the mean of the z the three terms are of the size of the spread of
the rows, so an offset of the whole table costs no digits. CSR rows are not centered:
that would make them dense.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from halfmoon.rows import Array, Rows, inner_products

__all__ = ["squared_distances", "squared_norms"]


def squared_norms(X: Rows) -> Array:
    """Squared length of each row, shape (n,)."""
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


def squared_distances(X: Rows, Z: Rows) -> Array:
    """Squared distance of each pair, by one matrix product; never negative.

    Rows that are equal are at distance exactly 0, because the rounding error of the
    product is taken off before clipping at 0: kernels with a kink at 0 (Laplace,
    thin plate) need that.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n, d), float64
    Z : ndarray or csr_array of shape (p, d), float64

    Returns
    -------
    ndarray of shape (n, p)
        O(n p d) time; besides the result, only arrays of the size of X and Z.
    """
    same = X is Z
    # A product of d terms is off by about sqrt(d) roundings.
    shrink = 1.0 - (4.0 + np.sqrt(X.shape[1])) * np.finfo(np.float64).eps
    if sp.issparse(X) or sp.issparse(Z):
        q = inner_products(X, Z)
        q *= -2.0
        q += shrink * squared_norms(X)[:, None]
        q += shrink * squared_norms(Z)
    else:
        m = Z.mean(axis=0)
        Z = Z - m
        X = Z if same else X - m
        # (x, |x|^2, 1) times (-2 z, 1, |z|^2): the three terms by the product itself
        d = X.shape[1]
        left, right = np.empty((X.shape[0], d + 2)), np.empty((Z.shape[0], d + 2))
        left[:, :d], left[:, d], left[:, d + 1] = X, shrink * squared_norms(X), 1.0
        right[:, :d], right[:, d], right[:, d + 1] = Z, 1.0, shrink * squared_norms(Z)
        right[:, :d] *= -2.0
        q = left @ right.T
    np.maximum(q, 0.0, out=q)
    if same:
        np.fill_diagonal(q, 0.0)
    return q
