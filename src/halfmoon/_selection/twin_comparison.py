"""Comparison of candidates with the supervised twin on held-out labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from halfmoon._rows import Array
from halfmoon._selection.average import Average
from halfmoon._selection.average_weights import averaged_values
from halfmoon._selection.candidate import Entry
from halfmoon._selection.criteria import Criterion, mean_and_standard_error

__all__ = ["SUMMARIES", "compare_members", "compare_with_twin"]

NORMAL_95 = 1.96
SUMMARIES = ("supervised twin", "average of all")  # rows that are not candidates


class _Row(NamedTuple):
    name: str
    uses_unlabeled: bool
    losses: Array  # (l,)
    weight: float


def compare_with_twin(
    entries: Sequence[Entry],
    weights: dict[str, Array],
    chosen: str,
    y: Array,
    w: Array,
    criterion: Criterion,
) -> dict[str, Any]:
    """Compare each candidate at its best alpha with the twin, the best first.

    The columns are described in `HalfmoonClassifier`.

    Parameters
    ----------
    entries : sequence of Entry
    weights : dict of str to ndarray of shape (e,)
        Weights of the entries in the "average" and in the "twin".
    chosen : str
        Which of the two is used.
    y, w : ndarrays of shape (l, t) and (l,)
    criterion : Criterion
    """
    values = [averaged_values(entries, weights[name]) for name in ("twin", "average")]
    by_twin, by_average = criterion.losses(np.array(values), y, w)
    rows = [
        _Row(SUMMARIES[0], False, by_twin, 0.0),
        _Row(SUMMARIES[1], True, by_average, 0.0),
    ]
    shares: dict[str, float] = {}
    best: dict[str, tuple[float, Entry]] = {}
    for entry, weight in zip(entries, weights[chosen], strict=True):
        shares[entry.name] = shares.get(entry.name, 0.0) + float(weight)
        loss = float(np.average(entry.losses, weights=w))
        if entry.name not in best or loss < best[entry.name][0]:
            best[entry.name] = loss, entry
    for _, entry in sorted(best.values(), key=lambda each: each[0]):
        uses = entry.candidate.uses_unlabeled
        rows.append(_Row(entry.name, uses, entry.losses, shares[entry.name]))
    return _columns(rows, by_twin, w)


def compare_members(
    before: dict[str, Any], average: Average, twin: Average, criterion: Criterion
) -> dict[str, Any]:
    """Add a row for each member of a refitted average to the comparison.

    With more labels than candidates were compared on, the chosen average is a refit or
    of local fits. Then the candidates have no weight. Errors of members are over all
    labels, or over those with held-out predictions, and differences are from the
    refitted twin.
    """
    rows = average.rows if not isinstance(average.rows, slice) else twin.rows
    y, w = average.y[rows], average.w[rows]
    values = [_at(twin, twin.held_out, rows)]
    values += [_at(average, member.held_out, rows) for member in average.members]
    by_twin, *losses = criterion.losses(np.array(values), y, w)
    names = _distinct([member.name for member in average.members])
    found = [
        _Row(name, member.uses_unlabeled, loss, member.weight)
        for name, member, loss in zip(names, average.members, losses, strict=True)
    ]
    new = _columns(found, by_twin, w)
    old = {**before, "weight": np.zeros(len(before["candidate"]))}
    return {
        name: [*old[name], *new[name]]
        if name == "candidate"
        else np.concatenate([old[name], new[name]])
        for name in old
    }


def _at(of: Average, held_out: Array, rows: Any) -> Array:
    """Return held-out predictions at rows, given at these rows or at all rows."""
    return held_out if of.rows is rows or len(held_out) < len(of.y) else held_out[rows]


def _columns(rows: Sequence[_Row], by_twin: Array, w: Array) -> dict[str, Any]:
    differences = [mean_and_standard_error(row.losses - by_twin, w) for row in rows]
    mean, error = np.array(differences).T
    return {
        "candidate": [row.name for row in rows],
        "unlabeled": np.array([row.uses_unlabeled for row in rows]),
        "labels": np.full(len(rows), len(w)),
        "loo_error": np.array([np.average(row.losses, weights=w) for row in rows]),
        "difference": mean,
        "low": mean - NORMAL_95 * error,
        "high": mean + NORMAL_95 * error,
        "weight": np.array([row.weight for row in rows]),
    }


def _distinct(names: list[str]) -> list[str]:
    """Number repeated names from the second one on."""
    seen: dict[str, int] = {}
    for i, name in enumerate(names):
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            names[i] = f"{name} ({seen[name]})"
    return names
