r"""Losses of left-out values: by which candidates are weighed and compared.

Numbers: squared error. Classes: log loss of the probabilities that the scores give,

.. math:: -\log \; exp(T s_y) / \sum_c exp(T s_c)

at the temperature T that suits an entry best, so that scores count by what they can be
made to say and not by how they are scaled.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from halfmoon.rows import Array

__all__ = ["log_losses", "scores_by_class", "squared_losses"]

TEMPERATURES = (1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 40.0)


def squared_losses(
    values: Array,  # (e, l, t)
    y: Array,  # (l, t)
) -> Array:
    """Mean squared error over the targets of each row, shape (e, l)."""
    return np.asarray(((values - y) ** 2).mean(axis=2))


def log_losses(
    scores: Array,  # (e, l, C)
    codes: NDArray[np.intp],  # (l,)
    w: Array,  # (l,)
) -> Array:
    """Log loss of each row at the best temperature of each entry, shape (e, l)."""
    scores = scores - scores.max(axis=2, keepdims=True)
    own = np.take_along_axis(scores, codes[None, :, None], axis=2)[:, :, 0]
    losses = np.full(own.shape, np.inf)
    best = np.full(len(own), np.inf)
    for T in TEMPERATURES:
        # The largest score is 0, so that the sum is at least 1.
        at_T = np.log(np.exp(T * scores).sum(axis=2)) - T * own
        mean = at_T @ w / w.sum()
        better = mean < best
        losses[better], best[better] = at_T[better], mean[better]
    return losses


def scores_by_class(values: Array) -> Array:
    """Scores with a last axis of classes, from values of them or of two as -1 and 1."""
    if values.shape[-1] > 1:
        return values
    return np.concatenate([0.5 - values / 2, 0.5 + values / 2], axis=-1)
