"""Write a table to a workbook: a copy of the one it came from, or a new one."""

from __future__ import annotations

import datetime as dt
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from typing import IO, Any

import pyarrow.types as pt

from halfmoon.table.errors import OutputError
from halfmoon.table.files.batch import Batch, Table
from halfmoon.table.files.format import Format
from halfmoon.table.files.ods_copy import copy_ods
from halfmoon.table.files.sheet_edits import SheetEdits
from halfmoon.table.files.sheets import NewSheet, new_sheet
from halfmoon.table.files.values import Values, column_text
from halfmoon.table.files.workbook import WorkbookTable
from halfmoon.table.files.workbook_cells import (
    Value,
    cell_number,
    fitting,
    sheet_value,
)
from halfmoon.table.files.xlsx_copy import copy_xlsx

__all__ = ["WorkbookWriter"]

COPIED = {"xlsx": copy_xlsx, "xlsm": copy_xlsx, "ods": copy_ods}
NEW = ("xlsx", "ods")
FIRST_DAY = dt.date(1900, 3, 1)  # before it spreadsheets disagree on the calendar


class WorkbookWriter:
    """Rows of a table, with cells replaced and columns added, in a sheet.

    A workbook that is written again in its own format is copied, with the new cells
    put in; anything else becomes the only sheet of a new workbook.

    Parameters
    ----------
    stream : binary stream
    like : Table
        The table that the batches come from.
    wanted : Format
    types : dict of str to pyarrow.DataType
    name : str
        What to call the output in an error.
    """

    escaped = 0  # a text in a workbook is no formula
    takes_arrays = False

    def __init__(
        self,
        stream: IO[bytes],
        like: Table,
        wanted: Format,
        types: Mapping[str, Any],
        name: str,
    ) -> None:
        self._stream = stream
        self._like = like
        self._format = wanted.name
        self._types = types
        self._name = name
        self._edits: SheetEdits | None = None
        self._sheet: NewSheet | None = None
        self._begun = False
        same = isinstance(like, WorkbookTable) and like.format.name == wanted.name
        if same and wanted.name in COPIED:
            assert isinstance(like, WorkbookTable)
            self._edits = SheetEdits(
                like.layout.header, like.row_numbers, like.sheet_width
            )
        elif wanted.name not in NEW:
            raise OutputError(
                f"{name} cannot be written: a new workbook is .xlsx or .ods. Give the "
                f"output such a name, or one that ends in .csv."
            )
        else:
            self._sheet = new_sheet(wanted.name, stream, name)

    def write(self, batch: Batch, replace: Values, append: Values) -> None:
        """Write the rows of a batch."""
        if self._edits is not None:
            self._note(replace, append)
            return
        assert self._sheet is not None
        if not self._begun:
            self._begin(list(append))
        columns: list[list[Value]] = []
        for field, array in zip(self._like.schema, batch.rows.columns, strict=True):
            cells = self._cells(array)
            kind = self._types.get(field.name, field.type)
            for i, value in enumerate(replace.get(field.name, ())):
                new = sheet_value(value, self._kind(kind), self._name)
                if new is not None or value == "":
                    cells[i] = new
            columns.append(cells)
        for name, values in append.items():
            kind = self._types.get(name)
            columns.append([sheet_value(v, kind, self._name) for v in values])
        for row in zip(*columns, strict=True):
            self._sheet.write(row)

    def finish(self) -> None:
        """Write what is still due."""
        if self._sheet is not None:
            if not self._begun:
                self._begin([])
            self._sheet.finish()
            return
        assert self._edits is not None
        like = self._like
        assert isinstance(like, WorkbookTable)
        try:
            with like.source.open() as source:
                COPIED[self._format](
                    source, self._stream, like.sheet, self._edits, self._name
                )
        except zipfile.BadZipFile as error:
            raise like.source.changed() from error

    def abandon(self) -> None:
        """Let go of what a new workbook holds."""
        if self._sheet is not None:
            with suppress(Exception):
                self._sheet.abandon()

    def _begin(self, added: list[str]) -> None:
        assert self._sheet is not None
        self._begun = True
        names = [*self._like.columns, *added]
        self._sheet.write([fitting(name, self._name) for name in names])

    def _note(self, replace: Values, append: Values) -> None:
        """Keep new cells until the workbook is copied."""
        assert self._edits is not None
        assert isinstance(self._like, WorkbookTable)
        for name, values in replace.items():
            place = self._like.columns.index(name)
            kind = self._types.get(name, self._like.schema.field(place).type)
            column = self._like.layout.columns[place]
            self._edits.replaced.setdefault(column, []).extend(
                "" if value == "" else sheet_value(value, kind, self._name)
                for value in values
            )
        for name, values in append.items():
            kind = self._types.get(name)
            self._edits.appended.setdefault(name, []).extend(
                sheet_value(value, kind, self._name) for value in values
            )

    def _kind(self, kind: Any) -> Any:
        return None if self._like.is_text else kind

    def _cells(self, array: Any) -> list[Value]:
        """Cells of the input, with the type that a sheet has for them."""
        if self._like.is_text:
            return [_text_cell(text, self._name) for text in array.to_pylist()]
        kind = array.type
        plain = pt.is_integer(kind) or pt.is_floating(kind) or pt.is_boolean(kind)
        if plain and not pt.is_float16(kind) and not pt.is_float32(kind):
            return [sheet_value(v, kind, self._name) for v in array.to_pylist()]
        texts = column_text(array)
        if pt.is_floating(kind):
            return [sheet_value(text, kind, self._name) for text in texts]
        if pt.is_date(kind) or (pt.is_timestamp(kind) and kind.tz is None):
            return [_date_cell(text) for text in texts]
        return [fitting(text, self._name) or None for text in texts]


def _text_cell(text: str, name: str) -> Value:
    number = cell_number(text)
    return (fitting(text, name) or None) if number is None else number


def _date_cell(text: str) -> Value:
    """A date as one, or as text where a sheet has no such date."""
    if not text:
        return None
    try:
        value = dt.datetime.fromisoformat(text)
    except ValueError:
        return text
    if value.date() < FIRST_DAY:
        return text
    return value.date() if "T" not in text else value
