r"""Covariance of a basis over rows.

.. math:: Sigma = 1/n \sum_i phi(x_i) phi(x_i)'
"""

from __future__ import annotations

from halfmoon.bases import Basis
from halfmoon.blocks import Stream
from halfmoon.rows import Array, Rows

__all__ = ["covariance"]


def covariance(
    basis: Basis,
    X: Rows,  # (n, d)
    *,
    stream: Stream | None = None,
) -> Array:  # (p, p)
    """Second moments of the basis, not centered. O(n p^2 + n p d) time."""

    def products(rows: Rows) -> Array:
        Phi = basis.transform(rows)
        return Phi.T @ Phi

    total: Array = (stream or Stream.inherited()).sum(
        products, X, row_bytes=basis.row_bytes
    )
    return total / X.shape[0]
