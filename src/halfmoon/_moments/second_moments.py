r"""Second moments of a basis over weighted rows.

.. math:: Phi' W Phi, \quad Phi' W^{1/2} C

for any columns C of the rows: targets and unpenalized features.
"""

from __future__ import annotations

from collections.abc import Callable

from halfmoon._rows import Array, Rows
from halfmoon.blocks import Stream

__all__ = ["label_moments"]


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
