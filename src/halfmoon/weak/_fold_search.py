r"""Choose a kernel and an alpha by held-out folds.

Only a set is known for a held-out row, so the loss is the least one over the set: for
example, 0 if the prediction is one of the candidates. Labels are found without the
fold, whose rows stay in the table as unlabeled ones. One factorization serves all folds
and all alphas of a kernel; lam is that of all rows, as in leave-one-out.

The values of the best kernel and alpha on the folds are optimistic, because the folds
chose them. In `cross_fitted` the choice for each fold uses the losses of the others:

.. math:: g_i = g_{c(i), i}, \quad
          c(i) = argmin_c \sum_{j \notin fold(i)} w_j L_{c,j}
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from halfmoon._rows import Array, Indices

__all__ = ["KernelTrial", "best_of", "cross_fitted", "try_alphas"]

#: Maps values at held-out rows to losses and to tie-breakers, both of shape (l,).
Losses = Callable[[Array], tuple[Array, Array]]


@dataclass(frozen=True)
class KernelTrial:
    """A kernel at several alphas, on held-out folds.

    Attributes
    ----------
    losses, ties : ndarrays of shape (A, l)
        Least losses over the sets of held-out rows, and tie-breakers.
    values : ndarray of shape (A, l, t)
        Held-out values.
    uses_unlabeled : bool
        Whether the kernel uses unlabeled rows.
    """

    losses: Array
    ties: Array
    values: Array
    uses_unlabeled: bool = False


def try_alphas(
    alphas: Sequence[float],
    folds: list[Indices],
    values: Callable[[float, list[Indices]], Array],
    losses: Losses,
    *,
    uses_unlabeled: bool = False,
) -> KernelTrial:
    """Predict the folds with a kernel at each alpha.

    Parameters
    ----------
    alphas : sequence of float
        The largest is tried first, so that a fit can start at the one before it.
    folds : list of ndarrays
    values : callable
        Maps an alpha and the folds to held-out values at all rows, shape (l, t).
    losses : callable
        Maps such values to losses and tie-breakers.
    uses_unlabeled : bool
        Whether the kernel uses unlabeled rows.
    """
    found: dict[int, tuple[Array, Array, Array]] = {}
    for i in map(int, np.argsort(alphas)[::-1]):
        g = values(alphas[i], folds)
        found[i] = (*losses(g), g)
    every = [found[i] for i in range(len(alphas))]
    all_losses, ties, g = (np.array(each) for each in zip(*every, strict=True))
    return KernelTrial(all_losses, ties, g, uses_unlabeled)


def best_of(tried: Sequence[KernelTrial], w: Array) -> tuple[int, int]:
    """Return the numbers of the kernel and the alpha with the least mean loss."""
    pairs = [(k, a) for k, each in enumerate(tried) for a in range(len(each.losses))]
    losses = np.concatenate([each.losses for each in tried]) @ w
    ties = np.concatenate([each.ties for each in tried]) @ w
    close = losses <= losses.min() + 1e-12 * w.sum()  # sums differ by rounding
    return pairs[int(np.flatnonzero(close)[ties[close].argmin()])]


def cross_fitted(tried: Sequence[KernelTrial], folds: list[Indices], w: Array) -> Array:
    """Return held-out values, each by the choice of the other folds, shape (l, t)."""
    out = np.empty_like(tried[0].values[0])
    for fold in folds:
        training_w = w.copy()
        training_w[fold] = 0.0
        kernel, alpha = best_of(tried, training_w)
        out[fold] = tried[kernel].values[alpha][fold]
    return out
