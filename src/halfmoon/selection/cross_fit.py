r"""Held-out values of the whole procedure, the choice of weights included.

Weights that were chosen on the labels make the held-out values of their average look
too good. Here the weights are chosen anew for each fold of labels, from the losses of
the other labels only, and so is the choice between the average and its supervised twin:

.. math:: g_i = \sum_e w_e(\{L_j : j \notin fold(i)\}) \, g_{e,i}

The leave-one-out values :math:`g_{e,i}` of the entries are at hand, so that this costs
only the weights: one small problem for each fold. What is left of the optimism (the
values at j have seen label i) fades faster than 1/l; `optimism.py` makes up for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from halfmoon.rows import Array, Indices
from halfmoon.selection.candidate import Candidate, Entry
from halfmoon.selection.criteria import Criterion
from halfmoon.selection.target_transforms import Target
from halfmoon.selection.weights import blended_values

__all__ = ["cross_fitted", "weighed"]

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

    @property
    def held_out(self) -> Array:
        return self.entry.held_out[self.rows]

    @property
    def y(self) -> Array:
        return self.entry.y[self.rows]

    @property
    def prior(self) -> Array:
        return self.entry.prior

    @property
    def candidate(self) -> Candidate:
        return self.entry.candidate

    @property
    def target(self) -> Target:
        return self.entry.target


def cross_fitted(
    entries: list[Entry], y: Array, w: Array, criterion: Criterion, *, safe: bool
) -> dict[str, Array]:
    """Held-out values with weights that do not know the labels they answer.

    Parameters
    ----------
    entries : list of Entry
    y, w : ndarrays of shape (l, t) and (l,)
        Of the rows that the entries were tried on.
    criterion : Criterion
    safe : bool
        The twin answers unless it is beaten.

    Returns
    -------
    dict of str to ndarray of shape (l, t)
        Of the "answer", of the "average" of all entries and of the supervised "twin".
    """
    l, limits = len(y), criterion.limits(y)
    found = {name: np.empty_like(y) for name in ("answer", "average", "twin")}
    for first in range(min(FOLDS, l)):
        fold = np.arange(first, l, FOLDS)
        kept = np.delete(np.arange(l), fold) if l > 1 else fold
        known = [_AtRows(entry, kept) for entry in entries]
        weights, helped = weighed(known, y[kept], w[kept], criterion)
        for name in ("average", "twin"):
            values = blended_values(entries, weights[name])
            values = values if limits is None else np.clip(values, *limits)
            found[name][fold] = values[fold]
        found["answer"][fold] = found["average" if helped or not safe else "twin"][fold]
    return found


def weighed(
    entries: list[Any], y: Array, w: Array, criterion: Criterion
) -> tuple[dict[str, Array], bool]:
    """Weights in the average and in the twin, and whether unlabeled rows helped."""
    alone = np.array([not entry.candidate.uses_unlabeled for entry in entries])
    twin = np.zeros(len(entries))
    supervised = [entries[i] for i in np.flatnonzero(alone)]
    twin[alone] = criterion.weights(supervised, y, w)
    average = criterion.weights(entries, y, w)
    helped = not alone.all() and criterion.prefers_unlabeled(entries, y, w)
    return {"average": average, "twin": twin}, helped
