"""Fit a model to the labels so far, choose rows to ask for, and predict them.

The rows to ask for are unsure ones that say most about all others, each chosen as if
those before it were labeled (`halfmoon.queries.informative`). Labels that look wrong
(`halfmoon.queries.suspicious_labels`) are asked for again.

Near-copies of a row come last, since a person gives them the same answer. Variance
reduction assumes that the errors of two labels are independent. Where it takes much of
the labels for noise, a second label of nearly the same row reduces the variance almost
as much as that of another row, so copies would be asked for again and again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.metrics.pairwise import euclidean_distances

from halfmoon._label.labeling_progress import MoreLabelsGain, expected_gain
from halfmoon._label.session_rows import SampledRows
from halfmoon._rows import Indices
from halfmoon.queries import informative, suspicious_labels
from halfmoon.table._models.table_model import TableModel
from halfmoon.table._parameter_text import as_options
from halfmoon.table._run_settings import Settings, Stages
from halfmoon.table._runs.column_findings import column_importance
from halfmoon.table._runs.learn_from_table import learn_from
from halfmoon.table._runs.output_columns import Cells
from halfmoon.table._runs.row_reasons import reasons_of
from halfmoon.table._runs.run_costs import MemoryBudget
from halfmoon.table._table_errors import LabelError

__all__ = ["Neighbor", "Proposal", "RefitResult", "copies_last", "refit_model"]

BATCH_ROWS = 40
PICKS = 2  # rows to pick for each row of a batch, since some may be copies
NEAR = 0.02  # distance of near-copies, of the median distance between rows
SAMPLE_ROWS = 200  # for this median
MAX_CHECKS = 5  # labels that look wrong
MIN_SUSPICION = 0.8  # score of a label that looks wrong
MAX_NEIGHBORS = 5
MAX_UNLABELED = 4_000  # unlabeled rows that a model is fitted to


@dataclass(frozen=True)
class Neighbor:
    """A labeled row that supports a proposal, or contradicts it."""

    number: int  # in the table, from 0
    label: str
    speaks_for: bool


@dataclass(frozen=True)
class Proposal:
    """The prediction for a row."""

    value: str | float  # as an answer
    text: str  # as the page shows it
    confidence: float | None = None
    low: str = ""
    high: str = ""
    neighbors: tuple[Neighbor, ...] = ()


@dataclass(frozen=True)
class RefitResult:
    """The result of a refit; rows are given by their numbers in the table."""

    labels: int = 0  # that the model was fitted to; 0 if there is no model
    chosen: list[int] = field(default_factory=list)  # rows to ask for, the best first
    checks: list[int] = field(default_factory=list)  # rows whose label looks wrong
    proposals: dict[int, Proposal] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)  # columns, most important first
    gain: MoreLabelsGain | None = None  # of more labels
    why_not: str = ""  # why there is no model

    @property
    def has_model(self) -> bool:
        """Whether there were enough labels for a model."""
        return bool(self.labels)


def refit_model(
    sample: SampledRows,
    labels: Sequence[Any],
    settings: Settings,
    allowance: MemoryBudget,
    upcoming: Sequence[int],
    not_asked: Collection[int] = (),
    order: Sequence[str] = (),
) -> RefitResult:
    """Fit a model to the labels so far.

    `labels` has the label of each sampled row, or None. The `upcoming` rows will be
    asked for at random; they are predicted too. The rows `not_asked`, such as skipped
    ones, are not chosen. The `order` of the columns is measured if it is empty.
    """
    places = _places(labels, settings.seed)
    found = replace(
        sample.scan,
        rows=sample.scan.rows.select(sample.features).take(pa.array(places)),
        labels=[labels[i] for i in places],
        numbers=sample.scan.numbers[places],
        n_labeled=sum(label is not None for label in labels),
    )
    try:
        model, found = learn_from(found, settings, allowance, Stages(), sample.known)
    except LabelError as error:
        return RefitResult(order=list(sample.columns), why_not=as_options(str(error)))
    numbers, X = found.numbers, model.transform(found.rows)
    is_labeled = np.array([label is not None for label in found.labels])
    free = ~is_labeled & ~np.isin(numbers, list(not_asked))
    chosen: list[int] = []
    n = min(PICKS * BATCH_ROWS, int(free.sum()))
    if n:
        estimator, seed = model.estimator_, settings.seed
        picks = informative(estimator, X, n, labeled=~free, random_state=seed)
        batch = copies_last(X, picks, is_labeled)[:BATCH_ROWS]
        chosen = numbers[batch].tolist()
    doubted = [
        int(numbers[each.row])
        for each in suspicious_labels(model.estimator_)
        if each.score > MIN_SUSPICION
    ]
    checks = [row for row in doubted if row not in not_asked][:MAX_CHECKS]
    shown = list(dict.fromkeys([*chosen, *upcoming, *checks]))
    return RefitResult(
        int(is_labeled.sum()),
        chosen,
        checks,
        _proposals(sample, model, shown, checks),
        list(order) or _column_order(sample, model, found.rows, settings.seed),
        expected_gain(model, X, found.labels),
    )


def _places(labels: Sequence[Any], seed: int) -> NDArray[np.intp]:
    """Select all labeled rows and a random sample of the others."""
    is_labeled = np.array([label is not None for label in labels], dtype=bool)
    rng = np.random.default_rng([seed, 3])
    others = rng.permutation(np.flatnonzero(~is_labeled))[:MAX_UNLABELED]
    return np.sort(np.concatenate([np.flatnonzero(is_labeled), others]))


def _proposals(
    sample: SampledRows,
    model: TableModel,
    numbers: Sequence[int],
    checks: Collection[int],
) -> dict[int, Proposal]:
    if not numbers:
        return {}
    rows = sample.scan.rows.take(pa.array([sample.at[number] for number in numbers]))
    predicted, cells = model.predict(rows), Cells.of(model)
    if pa.types.is_decimal(sample.type):
        cells = replace(cells, digits=min(cells.digits, sample.type.scale))
    predictions = [predicted.at(i) for i in range(len(numbers))]
    first = sample.scan.first_row
    if checks:  # predicted without their own label
        loo = model.left_out()
        places = {int(model.numbers_[row]): i for i, row in enumerate(loo.rows)}
        for i, number in enumerate(numbers):
            if number in checks and number in places:
                value = loo.predicted[places[number]]
                predictions[i] = predictions[i]._replace(value=value)
    values = [prediction.value for prediction in predictions]
    reasons = reasons_of(model, rows, first, values, list(numbers))
    found = {}
    for number, each, why in zip(numbers, predictions, reasons, strict=True):
        strongest = sorted(why.all, key=lambda reason: -abs(reason.weight))
        near = [
            Neighbor(
                reason.row - first,
                _shown_label(sample, reason.label),
                reason in why.speaks_for,
            )
            for reason in strongest
            if reason.row - first in sample.at
        ]
        text = _shown_label(sample, cells.shown(each.value))
        is_class = sample.kind == "classes"
        found[number] = Proposal(
            text if is_class else round(float(each.value), cells.digits),
            text,
            each.confidence,
            *cells.shown_ends(each),
            tuple(near[:MAX_NEIGHBORS]),
        )
    return found


def _shown_label(sample: SampledRows, text: str) -> str:
    """Return a label as on its button: 0, not 0.0, if it is a class of floats."""
    return str(sample.answer(sample.label(text))) if sample.kind == "classes" else text


def _column_order(
    sample: SampledRows, model: TableModel, rows: pa.Table, seed: int
) -> list[str]:
    """Sort columns: identifiers, then features by importance, then the rest."""
    importance = column_importance(model, rows, seed)
    identifiers = {use.name for use in model.columns_.uses if use.kind == "identifier"}
    used = {use.name for use in model.columns_.used}

    def rank(name: str) -> tuple[int, float]:
        if name in identifiers:
            return 0, 0.0
        place = importance[name].value if name in importance else 0.0
        return (1, -place) if name in used else (2, 0.0)

    return sorted(sample.columns, key=rank)


def copies_last(
    X: Any,  # (n, d), dense or CSR
    picks: Sequence[int] | Indices,
    labeled: NDArray[np.bool_],  # (n,)
) -> list[int]:
    """Return the picks; those near a labeled row or an earlier pick come last.

    O(picks (labeled + picks) d) time.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [1.001], [2.0], [0.001], [3.0]])
    >>> copies_last(X, [4, 1, 2, 3], np.array([True] + [False] * 5))
    [1, 3, 4, 2]
    """
    rows = X[list(picks)]
    some = X[:: max(1, X.shape[0] // SAMPLE_ROWS)]
    near = NEAR * float(np.median(euclidean_distances(rows, some)))
    is_copy = np.zeros(len(picks), dtype=bool)
    if labeled.any():
        is_copy = euclidean_distances(rows, X[labeled]).min(axis=1) < near
    between = euclidean_distances(rows) < near
    for i in range(1, len(picks)):
        is_copy[i] |= bool((between[i, :i] & ~is_copy[:i]).any())
    order = np.argsort(is_copy, kind="stable")
    return [int(picks[i]) for i in order]
