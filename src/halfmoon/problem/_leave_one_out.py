"""Leave-one-out residuals of the labeled rows, and residuals of left-out sets."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import scipy.linalg as sla

from halfmoon._rows import Array, Indices, Rows
from halfmoon.problem._posed import Posed

__all__ = ["loo_residuals", "loo_residuals_of_set", "loo_sample"]

MAX_SAMPLE_ROWS = 2_000


def loo_sample(posed: Posed) -> Indices | slice:
    """Return the labeled rows over which the mean leave-one-out error is taken.

    All of them, or a random 2,000 if the fit kept only moments of the labeled rows:
    then residuals need another pass, and 2,000 are enough to compare alphas.
    """
    if not posed.overdetermined or len(posed.labeled) <= MAX_SAMPLE_ROWS:
        return slice(None)
    rng = np.random.default_rng(0)  # the same rows in every search
    return rng.choice(len(posed.labeled), MAX_SAMPLE_ROWS, replace=False)


def loo_residuals(
    posed: Posed,
    alphas: Sequence[float],
    rows: Indices | slice = slice(None),
) -> Array:  # (a, l, t)
    """Return leave-one-out residuals of labeled rows, times their root weights.

    If the fit kept only moments of the rows, this is another pass over them.
    """
    path = posed.path
    if path.rows is not None:
        return path.leave_one_out(alphas)[:, rows]
    M = posed.whitening.unwhiten(path.V)  # Phi~ V = Phi R^-1 V

    def residuals(X: Rows, root_w: Array, Q1: Array, y: Array) -> Array:
        PhiV = posed.basis.transform(X) @ M
        PhiV *= root_w
        return path.leave_one_out_block(PhiV, Q1, root_w * y, alphas)

    by_rows = posed.stream.map(
        residuals,
        posed.X_l[rows],
        posed.root_w[rows],
        posed.elimination.Q1[rows],
        posed.y[rows],
        row_bytes=2 * posed.basis.row_bytes,
    )
    return by_rows.transpose(1, 0, 2)


def loo_residuals_of_set(
    H: Array,  # (l, l)
    residuals: Array,  # (l, t)
    S: Indices,  # (m,)
) -> Array:  # (m, t)
    """Return the residuals of a set S of labeled rows, by a fit without their labels.

    At the same lam, the fit without these labels is the fit to all labels in which
    those of S equal their predictions. So :math:`e_S = r_S + H_{SS} e_S`, with H the
    smoother and r the residuals of the fit to all labels.

    NaN where the other labels do not determine the fit.
    """
    A = np.eye(len(S)) - H[np.ix_(S, S)]
    with warnings.catch_warnings():
        warnings.simplefilter("error", sla.LinAlgWarning)
        try:
            return np.asarray(sla.solve(A, residuals[S]))
        except (np.linalg.LinAlgError, sla.LinAlgWarning):
            return np.full((len(S), residuals.shape[1]), np.nan)
