"""Rows that belong to the header.

Files that were joined end to end repeat it. Below the header, exports of surveys have
rows with the questions, and other tables a row of units.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from halfmoon._report.findings import Note
from halfmoon._report.sentences import count
from halfmoon.table._cells.cell_values import (
    as_column,
    is_text,
    without_missing,
    without_words,
)
from halfmoon.table._files import Batch

__all__ = [
    "description_note",
    "description_rows",
    "header_note",
    "header_rows",
    "not_data",
]

BOM = "\ufeff"  # at the start of each of the joined files
SHOWN = 3  # row numbers in a note
MAX_DESCRIPTIONS = 3  # rows below the header that describe the columns
MIN_NUMBERS = 2  # columns of numbers that show it
MIN_CELLS = 5  # numbers in such a column
MOSTLY = 0.9  # share of the cells of such a column that are numbers
MAX_READ = 1_000  # rows that are looked at
NUMBER = r"^[^\p{L}]{0,3}[0-9]"


def header_rows(rows: pa.RecordBatch) -> NDArray[np.bool_]:
    """Return where every cell of a batch is the name of its column, shape (b,).

    Examples
    --------
    >>> rows = pa.record_batch({"day": ["Mon", "day"], "kind": ["a", "kind "]})
    >>> header_rows(rows)
    array([False,  True])
    """
    found = np.zeros(rows.num_rows, dtype=bool)
    if rows.num_columns < 2 or not rows.num_rows:
        return found  # a column of words may hold its own name
    places = np.arange(rows.num_rows)
    for name, column in zip(rows.schema.names, rows.columns, strict=True):
        cells = as_column(column)
        if not is_text(cells.type):
            return found
        if len(places) < rows.num_rows:
            cells = cells.take(pa.array(places))
        if pa.types.is_string_view(cells.type):
            cells = cells.cast(pa.large_string())
        cells = pc.utf8_trim_whitespace(pc.utf8_ltrim(cells, BOM))
        same = pc.equal(cells, name.strip())
        places = places[same.fill_null(False).to_numpy(zero_copy_only=False)]
        if not len(places):
            return found
    found[places] = True
    return found


def description_rows(rows: pa.RecordBatch) -> int:
    """Return how many of the first rows of a table describe its columns.

    They have words in columns of numbers, and no cell that occurs again below.

    Examples
    --------
    >>> numbers = [str(i) for i in range(9)]
    >>> description_rows(
    ...     pa.record_batch({"a": ["mm", *numbers], "b": ["kg", *numbers]})
    ... )
    1
    """
    found = MAX_DESCRIPTIONS
    words = np.zeros(found, dtype=int)  # columns of numbers with a word in each row
    for column in rows.columns:
        cells = as_column(column)
        if not is_text(cells.type):
            return 0
        cells = without_words(without_missing(cells.slice(0, MAX_READ)))
        below = cells[found:].drop_null()
        digits = pc.match_substring_regex(below, NUMBER)
        numbers = len(below) >= MIN_CELLS and pc.mean(digits).as_py() > MOSTLY
        known = set(below.to_pylist())
        for i, cell in enumerate(cells[:found].to_pylist()):
            if cell in known or (numbers and re.search("^[^A-Za-z]*[0-9]", cell or "")):
                found = i
                break
            words[i] += bool(numbers and cell)
        if not found:
            return 0
    few = np.flatnonzero(words[:found] < MIN_NUMBERS)
    return int(few[0]) if len(few) else found


def not_data(batch: Batch) -> NDArray[np.bool_]:
    """Return which rows of a batch belong to the header, shape (b,)."""
    rows = batch.plain
    found = header_rows(rows)
    if batch.start == 0:
        found[: description_rows(rows)] = True
    return found


def description_note(rows: int, first_row: int) -> Note:
    """Note the first rows, which describe the columns."""
    numbers = " and ".join(f"{first_row + i:,}" for i in range(rows))
    one = rows == 1
    return Note(
        f"{'Row' if one else 'Rows'} {numbers} below the header "
        f"{'describes' if one else 'describe'} the columns: "
        f"{'it was' if one else 'they were'} not learned from and not filled."
    )


def header_note(numbers: Sequence[int]) -> Note:
    """Note rows that repeat the header, by their numbers in a spreadsheet."""
    first = ", ".join(f"{number:,}" for number in numbers[:SHOWN])
    more = len(numbers) - SHOWN
    if len(numbers) == 1:
        return Note(
            f"Row {first} repeats the header: it was not learned from and not filled."
        )
    return Note(
        f"{count(len(numbers), 'row')} repeat the header (rows {first}"
        f"{f' and {more:,} more' if more > 0 else ''}): they were not learned from and "
        f"not filled."
    )
