"""What the answer consists of where more labels were fitted than were compared.

Candidates are compared on 500 labels at most; the answer to more labels is a refit of
some of them, or a fit in cells that was never among them (`finish.py`). So the
comparison gets a row for each member of that answer, and the weights are theirs.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from halfmoon.candidates.average import Average
from halfmoon.candidates.blend import Entry
from halfmoon.candidates.judges import Judge
from halfmoon.candidates.labeled import Labeled
from halfmoon.candidates.landmarks import PreparedFit
from halfmoon.candidates.many import InCells
from halfmoon.candidates.search import comparison_of
from halfmoon.problem import telling_rows
from halfmoon.rows import Array, Indices

__all__ = ["with_members"]


class _Member(NamedTuple):
    name: str
    unlabeled: bool
    weight: float
    left_out: Array  # (m, t), at the rows that are asked for


def with_members(
    comparison: dict[str, Any],
    answer: Average | PreparedFit | InCells,
    twin: Average | PreparedFit | InCells,
    data: Labeled,
    judge: Judge,
) -> dict[str, Any]:
    """A comparison of candidates, with a row for each member of the answer.

    The candidates themselves have no weight then. Errors of members are of all labels,
    or of those that tell enough, and differences are from the twin's answer to these.

    Parameters
    ----------
    comparison : dict
        Of the candidates, on some labels.
    answer, twin : fitted on all labels
    data : Labeled
        With all labels.
    judge : Judge
        For these.
    """
    some: Indices | slice = slice(None)
    for each in (answer, twin):
        if isinstance(each, PreparedFit):
            some = telling_rows(each.fit.posed)
    chosen, y, w = data.chosen[some], data.y[some], data.w[some]
    here = replace(data, chosen=chosen, y=y, w=w)
    members = _members(answer, here, some)
    by_twin = sum(each.weight * each.left_out for each in _members(twin, here, some))
    values = [by_twin, *(each.left_out for each in members)]
    losses = judge.on(here).losses(np.array(values), here)
    rows = {
        each.name: (each.unlabeled, loss, each.weight)
        for each, loss in zip(members, losses[1:], strict=True)
    }
    new = comparison_of(rows, losses[0], w)
    old = {**comparison, "weight": np.zeros(len(comparison["candidate"]))}
    return {
        name: [*old[name], *new[name]]
        if name == "candidate"
        else np.concatenate([old[name], new[name]])
        for name in old
    }


def _members(
    answer: Average | PreparedFit | InCells, data: Labeled, some: Indices | slice
) -> list[_Member]:
    """What an answer is the average of, by name."""
    if isinstance(answer, PreparedFit):
        residuals = answer.leave_one_out(some).reshape(data.y.shape)
        name = f"{answer.name}, at landmarks"
        return [_Member(name, answer.unlabeled, 1.0, data.y - residuals)]
    if isinstance(answer, InCells):
        return [
            _Member(f"{name}, in cells", False, float(weight), each.left_out[some])
            for name, weight, each in zip(
                _distinct([each.name for each in answer.members]),
                answer.weights,
                answer.members,
                strict=True,
            )
        ]
    by_name: dict[str, list[tuple[Entry, float]]] = defaultdict(list)
    for entry, weight in zip(answer.blend.entries, answer.blend.weights, strict=True):
        by_name[entry.candidate.label].append((entry, float(weight)))
    members = []
    for name, parts in by_name.items():
        share = sum(weight for _, weight in parts)
        values = sum(weight / share * entry.values[some] for entry, weight in parts)
        unlabeled = parts[0][0].candidate.unlabeled
        left_out = np.asarray(values)
        members.append(_Member(f"{name}, all labels", unlabeled, share, left_out))
    return members


def _distinct(names: list[str]) -> list[str]:
    """The names, numbered from the second on where they are the same."""
    seen: dict[str, int] = {}
    for i, name in enumerate(names):
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            names[i] = f"{name} ({seen[name]})"
    return names
