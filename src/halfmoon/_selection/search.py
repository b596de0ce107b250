r"""The search: try candidates, average them, and compare with the supervised twin.

**Cross-fitting.** Weights chosen on all labels make the leave-one-out values of their
average look too good. So for each fold of labels the weights, and the choice between
the average and the supervised twin, are made again from the losses of the other labels
only:

.. math:: g_i = \sum_e w_e(\{L_j : j \notin fold(i)\}) \, g_{e,i}

The leave-one-out values :math:`g_{e,i}` are known already, so this costs only one small
weighting problem per fold. Some optimism remains, because the values at j have seen
label i. It fades faster than 1/l; `choice_factor` corrects for it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from halfmoon._progress import search_step
from halfmoon._rows import Array, Indices
from halfmoon._selection.average_weights import averaged_values, group_by_transform
from halfmoon._selection.candidate import Candidate, Entry, fit_at_all_alphas
from halfmoon._selection.comparison import compare_with_twin
from halfmoon._selection.criteria import Criterion
from halfmoon._selection.search_data import SearchData
from halfmoon._selection.target_transforms import TargetTransform
from halfmoon._solvers.positive_part import IndefiniteKernelError
from halfmoon.blocks import blas_for

__all__ = [
    "SearchOutcome",
    "average_and_twin_weights",
    "cross_fit_predictions",
    "try_candidates",
]

logger = logging.getLogger("halfmoon")

LEAST_PENALTY = 1e-3  # smallest l alpha; below it, fits interpolate the labels
FOLDS = 20  # of labels that are predicted with weights from the others


def try_candidates(
    candidates: Iterable[Candidate],
    shared: SearchData,
    criterion: Criterion,
    budget: float,
    log_level: int = logging.DEBUG,
    entries: list[Entry] | None = None,
) -> list[Entry]:
    """Fit candidates until the budget, in seconds, is spent; return their entries.

    Entries are added to `entries` one by one, so that later candidates can be composed
    of earlier ones that did well.
    """
    start = time.monotonic()
    entries = [] if entries is None else entries
    with blas_for(10.0 * shared.n_labeled**3):
        for candidate in candidates:
            try:
                at_each = fit_at_all_alphas(candidate, shared, criterion)
            except IndefiniteKernelError as error:
                # A diffusion is a series, whose error may be large next to its values
                # at the labeled rows.
                logger.log(log_level, "%s is left out. %s", candidate.name, error)
                continue
            least = LEAST_PENALTY / shared.n_labeled
            entries += [entry for entry in at_each if entry.alpha >= least]
            spent = time.monotonic() - start
            search_step(spent, budget, candidate.name, log_level)
            if spent > budget:
                logger.log(log_level, "The budget of %g s is spent.", budget)
                break
    return entries


@dataclass(frozen=True)
class SearchOutcome:
    """The weights of the entries, in the average of all and in the supervised twin."""

    entries: list[Entry]
    weights: dict[str, Array]  # (e,), in the "average" and in the "twin"
    helped: bool  # whether unlabeled rows clearly helped
    chosen: Literal["average", "twin"]
    comparison: dict[str, Any]  # each candidate and the twin; see `HalfmoonClassifier`
    held_out: dict[str, Array]  # of `cross_fit_predictions`

    @classmethod
    def of(
        cls,
        entries: list[Entry],
        shared: SearchData,
        criterion: Criterion,
        *,
        safe: bool,
    ) -> SearchOutcome:
        """Weight the entries; `safe` uses the twin unless it is clearly beaten."""
        y, w = shared.data.y, shared.data.w
        weights, helped = average_and_twin_weights(entries, y, w, criterion)
        chosen: Literal["average", "twin"] = "average" if helped or not safe else "twin"
        held_out = cross_fit_predictions(entries, y, w, criterion, safe=safe)
        shrunk = dict(weights)
        for name in ("answer", "average", "twin"):  # the last two decide the weights
            own = chosen if name == "answer" else name
            if own in criterion.shrunk_averages:
                shrunk[own], held_out[name] = criterion.shrunk(
                    entries, weights[own], held_out[name], y, w
                )
        comparison = compare_with_twin(entries, shrunk, chosen, y, w, criterion)
        return cls(entries, shrunk, helped, chosen, comparison, held_out)

    @property
    def scale(self) -> TargetTransform:
        """The transform of the targets that has the largest weight."""
        weights = self.weights[self.chosen]
        places = group_by_transform(self.entries)
        return max(places, key=lambda target: float(weights[places[target]].sum()))


def cross_fit_predictions(
    entries: list[Entry], y: Array, w: Array, criterion: Criterion, *, safe: bool
) -> dict[str, Array]:
    """Return held-out predictions whose weights have not seen the label predicted.

    They are those of the "answer" (the one chosen), the "average" and the "twin", each
    of shape (l, t).
    """
    l, limits = len(y), criterion.limits(y)
    found = {name: np.empty_like(y) for name in ("answer", "average", "twin")}
    for first in range(min(FOLDS, l)):
        fold = np.arange(first, l, FOLDS)
        kept = np.delete(np.arange(l), fold) if l > 1 else fold
        known = [_AtRows(entry, kept) for entry in entries]
        weights, helped = average_and_twin_weights(known, y[kept], w[kept], criterion)
        for name in ("average", "twin"):
            values = averaged_values(entries, weights[name])
            values = values if limits is None else np.clip(values, *limits)
            found[name][fold] = values[fold]
        found["answer"][fold] = found["average" if helped or not safe else "twin"][fold]
    return found


class _AtRows:
    """An entry restricted to some of the labeled rows; only what is needed is cut."""

    def __init__(self, entry: Entry, rows: Indices) -> None:
        self._entry, self._rows = entry, rows

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._entry, name)
        if name in ("y", "held_out", "values", "losses"):
            value = value[self._rows]
        self.__dict__[name] = value  # cut once
        return value


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
