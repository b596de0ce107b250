"""Where the table stands in a sheet, and of which type each of its columns is.

A sheet may hold a title above the table, empty columns left of it and remarks right of
it. The header is the first row in which most of the used columns have a text, each a
different one. Rows in which the table's columns hold nothing are no rows.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from halfmoon.table.files.cells import value_text

__all__ = ["Layout", "column_type", "find_layout", "typed_column"]

SEARCHED_ROWS = 50  # in which a header is looked for
LARGEST_WHOLE = 2**53  # above it a spreadsheet has no exact whole numbers

Cells = Sequence[Any]  # of one row; an empty text where there is nothing


@dataclass(frozen=True)
class Layout:
    """Where a table stands; numbers of rows and columns from 0.

    Attributes
    ----------
    header : int
        Row with the names.
    columns : tuple of int
        Columns of the table.
    names : tuple of str
    """

    header: int
    columns: tuple[int, ...]
    names: tuple[str, ...]


def find_layout(rows: Iterable[Cells]) -> Layout | None:
    """The layout of the table in a sheet, by its first rows; None for an empty one.

    Parameters
    ----------
    rows : iterable of sequence
        From the first row of the sheet on, all of the same length.

    Examples
    --------
    >>> find_layout([["Flowers", ""], ["", ""], ["name", "size"], ["rose", 2.0]])
    Layout(header=2, columns=(0, 1), names=('name', 'size'))
    """
    seen = [row for row, _ in zip(rows, range(SEARCHED_ROWS), strict=False)]
    used = {i for row in seen for i, cell in enumerate(row) if cell != ""}
    if not used:
        return None
    first = next(i for i, row in enumerate(seen) if any(cell != "" for cell in row))
    header = next((i for i, row in enumerate(seen) if _is_header(row, used)), first)
    row = seen[header]
    below = {i for other in seen[header:] for i, c in enumerate(other) if c != ""}
    named = [i for i, cell in enumerate(row) if cell != ""]
    # Between the first and the last name every column counts that holds anything.
    columns = [i for i in range(named[0], named[-1] + 1) if i in below]
    names = [_name(row[i]) for i in columns]
    return Layout(header, tuple(columns), tuple(names))


def _is_header(row: Cells, used: set[int]) -> bool:
    texts = [cell for cell in row if isinstance(cell, str) and cell.strip()]
    return len(texts) * 2 > len(used) and len(set(texts)) == len(texts)


def _name(cell: object) -> str:
    return cell if isinstance(cell, str) else _text(cell)


def column_type(kinds: set[type], whole: bool) -> Any:
    """Arrow type that holds the cells of a column as they are; text if they differ.

    Parameters
    ----------
    kinds : set of type
        Of the cells that are not empty.
    whole : bool
        Whether every number has no decimals and is exact.

    Examples
    --------
    >>> column_type({float}, True), column_type({float, str}, False)
    (DataType(int64), DataType(string))
    """
    if kinds and kinds <= {float, int}:
        return pa.int64() if whole else pa.float64()
    if kinds == {bool}:
        return pa.bool_()
    if kinds == {dt.date}:
        return pa.date32()
    if kinds and kinds <= {dt.date, dt.datetime}:
        return pa.timestamp("us")
    if kinds == {dt.time}:
        return pa.time64("us")
    if kinds == {dt.timedelta}:
        return pa.duration("us")
    return pa.string()


def is_whole(value: object) -> bool:
    """Whether a number can stand in a column of whole numbers."""
    return isinstance(value, (int, float)) and (
        abs(value) <= LARGEST_WHOLE and value == int(value)
    )


def typed_column(cells: Sequence[Any], kind: Any) -> Any:
    """Cells as an Arrow array; empty ones are null."""
    if pa.types.is_string(kind):
        return pa.array([None if c == "" else _text(c) for c in cells], kind)
    if pa.types.is_timestamp(kind):
        cells = [
            dt.datetime(c.year, c.month, c.day) if type(c) is dt.date else c
            for c in cells
        ]
    if pa.types.is_int64(kind):
        cells = [c if c == "" else int(c) for c in cells]
    return pa.array([None if c == "" else c for c in cells], kind)


def _text(cell: object) -> str:
    """A cell among texts: a whole number without a point, a date in ISO 8601."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return value_text(cell)
    if isinstance(cell, (int, float)) and is_whole(cell):
        return str(int(cell))
    if isinstance(cell, (dt.datetime, dt.date, dt.time)):
        return cell.isoformat()
    return value_text(cell)
