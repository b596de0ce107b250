r"""Shrinkage of an average for numbers: to the constant, and to a first guess.

With few labels and a weak signal, an average of the best entries follows noise and
predicts worse than the mean of the labels. Cross-fitted predictions g show how far to
go from the mean m:

.. math:: s = \frac{\sum_i w_i (y_i - m_i)(g_i - m_i)}{\sum_i w_i (g_i - m_i)^2},
          \quad 0 \le s \le 1

Here m_i is the mean of the other labels. This s is itself uncertain, by the variance v
of a slope estimated by least squares. If S is the share that is best in truth, then c s
has the smallest expected error for :math:`c = S^2 / (S^2 + v)`, where s stands in for
S. The weights of the entries are multiplied by c s, and the constant gets the remaining
1 - c s. A clear signal has a c near 1, pure noise one near 1/2 of an s near 0.

With a handful of labels, held-out errors can neither tell good entries from lucky ones
nor find s. So a linear fit with a moderate penalty, chosen before any label was seen,
gets the share

.. math:: \frac{6^2}{6^2 + l^2}

which is 2/3 with four labels and nothing with hundreds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from halfmoon._rows import Array
from halfmoon._selection.average_weights import NEGLIGIBLE
from halfmoon._selection.candidate import Entry

__all__ = ["add_first_guess", "shrink_to_constant"]

FIRST_GUESS_LABELS = 6.0  # with so many, the first guess has half of the weight
FIRST_GUESS_ALPHA = 0.1


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
    constant = _constant(entries)
    if constant is None:
        return weights, held_out
    mean = entries[constant].held_out
    way, needed = held_out - mean, y - mean
    share = _certain_share(way, needed, w[:, None])
    weights = share * weights
    weights[constant] += 1.0 - share
    return weights, np.asarray(mean + share * way)


def _certain_share(way: Array, needed: Array, w: Array) -> float:
    """Return c s of the formula: the share of the way that is worth going."""
    size = float((w * way**2).sum())
    if size <= 0:
        return 1.0  # nowhere to go
    share = float((w * way * needed).sum()) / size
    if share <= 0:
        return 0.0
    error = float((w * (needed - share * way) ** 2).sum())
    variance = error / max(1, way.size - 1) / size
    return min(1.0, share) * share**2 / (share**2 + variance)


def add_first_guess(
    entries: Sequence[Entry],
    weights: Array,  # (e,)
    held_out: Array,  # (l, t)
) -> tuple[Array, Array]:
    """Return weights and held-out predictions mixed with the first guess.

    It is the first candidate that was tried, which is linear, at an alpha of 0.1.
    Without the constant among the entries, nothing changes: the user has chosen what is
    unpenalized.
    """
    l = len(held_out)
    share = FIRST_GUESS_LABELS**2 / (FIRST_GUESS_LABELS**2 + l**2)
    if share < NEGLIGIBLE or _constant(entries) is None:
        return weights, held_out
    first = entries[0].candidate
    place = next(
        i
        for i, entry in enumerate(entries)
        if entry.candidate is first
        and entry.alpha == FIRST_GUESS_ALPHA
        and not entry.target.suffix
    )
    weights = (1.0 - share) * weights
    weights[place] += share
    guess = entries[place].held_out
    return weights, np.asarray((1.0 - share) * held_out + share * guess)


def _constant(entries: Sequence[Entry]) -> int | None:
    """Return the place of the constant among the entries, or None."""
    places = (
        i
        for i, entry in enumerate(entries)
        if entry.candidate.family == "constant" and not entry.target.suffix
    )
    return next(places, None)
