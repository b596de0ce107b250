"""The search: try candidates, average them, and compare with the supervised twin."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from halfmoon._progress import search_step
from halfmoon._rows import Array
from halfmoon._selection.candidate import Candidate, Entry, fit_at_all_alphas
from halfmoon._selection.criteria import Criterion
from halfmoon._selection.cross_fit import (
    average_and_twin_weights,
    cross_fit_predictions,
)
from halfmoon._selection.search_data import SearchData
from halfmoon._selection.shrinkage import add_first_guess, shrink_to_constant
from halfmoon._selection.twin_comparison import compare_with_twin
from halfmoon._solvers import IndefiniteKernelError
from halfmoon.blocks import blas_for

__all__ = ["SearchOutcome", "try_candidates"]

logger = logging.getLogger("halfmoon")

LEAST_PENALTY = 1e-3  # smallest l alpha; below it, fits interpolate the labels


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
    """The weights of the entries, in the average of all and in the supervised twin.

    Attributes
    ----------
    entries : list of Entry
    weights : dict of str to ndarray of shape (e,)
        Weights of the entries in the "average" and in the "twin".
    helped : bool
        Whether unlabeled rows clearly helped.
    chosen : "average" or "twin"
        Which of the two is used.
    comparison : dict
        Each candidate compared with the twin; see `HalfmoonClassifier`.
    held_out : dict of str to ndarray of shape (l, t)
        Cross-fitted predictions of the "answer", the "average" and the "twin" at the
        labeled rows.
    """

    entries: list[Entry]
    weights: dict[str, Array]
    helped: bool
    chosen: Literal["average", "twin"]
    comparison: dict[str, Any]
    held_out: dict[str, Array]

    @classmethod
    def of(
        cls,
        entries: list[Entry],
        shared: SearchData,
        criterion: Criterion,
        *,
        safe: bool,
    ) -> SearchOutcome:
        """Weight the entries and choose between average and twin.

        Parameters
        ----------
        entries : list of Entry
        shared : SearchData
            The data that they were fitted on.
        criterion : Criterion
        safe : bool
            Whether to use the twin unless it is clearly beaten.
        """
        y, w = shared.data.y, shared.data.w
        weights, helped = average_and_twin_weights(entries, y, w, criterion)
        chosen: Literal["average", "twin"] = "average" if helped or not safe else "twin"
        held_out = cross_fit_predictions(entries, y, w, criterion, safe=safe)
        if criterion.shrinks_to_constant:
            _, held_out["answer"] = add_first_guess(
                entries,
                *shrink_to_constant(entries, weights[chosen], held_out["answer"], y, w),
            )
            for name in ("average", "twin"):
                weights[name], held_out[name] = add_first_guess(
                    entries,
                    *shrink_to_constant(entries, weights[name], held_out[name], y, w),
                )
        comparison = compare_with_twin(entries, weights, chosen, y, w, criterion)
        return cls(entries, weights, helped, chosen, comparison, held_out)
