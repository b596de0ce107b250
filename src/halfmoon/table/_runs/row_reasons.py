"""Why a row of a table was filled as it was: the labeled rows behind its prediction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from halfmoon._estimators.explanations import LabelWeight
from halfmoon._report.findings import Reason, ShownRow
from halfmoon.table._cells.cell_values import row_texts
from halfmoon.table._files import Table
from halfmoon.table._models.predictions import Unsure, loo_prediction
from halfmoon.table._models.table_model import TableModel
from halfmoon.table._runs.output_columns import Cells
from halfmoon.table._table_errors import CommandError, ModelError

__all__ = [
    "ExplainedRow",
    "explained_rows",
    "most_important",
    "reasons_of",
    "rows_by_number",
    "shown_row",
]

MAX_REASONS = 5  # on either side
MAX_LANDMARK_LABELS = 1_000  # their weights take a matrix of labels by labels
NEGLIGIBLE = 0.01  # share of the strongest pull below which a reason is not shown


@dataclass(frozen=True)
class Reasons:
    """Labeled rows for and against a prediction, the strongest first.

    Only similar rows, of positive weight, are reasons: that dissimilar rows have other
    labels explains little. `scale` is the scale of the weights, as in `Explanation`.
    """

    speaks_for: tuple[Reason, ...] = ()
    speaks_against: tuple[Reason, ...] = ()
    scale: str = "as given"

    @property
    def all(self) -> tuple[Reason, ...]:
        """Both."""
        return (*self.speaks_for, *self.speaks_against)


@dataclass(frozen=True)
class ExplainedRow:
    """A row with its prediction and the reasons for it."""

    shown: ShownRow  # a labeled row is predicted without its own label
    scale: str  # of the weights, as in `Explanation`
    # Cells of the row and of its reasons, by row number.
    cells: Mapping[int, Mapping[str, str]]


def shown_row(
    row: Unsure,
    columns: Sequence[str],
    cells: Cells,
    first_row: int,
    given: Any = None,
    reasons: Reasons = Reasons(),
) -> ShownRow:
    """Return a row with its prediction, formatted for a person to read.

    The cells of some columns are shown. `first_row` is the number of the table's first
    row in a spreadsheet.
    """
    prediction = row.prediction
    return ShownRow(
        row.number + first_row,
        tuple(row.cells.get(name, "") for name in columns),
        cells.shown(prediction.value),
        cells.shown(prediction.second),
        prediction.confidence,
        *cells.shown_ends(prediction),
        None if given is None else cells.shown(given),
        reasons.speaks_for,
        reasons.speaks_against,
    )


def reasons_of(
    model: TableModel,
    rows: pa.Table | pa.RecordBatch,
    first_row: int,
    predictions: Sequence[Any] | None = None,
    places: Sequence[int] | None = None,
    *,
    patient: bool = False,
) -> list[Reasons]:
    """Return the reasons for the predictions of a few rows.

    `predictions` are what the reasons are for, None for what the model predicts.
    `places` are the numbers of the rows in the table, from 0: a label is no reason for
    the prediction of its own row. For thousands of labels at landmarks it takes long to
    compute reasons; unless one is `patient`, there are none. `first_row` is the number
    of the table's first row in a spreadsheet.
    """
    if rows.num_rows == 0:
        return []
    used = getattr(model.estimator_.solution_, "rows", slice(None))
    at_landmarks = not isinstance(used, slice)
    many = len(model.estimator_.labeled_) > MAX_LANDMARK_LABELS
    if at_landmarks and many and not patient:
        return [Reasons()] * rows.num_rows
    try:
        explanation = model.explain(rows, predictions)
    except MemoryError:  # very many labels at landmarks
        return [Reasons()] * rows.num_rows
    cells = Cells.of(model)

    def shown(weights: list[LabelWeight], i: int) -> tuple[Reason, ...]:
        least = NEGLIGIBLE * max(abs(explanation.pulls[i]))
        similar = [
            each
            for each in weights
            if each.weight > 0
            and abs(each.pull) >= least
            and (places is None or each.row != places[i])
        ]
        return tuple(
            Reason(each.row + first_row, cells.shown(each.label), each.weight)
            for each in similar[:MAX_REASONS]
        )

    n_labels = len(explanation.rows)
    return [
        Reasons(
            shown(explanation.speaks_for(i, n_labels), i),
            shown(explanation.speaks_against(i, n_labels), i),
            explanation.scale,
        )
        for i in range(len(explanation))
    ]


def explained_rows(
    table: Table, model: TableModel, numbers: Sequence[int], columns: Sequence[str]
) -> list[ExplainedRow]:
    """Explain the predictions of rows of the table that a model learned from.

    `numbers` are row numbers in a spreadsheet; cells of `columns` are shown. The table
    is read twice: for the rows, and for the labeled rows behind their predictions.
    """
    if model.numbers_ is None:
        raise ModelError(
            "The model file is from an older version of halfmoon, so its predictions "
            "cannot be explained. Make it again: halfmoon fill --model FILE."
        )
    first, cells = table.first_row, Cells.of(model)
    places = [number - first for number in numbers]
    by_number = rows_by_number(table, places)
    rows = pa.concat_tables([by_number[number] for number in places])
    predicted, loo = model.predict(rows), model.left_out(as_given=True)
    labeled = {int(model.numbers_[row]): i for i, row in enumerate(loo.rows)}
    found, given = [], []
    for i, number in enumerate(places):
        at = labeled.get(number)
        prediction = predicted.at(i) if at is None else loo_prediction(loo, at)
        found.append(Unsure(number, {}, prediction))
        given.append(None if at is None else loo.given[at])
    values = [row.prediction.value for row in found]
    reasons = reasons_of(model, rows, first, values, places, patient=True)
    needed = {*places, *(r.row - first for each in reasons for r in each.all)}
    texts = {}
    for number, row in rows_by_number(table, needed).items():
        present = [name for name in columns if name in row.column_names]
        (texts[number + first],) = row_texts(row.select(present))
    return [
        ExplainedRow(
            shown_row(found[i], (), cells, first, given[i], reasons[i]),
            reasons[i].scale,
            {n: texts[n] for n in sorted({number, *(r.row for r in reasons[i].all)})},
        )
        for i, number in enumerate(numbers)
    ]


def most_important(
    importance: Mapping[str, float | None], model: TableModel, most: int
) -> list[str]:
    """Return the most important columns of those that were learned from."""
    names = [use.name for use in model.columns_.used]
    return sorted(names, key=lambda name: -(importance.get(name) or 0.0))[:most]


def rows_by_number(table: Table, numbers: Iterable[int]) -> dict[int, pa.Table]:
    """Return rows by their numbers, from 0; raise an error if one is missing."""
    wanted, found, end = set(numbers), {}, 0
    for batch in table.batches():
        end = batch.start + len(batch)
        for number in wanted:
            if batch.start <= number < end:
                part = batch.rows.slice(number - batch.start, 1)
                found[number] = pa.Table.from_batches([part])
    missing = sorted(wanted - set(found))
    if missing:
        first = table.first_row
        raise CommandError(
            f"The table has no row {missing[0] + first}. Its rows are {first} to "
            f"{end - 1 + first}, as a spreadsheet counts them."
        )
    return found
