"""The factorization of a posed problem that serves every alpha, and leave-one-out."""

from __future__ import annotations

from collections.abc import Sequence

from halfmoon.problem.posed import Posed
from halfmoon.rows import Array, Indices, Rows
from halfmoon.solvers import RidgePath, ridge_dual, ridge_eigh, ridge_svd

__all__ = ["left_out", "ridge_path"]


def ridge_path(posed: Posed) -> RidgePath:
    """The factorization that serves every alpha, by the shortest of three ways."""
    y, W, elimination = posed.root_w * posed.y, posed.total_weight, posed.elimination
    if posed.dual:
        K = posed.basis.gram(posed.X_l, posed.chosen)
        return ridge_dual(posed.root_w * K * posed.root_w.T, y, elimination, W)
    whitening = posed.whitening
    if len(y) - elimination.rank <= whitening.rank:
        Phi = whitening.whiten(posed.root_w * posed.on_labeled())
        return ridge_svd(Phi, y, elimination, W)
    G, cross, b = posed.labeled_moments()
    return ridge_eigh(
        whitening.congruence(G),
        whitening.whiten(b).T,
        whitening.whiten(cross),
        y,
        elimination,
        W,
    )


def left_out(
    posed: Posed,
    path: RidgePath,
    alphas: Sequence[float],
    some: Indices | slice = slice(None),
) -> Array:  # (a, l, t)
    """Left-out residuals of some of the labeled rows, with the root weights in.

    Where only moments of the rows were kept this is another pass over them.
    """
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
