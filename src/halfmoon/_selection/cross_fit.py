r"""Held-out predictions of the whole search, including the choice of weights.

Weights chosen on all labels make the leave-one-out values of their average look too
good. So for each fold of labels the weights, and the choice between the average and the
supervised twin, are made again from the losses of the other labels only:

.. math:: g_i = \sum_e w_e(\{L_j : j \notin fold(i)\}) \, g_{e,i}

The leave-one-out values :math:`g_{e,i}` are known already, so this costs only one small
weighting problem per fold. Some optimism remains, because the values at j have seen
label i. It fades faster than 1/l; `_optimism.py` corrects for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from halfmoon._rows import Array, Indices
from halfmoon._selection.average_weights import averaged_values
from halfmoon._selection.candidate import Candidate, Entry
from halfmoon._selection.criteria import Criterion
from halfmoon._selection.target_transforms import TargetTransform

__all__ = ["average_and_twin_weights", "cross_fit_predictions"]

FOLDS = 20


@dataclass(frozen=True)
class _EntryAtRows:
    """An entry, restricted to some of the labeled rows."""

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
    def target(self) -> TargetTransform:
        return self.entry.target


def cross_fit_predictions(
    entries: list[Entry], y: Array, w: Array, criterion: Criterion, *, safe: bool
) -> dict[str, Array]:
    """Return held-out predictions whose weights have not seen the label predicted.

    Parameters
    ----------
    entries : list of Entry
    y, w : ndarrays of shape (l, t) and (l,)
        Targets and weights of the labeled rows.
    criterion : Criterion
    safe : bool
        Whether the twin predicts unless it is beaten.

    Returns
    -------
    dict of str to ndarray of shape (l, t)
        Predictions of the "answer" (the one chosen), the "average" and the "twin".
    """
    l, limits = len(y), criterion.limits(y)
    found = {name: np.empty_like(y) for name in ("answer", "average", "twin")}
    for first in range(min(FOLDS, l)):
        fold = np.arange(first, l, FOLDS)
        kept = np.delete(np.arange(l), fold) if l > 1 else fold
        known = [_EntryAtRows(entry, kept) for entry in entries]
        weights, helped = average_and_twin_weights(known, y[kept], w[kept], criterion)
        for name in ("average", "twin"):
            values = averaged_values(entries, weights[name])
            values = values if limits is None else np.clip(values, *limits)
            found[name][fold] = values[fold]
        found["answer"][fold] = found["average" if helped or not safe else "twin"][fold]
    return found


def average_and_twin_weights(
    entries: list[Any], y: Array, w: Array, criterion: Criterion
) -> tuple[dict[str, Array], bool]:
    """Return weights in the average and the twin, and whether unlabeled rows help."""
    alone = np.array([not entry.candidate.uses_unlabeled for entry in entries])
    twin = np.zeros(len(entries))
    supervised = [entries[i] for i in np.flatnonzero(alone)]
    twin[alone] = criterion.weights(supervised, y, w)
    average = criterion.weights(entries, y, w)
    helped = not alone.all() and criterion.prefers_unlabeled(entries, y, w)
    return {"average": average, "twin": twin}, helped
