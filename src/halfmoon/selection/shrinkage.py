r"""How far to follow an average of numbers: all the way, or part of it to the mean.

With few labels of a weak signal, an average of the best entries still follows noise,
and answers worse than the mean of the labels does. Held-out values g that know nothing
of the label they answer, not even by the weights of the entries, tell how much of the
way from the mean m is worth going:

.. math:: s = \frac{\sum_i w_i (y_i - m_i)(g_i - m_i)}{\sum_i w_i (g_i - m_i)^2},
          \quad 0 \le s \le 1

with m_i the mean of the other labels. The weights of the entries become s times what
they were, and that of the constant 1 - s more.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from halfmoon.rows import Array
from halfmoon.selection.candidate import Entry

__all__ = ["shrunk_to_constant"]


def shrunk_to_constant(
    entries: Sequence[Entry],
    weights: Array,  # (e,)
    held_out: Array,  # (l, t)
    y: Array,  # (l, t)
    w: Array,  # (l,)
) -> tuple[Array, Array]:
    """Weights with the constant's share, and held-out values that have it too.

    Parameters
    ----------
    entries : sequence of Entry
        Unchanged weights come back where the constant is not among them.
    weights : ndarray of shape (e,)
    held_out : ndarray of shape (l, t)
        Of the average, by weights that do not know the labels they answer.
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
