r"""Shrinkage of an average towards the constant, for numbers.

With few labels and a weak signal, an average of the best entries follows noise and
predicts worse than the mean of the labels. Cross-fitted predictions g show how far to
go from the mean m:

.. math:: s = \frac{\sum_i w_i (y_i - m_i)(g_i - m_i)}{\sum_i w_i (g_i - m_i)^2},
          \quad 0 \le s \le 1

Here m_i is the mean of the other labels. The weights of the entries are multiplied by
s, and the constant gets the remaining 1 - s.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from halfmoon._rows import Array
from halfmoon._selection.candidate import Entry

__all__ = ["shrink_to_constant"]


def shrink_to_constant(
    entries: Sequence[Entry],
    weights: Array,  # (e,)
    held_out: Array,  # (l, t)
    y: Array,  # (l, t)
    w: Array,  # (l,)
) -> tuple[Array, Array]:
    """Return weights and held-out predictions shrunk to the constant.

    Parameters
    ----------
    entries : sequence of Entry
        Without the constant among them, nothing changes.
    weights : ndarray of shape (e,)
    held_out : ndarray of shape (l, t)
        Cross-fitted predictions of the average.
    y, w : ndarrays of shape (l, t) and (l,)
    """
    constant = [
        i
        for i, entry in enumerate(entries)
        if entry.candidate.family == "constant" and not entry.target.suffix
    ]
    if not constant:
        return weights, held_out
    mean = entries[constant[0]].held_out
    way, needed = held_out - mean, y - mean
    column = w[:, None]
    size = float((column * way**2).sum())
    share = float((column * way * needed).sum()) / size if size > 0 else 1.0
    share = min(1.0, max(0.0, share))
    weights = share * weights
    weights[constant[0]] += 1.0 - share
    return weights, np.asarray(mean + share * way)
