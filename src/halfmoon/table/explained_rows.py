"""Rows of a table taken apart: what is predicted, and which labeled rows are behind it.

The table is walked through once to find the rows, and once more for the cells of the
labeled rows that speak for and against them: memory does not grow with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from halfmoon.table.cells import Cells
from halfmoon.table.errors import CommandError, ModelError
from halfmoon.table.explanations import Reasons, reasons_of
from halfmoon.table.files import Table
from halfmoon.table.model import TableModel
from halfmoon.table.unsure_rows import as_text

__all__ = ["ExplainedRow", "explained_rows", "most_important", "rows_by_number"]


@dataclass(frozen=True)
class ExplainedRow:
    """A row, what is predicted of it, and why.

    Attributes
    ----------
    number : int
        As a spreadsheet counts.
    prediction : str
        For a labeled row, without its own label.
    given : str or None
        The label that the model has learned for it, if any.
    confidence : float or None
        For classes.
    low, high : str
        For numbers, the ends of the interval.
    reasons : Reasons
    cells : mapping of int to mapping of str to str
        Of the row and of those that the reasons name.
    """

    number: int
    prediction: str
    given: str | None
    confidence: float | None
    low: str
    high: str
    reasons: Reasons
    cells: Mapping[int, Mapping[str, str]]


def explained_rows(
    table: Table, model: TableModel, numbers: Sequence[int], columns: Sequence[str]
) -> list[ExplainedRow]:
    """Take the answers at some rows of a table apart.

    Parameters
    ----------
    table : table of `halfmoon.table.files`
        The one that the model was learned from.
    model : TableModel
    numbers : sequence of int
        Of the rows, as a spreadsheet counts.
    columns : sequence of str
        Whose cells are shown.
    """
    if model.numbers_ is None:
        raise ModelError(
            "The model file is from an older version of halfmoon, so its predictions "
            "cannot be explained. Make it again: halfmoon fill --model FILE."
        )
    first = table.first_row
    wanted = rows_by_number(table, [number - first for number in numbers])
    rows = pa.concat_tables([wanted[number - first] for number in numbers])
    said, cells = model.predict(rows), Cells.of(model)
    left_out = model.left_out()
    known = {int(model.numbers_[row]): i for i, row in enumerate(left_out.rows)}
    answers, found = list(said.values), []
    for i, number in enumerate(numbers):
        if (at := known.get(number - first)) is not None:
            answers[i] = left_out.predicted[at]
    own = [number - first for number in numbers]
    reasons = reasons_of(model, rows, first, answers, own, patient=True)
    needed = {*own, *(r.row - first for each in reasons for r in each.all)}
    texts = {
        number + first: _texts(row, columns)
        for number, row in rows_by_number(table, sorted(needed)).items()
    }
    for i, number in enumerate(numbers):
        at = known.get(number - first)
        source: Any = said if at is None else left_out
        place = i if at is None else at
        shown = {number, *(r.row for r in reasons[i].all)}
        found.append(
            ExplainedRow(
                number,
                cells.shown(answers[i]),
                None if at is None else cells.shown(left_out.given[at]),
                None if source.confidence is None else float(source.confidence[place]),
                "" if source.low is None else cells.shown(float(source.low[place])),
                "" if source.high is None else cells.shown(float(source.high[place])),
                reasons[i],
                {row: texts[row] for row in sorted(shown) if row in texts},
            )
        )
    return found


def most_important(
    importance: Mapping[str, float | None], model: TableModel, most: int
) -> list[str]:
    """The columns that matter most, of those that were learned from."""
    names = [use.name for use in model.table_.used]
    return sorted(names, key=lambda name: -(importance.get(name) or 0.0))[:most]


def rows_by_number(table: Table, numbers: Iterable[int]) -> dict[int, pa.Table]:
    """Rows by their numbers, from 0; an error if one is not there."""
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


def _texts(row: pa.Table, columns: Sequence[str]) -> dict[str, str]:
    present = [name for name in columns if name in row.column_names]
    cells = row.select(present).to_pylist()[0]
    return {name: as_text(cell) for name, cell in cells.items()}
