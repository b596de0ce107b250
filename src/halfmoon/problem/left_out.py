"""Leave-one-out residuals of a posed problem, whichever way it was factored."""

from __future__ import annotations

from collections.abc import Sequence

from halfmoon.problem.posed import Posed
from halfmoon.rows import Array, Indices, Rows

__all__ = ["left_out"]


def left_out(
    posed: Posed,
    alphas: Sequence[float],
    some: Indices | slice = slice(None),
) -> Array:  # (a, l, t)
    """Left-out residuals of some of the labeled rows, with the root weights in.

    Where only moments of the rows were kept this is another pass over them.
    """
    path = posed.path
    if path.rows is not None:
        return path.leave_one_out(alphas)[:, some]
    M = posed.whitening.unwhiten(path.V)  # Phi~ V = Phi R^-1 V

    def residuals(rows: Rows, root_w: Array, Q1: Array, y: Array) -> Array:
        PhiV = posed.basis.transform(rows) @ M
        PhiV *= root_w
        return path.left_out_block(PhiV, Q1, root_w * y, alphas)

    by_rows = posed.stream.map(
        residuals,
        posed.X_l[some],
        posed.root_w[some],
        posed.elimination.Q1[some],
        posed.y[some],
        row_bytes=2 * posed.basis.row_bytes,
    )
    return by_rows.transpose(1, 0, 2)
