"""The search: candidates are tried, averaged, and compared with the supervised twin."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from halfmoon.blocks import blas_for
from halfmoon.progress import search_step
from halfmoon.rows import Array
from halfmoon.selection.candidate import Candidate, Entry, entries_of
from halfmoon.selection.comparison import compared
from halfmoon.selection.criteria import Criterion
from halfmoon.selection.cross_fit import cross_fitted, weighed
from halfmoon.selection.shrinkage import shrunk_to_constant
from halfmoon.selection.workbench import Workbench

__all__ = ["Outcome", "try_candidates"]

logger = logging.getLogger("halfmoon")

LEAST_PENALTY = 1e-3  # l alpha: below it, a fit goes through every label


def try_candidates(
    candidates: Iterable[Candidate],
    bench: Workbench,
    criterion: Criterion,
    budget: float,
    log_level: int = logging.DEBUG,
    entries: list[Entry] | None = None,
) -> list[Entry]:
    """Entries of the candidates that the budget, in seconds, leaves time for.

    They are added to `entries` one by one, so that what comes last can be made of what
    did well.
    """
    start = time.monotonic()
    entries = [] if entries is None else entries
    with blas_for(10.0 * bench.n_labeled**3):
        for candidate in candidates:
            at_each = entries_of(candidate, bench, criterion)
            least = LEAST_PENALTY / bench.n_labeled
            entries += [entry for entry in at_each if entry.alpha >= least]
            spent = time.monotonic() - start
            search_step(spent, budget, candidate.name, log_level)
            if spent > budget:
                logger.log(log_level, "The budget of %g s is spent.", budget)
                break
    return entries


@dataclass(frozen=True)
class Outcome:
    """What the entries say together, with those that use unlabeled rows and without.

    Attributes
    ----------
    entries : list of Entry
    weights : dict of str to ndarray of shape (e,)
        Of the entries in the "average" of all, and in the supervised "twin".
    helped : bool
        Unlabeled rows clearly helped.
    answer : "average" or "twin"
        Which of the two answers.
    comparison : dict
        Each candidate compared with the twin; see `HalfmoonClassifier`.
    held_out : dict of str to ndarray of shape (l, t)
        Values of the "answer", the "average" and the "twin" at labeled rows, by weights
        that do not know the labels they answer.
    """

    entries: list[Entry]
    weights: dict[str, Array]
    helped: bool
    answer: Literal["average", "twin"]
    comparison: dict[str, Any]
    held_out: dict[str, Array]

    @classmethod
    def of(
        cls, entries: list[Entry], bench: Workbench, criterion: Criterion, *, safe: bool
    ) -> Outcome:
        """Weigh the entries.

        Parameters
        ----------
        entries : list of Entry
        bench : Workbench
            The rows that they were tried on.
        criterion : Criterion
        safe : bool
            Let the twin answer unless it is clearly beaten.
        """
        y, w = bench.data.y, bench.data.w
        weights, helped = weighed(entries, y, w, criterion)
        answer: Literal["average", "twin"] = "average" if helped or not safe else "twin"
        held_out = cross_fitted(entries, y, w, criterion, safe=safe)
        if criterion.shrinks:
            for name in ("average", "twin"):
                weights[name], held_out[name] = shrunk_to_constant(
                    entries, weights[name], held_out[name], y, w
                )
            _, held_out["answer"] = shrunk_to_constant(
                entries, weights[answer], held_out["answer"], y, w
            )
        comparison = compared(entries, weights, answer, y, w, criterion)
        return cls(entries, weights, helped, answer, comparison, held_out)
