"""Leave-one-out residuals of a posed problem, whichever way it was factored."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from halfmoon.problem.posed import Posed
from halfmoon.rows import Array, Indices, Rows

__all__ = ["left_out", "telling_rows"]

MANY_ROWS = 2_000


def telling_rows(posed: Posed) -> Indices | slice:
    """The labeled rows to leave out in turn where only a mean over them is needed.

    Where only moments of the labeled rows are kept, because there are more of them than
    functions, and they are more than 2,000, then as many of them, drawn at random:
    enough to tell alphas apart, at the cost of part of a pass.
    """
    if not posed.overdetermined or len(posed.chosen) <= MANY_ROWS:
        return slice(None)
    rng = np.random.default_rng(0)  # the same rows in every search
    return rng.choice(len(posed.chosen), MANY_ROWS, replace=False)


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
