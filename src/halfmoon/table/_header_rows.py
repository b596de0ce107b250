"""Rows that repeat the header, as in files that were joined end to end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from halfmoon._report.findings import Note
from halfmoon._report.sentences import count
from halfmoon.table._cell_values import as_column, is_text

__all__ = ["header_note", "header_rows"]

BOM = "\ufeff"  # at the start of each of the joined files
SHOWN = 3  # row numbers in a note


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
