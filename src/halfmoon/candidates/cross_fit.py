r"""Leave-one-out values of the whole procedure, the choice of weights included.

Weights that were chosen on the labels make the leave-one-out values of their average
look too good. Here the weights are chosen anew for each fold of labels, from the losses
of the other labels only, and so is the choice between the average and its supervised
twin:

.. math:: g_i = \sum_e w_e(\{L_j : j \notin fold(i)\}) \, g_{e,i}

The leave-one-out values :math:`g_{e,i}` of the entries are at hand, so that this costs
only the weights: one small problem for each fold. What is left of the optimism (the
values at j have seen label i) fades faster than 1/l; `intervals.py` makes up for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from halfmoon.candidates.blend import Entry, blended_left_out
from halfmoon.candidates.judges import Judge
from halfmoon.candidates.labeled import Labeled
from halfmoon.candidates.search import is_clear_gain
from halfmoon.rows import Array, Indices

__all__ = ["cross_fitted"]

FOLDS = 20


@dataclass(frozen=True)
class _AtRows:
    """An entry as some of the labeled rows know it."""

    entry: Entry
    rows: Indices

    @cached_property
    def losses(self) -> Array:
        return self.entry.losses[self.rows]

    @property
    def values(self) -> Array:
        return self.entry.values[self.rows]


def cross_fitted(
    entries: list[Entry], data: Labeled, judge: Judge, *, safe: bool
) -> dict[str, Array]:
    """Leave-one-out values with weights that do not know the labels they answer.

    Parameters
    ----------
    entries : list of Entry
    data : Labeled
        The rows that the entries were tried on.
    judge : Judge
    safe : bool
        The twin answers unless it is beaten.

    Returns
    -------
    dict of str to ndarray of shape (l, t)
        Of the "answer", of the "average" of all entries and of the supervised "twin".
    """
    l = len(data.y)
    alone = [entry for entry in entries if not entry.candidate.unlabeled]
    limits = judge.limits(data)
    found = {name: np.empty_like(data.y) for name in ("answer", "average", "twin")}
    for first in range(min(FOLDS, l)):
        fold = np.arange(first, l, FOLDS)
        kept = np.delete(np.arange(l), fold) if l > 1 else fold
        some = replace(data, chosen=data.chosen[kept], y=data.y[kept], w=data.w[kept])
        here = judge.on(some)
        both = []
        for tried in (entries, alone):
            weights = here.weights([_AtRows(entry, kept) for entry in tried], some)
            values = blended_left_out(tried, weights)
            both.append(values if limits is None else np.clip(values, *limits))
        by_average, by_twin = here.losses(np.array(both)[:, kept], some)
        helped = is_clear_gain(by_twin - by_average, some.w, judge.safety)
        found["average"][fold], found["twin"][fold] = (values[fold] for values in both)
        found["answer"][fold] = found["average" if helped or not safe else "twin"][fold]
    return found
