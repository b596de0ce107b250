"""Residuals of labeled rows without their labels, one by one or many at once."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import scipy.linalg as sla

from halfmoon.problem.posed import Posed
from halfmoon.rows import Array, Indices, Rows

__all__ = ["left_out", "left_out_together", "telling_rows"]

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


def left_out_together(
    H: Array,  # (l, l)
    residuals: Array,  # (l, t)
    some: Indices,
) -> Array:  # (m, t)
    """Residuals of some labeled rows without the labels of any of them.

    A fit without the labels S is the fit to all in which they are what it predicts, at
    the same lam. So :math:`e_S = r_S + H_{SS} e_S`, with H the smoother and r the
    residuals of the fit to all.

    NaN where the other labels do not determine the fit.
    """
    A = np.eye(len(some)) - H[np.ix_(some, some)]
    with warnings.catch_warnings():
        warnings.simplefilter("error", sla.LinAlgWarning)
        try:
            return np.asarray(sla.solve(A, residuals[some]))
        except (np.linalg.LinAlgError, sla.LinAlgWarning):
            return np.full((len(some), residuals.shape[1]), np.nan)
