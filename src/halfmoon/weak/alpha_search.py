"""Alpha of weak labels: the least infimum loss on held-out folds.

Of a held-out row only a set is known, so what counts is the least loss over the set:
whether the prediction is one of the candidates, say. Labels are found anew without the
fold, whose rows stay in the table as unlabeled ones. One factorization serves all folds
and all alphas; lam is that of all rows, as in leave-one-out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from halfmoon.problem import balanced_folds
from halfmoon.rows import Array, Indices

__all__ = ["held_out_losses"]


def held_out_losses(
    targets: Array,  # (l, t)
    alphas: Sequence[float],
    losses: Callable[[float, list[Indices]], Array],
    w: Array,  # (l,)
) -> Array:
    """Mean loss of each alpha on held-out rows, shape (len(alphas),).

    Parameters
    ----------
    targets : ndarray of shape (l, t)
        What the rows are dealt out by, so that all folds are alike.
    alphas : sequence of float
        From the largest to the least, so that a fit can begin where the one before it
        ended.
    losses : callable
        Of an alpha and the folds: the losses of all rows, each by a fit without its
        fold.
    w : ndarray of shape (l,)
        Weights.
    """
    folds, out = balanced_folds(targets), np.empty(len(alphas))
    for i in np.argsort(alphas)[::-1]:
        out[i] = w @ losses(alphas[i], folds) / w.sum()
    return out
