"""The search: candidates are tried, averaged, and compared with the supervised twin."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfmoon.blocks import blas_for
from halfmoon.candidates.blend import Blend, Entry
from halfmoon.candidates.candidate import ALPHAS, Candidate
from halfmoon.candidates.judges import Judge
from halfmoon.candidates.labeled import Labeled
from halfmoon.rows import Array

__all__ = ["Verdict", "comparison_of", "is_clear_gain", "try_candidates"]

logger = logging.getLogger("halfmoon")

NORMAL_95 = 1.96


def try_candidates(
    candidates: Iterable[Candidate],
    data: Labeled,
    judge: Judge,
    budget: float,
    log_level: int = logging.DEBUG,
) -> list[Entry]:
    """Entries of the candidates that the budget, in seconds, leaves time for."""
    start = time.monotonic()
    entries: list[Entry] = []
    scales = judge.scales(data)
    with blas_for(10.0 * len(data.y) ** 3):
        for candidate in candidates:
            for scale in scales if candidate.on_any_scale else [candidate.data]:
                entries += _entries(candidate.with_data(scale), judge)
            candidate.forget()
            spent = time.monotonic() - start
            logger.log(log_level, "%5.1f s of %g: %s", spent, budget, candidate.name)
            if spent > budget:
                logger.log(log_level, "The budget of %g s is spent.", budget)
                break
    return entries


def _entries(candidate: Candidate, judge: Judge) -> list[Entry]:
    data, left_out = candidate.data, candidate.left_out()
    candidate.forget()
    values = np.array([data.target.back(v, data.y - v) for v in left_out])
    return [
        Entry(candidate, alpha, at_rows, losses)
        for alpha, at_rows, losses in zip(
            ALPHAS, left_out, judge.losses(values, data), strict=True
        )
    ]


@dataclass(frozen=True)
class Verdict:
    """What the left-out rows say of all entries, and of those without unlabeled rows.

    Attributes
    ----------
    blend, twin : Blend
        The average of all entries, and that of the supervised ones.
    helped : bool
        The former beats the latter, by more than a standard error.
    answers : Blend
        The one of the two that answers.
    comparison : dict
        Each candidate beside the twin; see `HalfmoonClassifier`.
    """

    blend: Blend
    twin: Blend
    helped: bool
    answers: Blend
    comparison: dict[str, Any]

    @classmethod
    def of(
        cls, entries: list[Entry], data: Labeled, judge: Judge, *, safe: bool
    ) -> Verdict:
        """Compare, on the rows that the entries were tried on.

        Parameters
        ----------
        entries : list of Entry
        data : Labeled
            The rows that they were tried on.
        judge : Judge
        safe : bool
            Let the twin answer unless it is beaten.
        """
        alone = [entry for entry in entries if not entry.candidate.unlabeled]
        twin = Blend(alone, judge.weights(alone, data))
        blend = Blend(entries, judge.weights(entries, data))
        by_blend, by_twin = judge.losses(
            np.array([blend.left_out, twin.left_out]), data
        )
        helped = is_clear_gain(by_twin - by_blend, data.w, judge.safety)
        answers = blend if helped or not safe else twin
        shares: dict[str, float] = {}
        for entry, weight in zip(answers.entries, answers.weights, strict=True):
            name = entry.candidate.label
            shares[name] = shares.get(name, 0.0) + float(weight)
        rows = {
            "supervised twin": (False, by_twin, 0.0),
            "average of all": (True, by_blend, 0.0),
        }
        for entry in _best_of_each(entries, data.w):
            name = entry.candidate.label
            share = shares.get(name, 0.0)
            rows[name] = (entry.candidate.unlabeled, entry.losses, share)
        return cls(blend, twin, helped, answers, comparison_of(rows, by_twin, data.w))


def is_clear_gain(gains: Array, w: Array, safety: float) -> bool:
    """The weighted mean is above 0 by so many standard errors."""
    gain, error = _mean_and_error(gains, w)
    return gain > safety * error


def _best_of_each(entries: list[Entry], w: Array) -> list[Entry]:
    """The best entry of each candidate, the best candidate first."""
    best: dict[str, tuple[float, Entry]] = {}
    for entry in entries:
        loss, name = float(np.average(entry.losses, weights=w)), entry.candidate.label
        if name not in best or loss < best[name][0]:
            best[name] = loss, entry
    return [entry for _, entry in sorted(best.values(), key=lambda each: each[0])]


def comparison_of(
    rows: dict[str, tuple[bool, Array, float]], by_twin: Array, w: Array
) -> dict[str, Any]:
    """Columns of a comparison, from losses of left-out rows beside the twin's.

    Parameters
    ----------
    rows : dict
        Of each name: whether unlabeled rows have a part, losses, weight in the answer.
    by_twin, w : ndarrays of shape (l,)
    """
    differences = [
        _mean_and_error(losses - by_twin, w) for _, losses, _ in rows.values()
    ]
    mean, error = np.array(differences).T
    return {
        "candidate": list(rows),
        "unlabeled": np.array([unlabeled for unlabeled, _, _ in rows.values()]),
        "loo_error": np.array([np.average(e, weights=w) for _, e, _ in rows.values()]),
        "difference": mean,
        "low": mean - NORMAL_95 * error,
        "high": mean + NORMAL_95 * error,
        "weight": np.array([share for _, _, share in rows.values()]),
    }


def _mean_and_error(values: Array, w: Array) -> tuple[float, float]:
    """Weighted mean and its standard error."""
    mean = float(np.average(values, weights=w))
    spread = float(np.average((values - mean) ** 2, weights=w))
    return mean, float(np.sqrt(spread / max(1, len(values) - 1)))
