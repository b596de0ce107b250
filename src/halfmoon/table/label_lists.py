"""Lists of rows to label: written for a person to fill in, and read back.

A list has the number of each row as a spreadsheet shows it, an empty cell for its
label, what is predicted, and the cells of the row. Labels are read back by row number;
the cells show whether the table is still the one that the list was made of.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from halfmoon.report.wording import count
from halfmoon.table.blanks import Blanks, as_number
from halfmoon.table.cells import Cells
from halfmoon.table.errors import CommandError, LabelError, OutputError, TableError
from halfmoon.table.files import Table, new_table, open_table
from halfmoon.table.files.cells import NewCells
from halfmoon.table.given_labels import label_text
from halfmoon.table.unsure_rows import Unsure, as_text

__all__ = ["read_labels", "refuse_to_lose_labels", "write_rows_to_label"]

ROW, OTHER_ROW = "row", "halfmoon_row"  # the latter where the table has a "row"
SAME = 0.5  # of a row's cells, at least; programs write dates and numbers anew


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
    """Write rows with an empty cell for the label of each.

    Parameters
    ----------
    destination : path
        Its ending sets the format, as that of any table.
    table : table of `halfmoon.table.files`
        That the rows are from.
    target : str
    rows : sequence of Unsure
    cells : Cells
        How predictions are written.
    overwrite : bool
    formulas : "escape" or "keep"
    """
    shown = [name for name in table.columns if name not in (target, *cells.added)]
    sure = ["confidence"] if cells.kind == "classes" else ["low", "high"]
    answers = [f"{target}_predicted", *(f"{target}_{name}" for name in sure)]
    delimiter = table.format.delimiter or ","
    new = NewCells(delimiter, formulas)
    lines = [
        [_row_name(table.columns), target, *answers, *shown],
        *(
            [
                str(row.number + table.first_row),
                "",
                new.text(cells.shown(row.value)),
                *_sureness(row, cells),
                *(row.cells.get(name, "") for name in shown),
            ]
            for row in rows
        ),
    ]
    text = "".join(
        delimiter.join(
            cell if place == 2 and number else new.quoted(cell)
            for place, cell in enumerate(line)
        )
        + "\n"
        for number, line in enumerate(lines)
    )
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
    """Labels that were typed into a list of rows, by the number of the row, from 0.

    Parameters
    ----------
    made : table of `halfmoon.table.files`
        The list.
    table : table of `halfmoon.table.files`
        That the rows are from.
    target : str
    """
    number = _row_name(table.columns)
    for name in (number, target):
        if name not in made.columns:
            raise CommandError(
                f"{made.name} has no column {name!r}. A list of rows to label is "
                f"needed, with the columns {number!r} and {target!r}."
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
    """Refuse to replace a list into which labels were typed."""
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
            f"list another name, and use what was typed with --labels {place}."
        )


def _labeled(made: Table, target: str) -> Iterator[dict[str, str]]:
    """Rows of a list in which a label was typed, as text."""
    for batch in made.batches():
        blank = Blanks().mask(batch.plain.column(target))
        for row, empty in zip(batch.plain.to_pylist(), blank, strict=True):
            if not empty:
                texts = {name: as_text(cell) for name, cell in row.items()}
                yield texts | {target: label_text(row[target])}


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
    """Refuse labels of rows that are other rows now."""
    common = [name for name in made.columns if name in table.columns and name != target]
    left = set(typed)
    for batch in table.batches():
        here = [at for at in left if batch.start <= at < batch.start + len(batch)]
        left.difference_update(here)
        for at in here:
            row = batch.plain.slice(at - batch.start, 1).to_pylist()[0]
            other = [n for n in common if not _same(as_text(row[n]), typed[at][n])]
            if common and len(other) > SAME * len(common):
                name = other[0]
                raise LabelError(
                    f"Row {at + table.first_row} of {table.name} is not the same as in "
                    f"{made.name}: {name!r} is {as_text(row[name])!r} in the table and "
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


def _sureness(row: Unsure, cells: Cells) -> list[str]:
    if row.confidence is not None:
        shown = f"{row.confidence:.{cells.digits}f}"
        return [shown.replace(".", cells.style.decimal)]
    return [cells.shown(row.low), cells.shown(row.high)]
