"""A first look at a table to predict: its totals, and columns that look different.

Another program may write the numbers or dates of a new table in another way than those
that the model learned from: 1.234,5 for 1234.5, or 2024-05-03 for 03.05.2024. If too
many cells of such a column cannot be read, the way is found again from the new table.
The unit must be the same, or one that can be converted, or one of the two has none.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from halfmoon._notes import Note
from halfmoon._number_format import Unit
from halfmoon.table._cells.cell_values import MAX_STRAY_NUMBERS, as_column
from halfmoon.table._cells.number_detection import converted
from halfmoon.table._cells.number_style import PLAIN
from halfmoon.table._columns.column_kinds import Columns, ColumnUse
from halfmoon.table._files import Table
from halfmoon.table._files.arrow_types import is_text
from halfmoon.table._labels.given_labels import GivenLabels
from halfmoon.table._models.table_model import TableModel
from halfmoon.table._runs.rows_without_data import TotalsRows, not_data, totals_note

__all__ = ["preview", "rewritten_note"]

KINDS = ("number", "date", "time")  # which may be written in several ways
MAX_ROWS = 10_000  # from which a way of writing is found
MIN_CELLS = 5  # with a value, in a column


def preview(
    table: Table, model: TableModel, given: GivenLabels | None
) -> tuple[TableModel, list[int], list[Note]]:
    """Read a table once, with its labels, if it has a column of them.

    Return the model that reads this table, the numbers of its rows of totals, and notes
    on both.
    """
    totals, n, kept = TotalsRows(model.target), 0, 0
    uses = [use for use in model.columns_.used if use.kind in KINDS]
    cells: dict[str, list[pa.Array]] = {use.name: [] for use in uses}
    for batch in table.batches():
        rows, no_data = batch.plain, not_data(batch)
        blank = np.ones(len(batch), bool) if given is None else given.of(batch)[1]
        totals.see(rows, batch.start, blank, no_data.empty)
        n += int((~no_data.rows).sum())
        if kept < MAX_ROWS:
            data = pa.array(np.flatnonzero(~no_data.rows)[: MAX_ROWS - kept])
            kept += len(data)
            for name, parts in cells.items():
                parts.append(as_column(rows.column(name)).take(data))
    found = totals.found if len(totals.found) < n else []
    notes = [totals_note(found)] if found else []
    changed: dict[str, ColumnUse] = {}
    for use in uses:
        parts = cells[use.name]
        if parts and (new := _reading(use, pa.concat_arrays(parts))):
            changed[use.name] = new
            notes.append(rewritten_note(new))
    if changed:
        model = copy.copy(model)
        uses = [changed.get(use.name, use) for use in model.columns_.uses]
        model.columns_ = Columns(uses)
    return model, [row.number for row in found], notes


def _reading(use: ColumnUse, cells: pa.Array) -> ColumnUse | None:
    """Return how a column is read if too many cells cannot be read as before."""
    if not is_text(cells.type):
        return None
    before, unread = use.read(cells)
    present = len(cells) - cells.null_count
    if present < MIN_CELLS or unread <= MAX_STRAY_NUMBERS * present:
        return None
    new: ColumnUse | None
    (new,) = Columns.of(pa.table({use.name: cells}), keep=[use.name]).uses
    new = _in_unit_of(use, new) if new.kind == use.kind else None
    if new is None:
        return None
    if use.kind != "number":
        formats = dict.fromkeys(f"{use.date_format}|{new.date_format}".split("|"))
        new = replace(new, date_format="|".join(formats))
    new = replace(
        use,
        style=new.style,
        compound=new.compound,
        pattern=new.pattern,
        date_format=new.date_format,
    )
    after, still = new.read(cells)
    return new if still < unread and _agree(before, after) else None


def _agree(before: Any, after: Any) -> bool:
    """Whether cells that could be read before are read alike, or were few.

    A model that took 4,503 for 4503 must not take it for 4.503 because some cells of a
    new table are like 0,95.
    """
    both = np.asarray(pd.notna(before) & pd.notna(after))
    same = bool((np.asarray(before)[both] == np.asarray(after)[both]).all())
    return same or 2 * int(both.sum()) < int(pd.notna(after).sum())


def _in_unit_of(use: ColumnUse, new: ColumnUse) -> ColumnUse | None:
    """Return how a column is read in the unit of another; None if that is unknown."""
    if use.compound or new.compound or use.pattern or new.pattern:
        same = (use.compound, use.pattern) == (new.compound, new.pattern)
        return new if same else None
    units = [each.style.unit if each.style else Unit() for each in (use, new)]
    if Unit() in units or units[0] == units[1]:
        return new
    style = converted(new.style or PLAIN, use.style or PLAIN)
    return None if style is None else replace(new, style=style)


def rewritten_note(use: ColumnUse) -> Note:
    """Note that a column is read in another way than when the model learned."""
    what = {"number": "numbers", "date": "dates", "time": "times"}[use.kind]
    how = replace(use, strays=0, codes=()).reading()
    return Note(
        f"The {what} in {use.name!r} are written in another way than those that the "
        f"model learned from{': ' if how else '.'}{how}{'.' if how else ''}"
    )
