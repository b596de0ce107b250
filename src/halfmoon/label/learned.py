"""One refit: a model of the labels so far, and what it says of rows to ask for.

The rows to ask for are a batch by variance reduction, in which every pick conditions
the next. Of labels that look wrong those with the largest score of
`halfmoon.queries.suspicious_labels` are asked for again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from halfmoon.label.kept_rows import KeptRows
from halfmoon.label.learning_curve import Gain, expected_gain
from halfmoon.queries import suspicious_labels, variance_reduction
from halfmoon.table.allowance import Allowance
from halfmoon.table.cells import Cells
from halfmoon.table.column_importance import column_importance
from halfmoon.table.errors import LabelError
from halfmoon.table.explanations import reasons_of
from halfmoon.table.learning import learn_from
from halfmoon.table.model import TableModel
from halfmoon.table.settings import Settings
from halfmoon.table.stages import Silent

__all__ = ["Learned", "Neighbor", "Proposal", "learned"]

CHOSEN = 40  # rows of a batch
CHECKED = 5  # labels that look wrong
SUSPICIOUS = 0.8  # score of a label from which it looks wrong
NEIGHBORS = 5
MOST_UNLABELED = 4_000  # rows without a label that a refit learns from


@dataclass(frozen=True)
class Neighbor:
    """A labeled row that speaks for a proposal, or against it."""

    number: int  # in the table, from 0
    label: str
    speaks_for: bool


@dataclass(frozen=True)
class Proposal:
    """What the model says of a row.

    Attributes
    ----------
    value : str or float
        As an answer would be.
    text : str
        As the page shows it.
    confidence : float or None
    low, high : str
    neighbors : tuple of Neighbor
    """

    value: str | float
    text: str
    confidence: float | None = None
    low: str = ""
    high: str = ""
    neighbors: tuple[Neighbor, ...] = ()


@dataclass(frozen=True)
class Learned:
    """What a refit gives.

    Attributes
    ----------
    labels : int
        That were learned from.
    chosen : list of int
        Numbers of rows to ask for, the best first.
    checks : list of int
        Numbers of labeled rows whose label looks wrong.
    proposals : dict of int to Proposal
    order : list of str
        The columns, those that matter first.
    gain : Gain or None
        Of more labels.
    why_not : str
        Why there is no model, if there is none.
    """

    labels: int = 0
    chosen: list[int] = field(default_factory=list)
    checks: list[int] = field(default_factory=list)
    proposals: dict[int, Proposal] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    gain: Gain | None = None
    why_not: str = ""

    @property
    def has_model(self) -> bool:
        """Whether there is one."""
        return bool(self.labels)


def learned(
    kept: KeptRows,
    labels: Sequence[Any],
    settings: Settings,
    allowance: Allowance,
    upcoming: Sequence[int],
    not_asked: Collection[int] = (),
    order: Sequence[str] = (),
) -> Learned:
    """Refit to the labels so far.

    Parameters
    ----------
    kept : KeptRows
    labels : sequence
        Of each of these rows; None where there is none.
    settings : Settings
    allowance : Allowance
    upcoming : sequence of int
        Numbers of rows that will be asked for at random: they are predicted too.
    not_asked : collection of int
        Rows that are not to be chosen, such as skipped ones.
    order : sequence of str
        Of the columns, if it is known; otherwise it is measured.
    """
    some = _sample(labels, settings.seed)
    found = replace(
        kept.scan,
        rows=kept.scan.rows.select(kept.features).take(pa.array(some)),
        labels=[labels[i] for i in some],
        numbers=kept.scan.numbers[some],
        n_labeled=sum(label is not None for label in labels),
    )
    try:
        model, found = learn_from(found, settings, allowance, Silent(), kept.known)
    except LabelError as error:
        return Learned(order=list(kept.columns), why_not=str(error))
    is_labeled = np.array([label is not None for label in found.labels])
    X = model.transform(found.rows)
    chosen = _chosen(model, X, found.numbers, is_labeled, not_asked, settings.seed)
    checks = _checks(model, found.numbers, not_asked)
    numbers = list(dict.fromkeys([*chosen, *upcoming, *checks]))
    told = [label for label in found.labels if label is not None]
    if not order:
        order = _in_order(kept, model, found.rows, settings.seed)
    return Learned(
        len(told),
        chosen,
        checks,
        _proposals(kept, model, numbers, set(checks)),
        list(order),
        expected_gain(model, X, found.labels),
    )


def _sample(labels: Sequence[Any], seed: int) -> np.ndarray:
    """Places of all labeled rows and of some others, in order."""
    is_labeled = np.array([label is not None for label in labels], dtype=bool)
    others = np.flatnonzero(~is_labeled)
    rng = np.random.default_rng([seed, 3])
    others = rng.permutation(others)[:MOST_UNLABELED]
    return np.sort(np.concatenate([np.flatnonzero(is_labeled), others]))


def _chosen(
    model: TableModel,
    X: Any,
    numbers: Any,
    is_labeled: Any,
    not_asked: Collection[int],
    seed: int,
) -> list[int]:
    taken = is_labeled | np.isin(numbers, list(not_asked))
    n = min(CHOSEN, int((~taken).sum()))
    if not n:
        return []
    picks = variance_reduction(model.estimator_, X, n, labeled=taken, random_state=seed)
    return [int(number) for number in numbers[picks]]


def _checks(model: TableModel, numbers: Any, not_asked: Collection[int]) -> list[int]:
    found = suspicious_labels(model.estimator_)
    rows = [numbers[each.row] for each in found if each.score > SUSPICIOUS]
    return [int(row) for row in rows if row not in not_asked][:CHECKED]


def _proposals(
    kept: KeptRows, model: TableModel, numbers: Sequence[int], own: set[int]
) -> dict[int, Proposal]:
    if not numbers:
        return {}
    rows = kept.scan.rows.take(pa.array([kept.at[number] for number in numbers]))
    said, cells, first = model.predict(rows), Cells.of(model), kept.scan.first_row
    values = list(said.values)
    left_out = model.left_out() if own else None
    if left_out is not None:  # labels that look wrong: without their own label
        places = {int(model.numbers_[row]): i for i, row in enumerate(left_out.rows)}
        for i, number in enumerate(numbers):
            if number in own and number in places:
                values[i] = left_out.predicted[places[number]]
    reasons = reasons_of(model, rows, first, values, list(numbers))
    found = {}
    for i, number in enumerate(numbers):
        why = reasons[i]
        near = [Neighbor(r.row - first, r.label, True) for r in why.speaks_for]
        near += [Neighbor(r.row - first, r.label, False) for r in why.speaks_against]
        weights = {r.row - first: abs(r.weight) for r in why.all}
        near.sort(key=lambda each, w=weights: -w[each.number])  # type: ignore[misc]
        value = values[i]
        found[number] = Proposal(
            value=str(value) if kept.kind == "classes" else float(value),
            text=cells.shown(value),
            confidence=_at(said.confidence, i),
            low="" if said.low is None else cells.shown(float(said.low[i])),
            high="" if said.high is None else cells.shown(float(said.high[i])),
            neighbors=tuple(x for x in near if x.number in kept.at)[:NEIGHBORS],
        )
    return found


def _at(values: Any, i: int) -> float | None:
    return None if values is None else float(values[i])


def _in_order(
    kept: KeptRows, model: TableModel, rows: pa.Table, seed: int
) -> list[str]:
    """Columns that name a row first, then those that matter most, then the rest."""
    importance: Mapping[str, float] = column_importance(model, rows, seed)
    uses = {use.name: use for use in model.columns_}
    used = {use.name for use in model.table_.used}

    def rank(name: str) -> tuple[int, float]:
        use = uses.get(name)
        if use is not None and use.kind == "identifier":
            return 0, 0.0
        return (1, -(importance.get(name) or 0.0)) if name in used else (2, 0.0)

    return sorted(kept.columns, key=rank)
