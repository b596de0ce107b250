"""Find the table in a sheet, and the type of each of its columns.

A sheet may hold a title above the table, empty columns to its left and remarks to its
right. The header is the first row in which most of the used columns hold text, all
different. A row that is empty in the columns of the table is skipped.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pyarrow as pa

from halfmoon.table._files.arrow_types import value_text

__all__ = ["SheetLayout", "column_type", "find_layout", "typed_column"]

SEARCHED_ROWS = 50  # for a header
MAX_EXACT_INTEGER = 2**53  # of a spreadsheet

Cells = Sequence[Any]  # of one row; an empty cell is an empty text


@dataclass(frozen=True)
class SheetLayout:
    """Position of a table in a sheet; rows and columns count from 0.

    Attributes
    ----------
    header : int
        Row of the column names.
    columns : tuple of int
        Columns of the table.
    names : tuple of str
    """

    header: int
    columns: tuple[int, ...]
    names: tuple[str, ...]


def find_layout(rows: Iterable[Cells]) -> SheetLayout | None:
    """Find the table in a sheet by its first rows; None for an empty sheet.

    Parameters
    ----------
    rows : iterable of sequence
        All rows of the sheet, of the same length.

    Examples
    --------
    >>> find_layout([["Flowers", ""], ["", ""], ["name", "size"], ["rose", 2.0]])
    SheetLayout(header=2, columns=(0, 1), names=('name', 'size'))
    """
    first_rows = list(islice(rows, SEARCHED_ROWS))
    used = {i for row in first_rows for i, cell in enumerate(row) if cell != ""}
    if not used:
        return None
    first = next(
        i for i, row in enumerate(first_rows) if any(cell != "" for cell in row)
    )
    header = next(
        (i for i, row in enumerate(first_rows) if _is_header(row, used)), first
    )
    row = first_rows[header]
    below = {i for other in first_rows[header:] for i, c in enumerate(other) if c != ""}
    named = [i for i, cell in enumerate(row) if cell != ""]
    # Between the first and the last name, a column counts if it holds anything.
    columns = [i for i in range(named[0], named[-1] + 1) if i in below]
    names = [_text(row[i]) for i in columns]
    return SheetLayout(header, tuple(columns), tuple(names))


def _is_header(row: Cells, used: set[int]) -> bool:
    texts = [cell for cell in row if isinstance(cell, str) and cell.strip()]
    return len(texts) * 2 > len(used) and len(set(texts)) == len(texts)


def column_type(kinds: set[type], whole: bool) -> Any:
    """Return the Arrow type for the cells of a column; text if their types differ.

    Parameters
    ----------
    kinds : set of type
        Types of the cells that are not empty.
    whole : bool
        Whether all numbers are exact integers.

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
    """Return whether a number fits into a column of integers."""
    return isinstance(value, (int, float)) and (
        abs(value) <= MAX_EXACT_INTEGER and value == int(value)
    )


def typed_column(cells: Sequence[Any], kind: Any) -> Any:
    """Return cells as an Arrow array; empty cells are null."""
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
    """Return a cell as text: an integer without a point, a date in ISO 8601."""
    if isinstance(cell, (int, float)) and not isinstance(cell, bool) and is_whole(cell):
        return str(int(cell))
    if isinstance(cell, (dt.datetime, dt.date, dt.time)):
        return cell.isoformat()
    return value_text(cell)
