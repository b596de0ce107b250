r"""The choice of a kernel and an alpha by held-out folds, and what it is worth.

Of a held-out row only a set is known, so what counts is the least loss over the set:
whether the prediction is one of the candidates, say. Labels are found anew without the
fold, whose rows stay in the table as unlabeled ones. One factorization serves all folds
and all alphas of a kernel; lam is that of all rows, as in leave-one-out.

The values of the winner on the folds look too good, for it won on them. In
`cross_fitted` the choice is made anew for each fold, from the losses of the other rows:

.. math:: g_i = g_{c(i), i}, \quad
          c(i) = argmin_c \sum_{j \notin fold(i)} w_j L_{c,j}
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfmoon.rows import Array, Indices

__all__ = ["Tried", "best_of", "cross_fitted", "try_alphas"]

#: Of values at held-out rows: losses, and what decides between equal ones, both (l,).
Losses = Callable[[Array], tuple[Array, Array]]


@dataclass(frozen=True)
class Tried:
    """A kernel at several alphas, on held-out folds.

    Attributes
    ----------
    kernel : Kernel or str
    alphas : ndarray of shape (A,)
    losses, ties : ndarrays of shape (A, l)
        Least losses over the sets of held-out rows, and what decides between alphas
        whose losses are equal.
    values : ndarray of shape (A, l, t)
        By fits without the row's fold.
    unlabeled : bool
        The kernel has learned from rows without labels.
    """

    kernel: Any
    alphas: Array
    losses: Array
    ties: Array
    values: Array
    unlabeled: bool = False


def try_alphas(
    alphas: Sequence[float],
    folds: list[Indices],
    values: Callable[[float, list[Indices]], Array],
    losses: Losses,
) -> tuple[Array, Array, Array]:
    """Losses, ties and values of `Tried`, for each alpha.

    Parameters
    ----------
    alphas : sequence of float
        The largest is tried first, so that a fit can begin where the one before it
        ended.
    folds : list of ndarrays
    values : callable
        Of an alpha and the folds: values at all rows, each by a fit without its fold,
        shape (l, t).
    losses : callable
        Of such values.
    """
    found: dict[int, tuple[Array, Array, Array]] = {}
    for i in map(int, np.argsort(alphas)[::-1]):
        g = values(alphas[i], folds)
        found[i] = (*losses(g), g)
    every = [found[i] for i in range(len(alphas))]
    lost, ties, g = (np.array(each) for each in zip(*every, strict=True))
    return lost, ties, g


def best_of(tried: Sequence[Tried], w: Array) -> tuple[int, int]:
    """Which of the kernels, and which of its alphas, has the least mean loss."""
    pairs = [(k, a) for k, each in enumerate(tried) for a in range(len(each.alphas))]
    losses = np.concatenate([each.losses for each in tried]) @ w
    ties = np.concatenate([each.ties for each in tried]) @ w
    close = losses <= losses.min() + 1e-12 * w.sum()  # sums differ by rounding
    return pairs[int(np.flatnonzero(close)[ties[close].argmin()])]


def cross_fitted(tried: Sequence[Tried], folds: list[Indices], w: Array) -> Array:
    """Values at held-out rows, each by the choice of the other rows, shape (l, t)."""
    out = np.empty_like(tried[0].values[0])
    for fold in folds:
        others = w.copy()
        others[fold] = 0.0
        kernel, alpha = best_of(tried, others)
        out[fold] = tried[kernel].values[alpha][fold]
    return out
