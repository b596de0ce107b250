"""Lists of rows to label, written for a person and read back.

A list has the number of each row in a spreadsheet, an empty cell for its label, its
prediction, and its cells. Labels are read back by row number; the cells show whether
the table is still the same.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from halfmoon._number_format import count
from halfmoon.table._cells.cell_values import as_number, row_texts
from halfmoon.table._files import Table, new_table, open_table
from halfmoon.table._files.text_writer import NewCells
from halfmoon.table._labels.given_labels import Blanks, label_text
from halfmoon.table._models.predictions import RowPrediction, Unsure
from halfmoon.table._runs.output_columns import Cells
from halfmoon.table._table_errors import (
    CommandError,
    LabelError,
    OutputError,
    TableError,
)

__all__ = ["read_labels", "refuse_to_lose_labels", "write_rows_to_label"]

ROW, OTHER_ROW = "row", "halfmoon_row"  # the latter if the table has a "row"
MIN_SAME = 0.5  # share of a row's cells; programs reformat dates and numbers


def write_rows_to_label(
    destination: Any,
    table: Table,
    target: str,
    rows: Sequence[Unsure],
    cells: Cells,
    *,
    overwrite: bool = False,
    formulas: str = "escape",
) -> None:
    """Write rows of a table with an empty cell for each label.

    The format is set by the ending of `destination`. `cells` says how predictions are
    written; `overwrite` and `formulas` are those of `fill_table`.
    """
    shown = [name for name in table.columns if name not in (target, *cells.added)]
    sure = ["confidence"] if cells.kind == "classes" else ["low", "high"]
    predicted = [f"{target}_{name}" for name in ("predicted", *sure)]
    delimiter = table.format.delimiter or ","
    new = NewCells(delimiter, formulas)
    lines: list[Iterable[str]] = [
        map(new.quoted, [_row_name(table.columns), target, *predicted, *shown])
    ]
    for row in rows:
        before = [str(row.number + table.first_row), ""]
        value = new.text(cells.shown(row.prediction.value))
        after = [
            *_sure_cells(row.prediction, cells),
            *(row.cells.get(name, "") for name in shown),
        ]
        lines.append(chain(map(new.quoted, before), [value], map(new.quoted, after)))
    text = "".join(delimiter.join(line) + "\n" for line in lines)
    encoding = table.format.encoding or "utf-8"
    content = table.format.bom + text.encode(encoding)
    with (
        open_table(
            io.BytesIO(content), format="csv", delimiter=delimiter, encoding=encoding
        ) as made,
        new_table(destination, made, overwrite=overwrite, formulas=formulas) as out,
    ):
        for batch in made.batches():
            out.write(batch)


def read_labels(made: Table, table: Table, target: str) -> dict[int, str]:
    """Return labels typed into the list `made` of rows of a table.

    They are by the number of their row, from 0.
    """
    number = _row_name(table.columns)
    for name in (number, target):
        if name not in made.columns:
            raise CommandError(
                f"{made.name} has no column {name!r}. A list of rows to label needs "
                f"the columns {number!r} and {target!r}."
            )
    typed: dict[int, dict[str, str]] = {}
    for row in _labeled(made, target):
        at = _position(row[number], made, table)
        before = typed.setdefault(at, row)
        if before[target].strip() != row[target].strip():
            raise LabelError(
                f"{made.name} has two labels for row {row[number]}: "
                f"{before[target]!r} and {row[target]!r}. Keep one."
            )
    if not typed:
        raise LabelError(
            f"{made.name} has no labels yet. Type them into the column {target!r}."
        )
    _compare(typed, made, table, target)
    return {at: row[target].strip() for at, row in typed.items()}


def refuse_to_lose_labels(place: str, target: str) -> None:
    """Refuse to replace a list with typed labels."""
    if not Path(place).is_file():
        return
    try:
        with open_table(place) as made:
            typed = sum(1 for _ in _labeled(made, target))
    except (TableError, KeyError):  # not a list of rows of this target
        return
    if typed:
        raise OutputError(
            f"{place} holds {count(typed, 'label')}, which would be lost. Give the new "
            f"list another name, and use these labels with --labels {place}."
        )


def _labeled(made: Table, target: str) -> Iterator[dict[str, str]]:
    """Yield the rows of a list with a typed label, as text."""
    for batch in made.batches():
        blank = Blanks().mask(batch.plain.column(target))
        rows = batch.plain.filter(pa.array(~blank))
        labels = rows.column(target).to_pylist()
        for row, label in zip(row_texts(rows), labels, strict=True):
            yield row | {target: label_text(label)}


def _position(text: str, made: Table, table: Table) -> int:
    number = as_number(text)
    at = int(number) - table.first_row if number == number and number < 2**62 else -1
    if at < 0 or number != int(number):
        raise LabelError(
            f"{made.name} has a label for row {text!r}, but {table.name} has no such "
            f"row. Its first row is {table.first_row}."
        )
    return at


def _compare(
    typed: dict[int, dict[str, str]], made: Table, table: Table, target: str
) -> None:
    """Refuse labels of rows that have changed."""
    common = [name for name in made.columns if name in table.columns and name != target]
    left = set(typed)
    for batch in table.batches():
        here = [at for at in left if batch.start <= at < batch.start + len(batch)]
        left.difference_update(here)
        for at in here:
            (row,) = row_texts(batch.plain.slice(at - batch.start, 1))
            other = [n for n in common if not _same(row[n], typed[at][n])]
            if common and len(other) > MIN_SAME * len(common):
                name = other[0]
                raise LabelError(
                    f"Row {at + table.first_row} of {table.name} is not the same as in "
                    f"{made.name}: {name!r} is {row[name]!r} in the table but "
                    f"{typed[at][name]!r} in the list. Use the table that the list was "
                    f"made from, with its rows in the same order."
                )
    if left:
        raise LabelError(
            f"{made.name} has a label for row {min(left) + table.first_row}, but "
            f"{table.name} ends before it."
        )


def _same(one: str, other: str) -> bool:
    one, other = one.strip(), other.strip()
    return one == other or as_number(one) == as_number(other)


def _row_name(columns: Sequence[str]) -> str:
    return OTHER_ROW if ROW in columns else ROW


def _sure_cells(prediction: RowPrediction, cells: Cells) -> list[str]:
    if prediction.confidence is not None:
        shown = f"{prediction.confidence:.{cells.digits}f}"
        return [shown.replace(".", cells.style.decimal)]
    return [*cells.shown_ends(prediction)]
