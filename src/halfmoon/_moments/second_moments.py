r"""Second moments of a basis, over all rows or over the labeled ones.

.. math:: Sigma = 1/n \sum_i phi(x_i) phi(x_i)', \quad Phi' W Phi, \quad Phi' W^{1/2} C

for any columns C of the labeled rows: targets and unpenalized features.
"""

from __future__ import annotations

from collections.abc import Callable

from halfmoon._rows import Array, Rows
from halfmoon.bases import Basis
from halfmoon.blocks import Stream

__all__ = ["covariance", "label_moments"]


def covariance(
    basis: Basis,
    X: Rows,  # (n, d)
    *,
    stream: Stream | None = None,
) -> Array:  # (p, p)
    """Return Sigma, which is not centered. O(n p^2 + n p d) time."""

    def products(rows: Rows) -> Array:
        Phi = basis.transform(rows)
        return Phi.T @ Phi

    total: Array = (stream or Stream.inherited()).sum(
        products, X, row_bytes=basis.row_bytes
    )
    return total / X.shape[0]


def label_moments(
    features: Callable[[Rows], Array],
    X_l: Rows,  # (l, d)
    root_weights: Array,  # (l, 1)
    columns: Array,  # (l, q)
    *,
    row_bytes: int,
    stream: Stream | None = None,
) -> tuple[Array, Array]:  # (p, p), (p, q)
    """Return Phi'W Phi and Phi'W^(1/2) C, by row blocks; Phi is not stored."""

    def products(rows: Rows, root_w: Array, C: Array) -> tuple[Array, Array]:
        Phi = features(rows)
        if (root_w != 1.0).any():
            Phi = root_w * Phi  # not in place: it may be the table itself
        return Phi.T @ Phi, Phi.T @ C

    G, b = (stream or Stream.inherited()).sum(
        products, X_l, root_weights, columns, row_bytes=row_bytes
    )
    return G, b
