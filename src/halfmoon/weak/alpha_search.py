"""Alpha of weak labels: the least infimum loss on held-out folds.

Of a held-out row only a set is known, so what counts is the least loss over the set:
whether the prediction is one of the candidates, say. Labels are found anew without the
fold, whose rows stay in the table as unlabeled ones. One factorization serves all folds
and all alphas.
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
    losses: Callable[[Sequence[float], Indices, Indices], Array],
    w: Array,  # (l,)
) -> Array:
    """Mean loss of each alpha on held-out rows, shape (len(alphas),).

    Parameters
    ----------
    targets : ndarray of shape (l, t)
        What the rows are dealt out by, so that all folds are alike.
    alphas : sequence of float
    losses : callable
        Of the alphas, the rows to fit and the rows held out: the losses of the latter,
        shape (len(alphas), len(fold)).
    w : ndarray of shape (l,)
        Weights.
    """
    total = np.zeros(len(alphas))
    for fold in balanced_folds(targets):
        kept = np.delete(np.arange(len(targets)), fold)
        total += losses(alphas, kept, fold) @ w[fold]
    return total / float(w.sum())
