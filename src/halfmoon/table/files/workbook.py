"""Workbooks: a sheet of an Excel or OpenDocument file as a table.

A workbook cannot be read in parts, so that its sheet is held in memory, as typed
columns. One that would take too much is refused before it is unpacked.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import pyarrow as pa

from halfmoon.report.findings import Note
from halfmoon.table.errors import CommandError, ReadError
from halfmoon.table.files.batch import Batch, Table, refuse_doubled_names
from halfmoon.table.files.format import Format
from halfmoon.table.files.sheet_layout import (
    column_type,
    find_layout,
    is_whole,
    typed_column,
)
from halfmoon.table.files.source import Source

__all__ = ["WorkbookTable"]

UNPACKED_LIMIT = 2**29  # bytes of XML; the cells in memory take about as much
PACKED_LIMIT = 2**28  # of formats that are not packed files of XML
CHUNK = 2**20
PART_ROWS = 4096  # turned into columns at once


class WorkbookTable(Table):
    """A table in a sheet of a workbook.

    Parameters
    ----------
    source : Source
    found : Format
    batch_rows : int
    sheet : str, int or None
        Name of the sheet, or its number from 1. By default the first visible one that
        holds a table.

    Attributes
    ----------
    sheet : str
        The sheet that is read.
    layout : Layout
        Where the table stands in it.
    row_numbers : list of int
        Of each row of the table the row of the sheet, from 0.
    sheet_width : int
        Columns of the sheet up to the last one that holds anything.
    """

    def __init__(
        self,
        source: Source,
        found: Format,
        batch_rows: int,
        sheet: str | int | None = None,
    ) -> None:
        super().__init__(source, batch_rows)
        self.format = found
        with source.open() as file:
            _refuse_large(file, source, found)
        with self._workbook() as workbook:
            rows = self._chosen(workbook, sheet)
            refuse_doubled_names(self.layout.names, f"{self.name}, sheet {self.sheet}")
            self._rows = self._read(rows)
        self.schema = self._rows.schema

    @property
    def first_row(self) -> int:
        """Number of the first row below the header, as a spreadsheet shows it."""
        return self.layout.header + 2

    def _walk(self) -> Iterator[tuple[Batch, int]]:
        start, total = 0, max(self._rows.num_rows, 1)
        for rows in self._rows.to_batches(max_chunksize=self.batch_rows):
            start += rows.num_rows
            done = self.source.size * start // total
            yield Batch(start - rows.num_rows, rows), done

    @contextmanager
    def _workbook(self) -> Iterator[Any]:
        """The workbook, opened; whatever goes wrong in it is a `ReadError`."""
        try:
            import python_calamine
        except ModuleNotFoundError as error:
            raise ReadError(
                f"{self.name} is a workbook, and python-calamine, which reads it, is "
                f"not installed. Run: pip install python-calamine"
            ) from error
        try:
            if self.source.path is not None:
                yield python_calamine.load_workbook(str(self.source.path))
            else:
                with self.source.open() as file:
                    yield python_calamine.load_workbook(file)
        except python_calamine.PasswordError as error:
            raise ReadError(
                f"{self.name} is protected by a password. Save it without one."
            ) from error
        except (ReadError, CommandError):
            raise
        except BaseException as error:
            # A library in another language: its own errors, and its panics, which are
            # no Exception.
            if not _is_damage(error):
                raise
            raise ReadError(
                f"{self.name} is not a workbook, or is damaged ({error}). Open it in a "
                f"spreadsheet program and save it again, or save the sheet as CSV."
            ) from error

    def _chosen(self, workbook: Any, sheet: str | int | None) -> _Rows:
        """Rows of the sheet asked for; sets `sheet` and `layout`."""
        names = list(workbook.sheet_names)
        if sheet is not None:
            asked = [_known_sheet(names, sheet, self.name)]
        else:
            hidden = {
                each.name
                for each in workbook.sheets_metadata
                if not str(each.visible).endswith("Visible")
                or not str(each.typ).endswith("WorkSheet")
            }
            asked = [name for name in names if name not in hidden] or names
        for name in asked:
            rows = _Rows(workbook.get_sheet_by_name(name))
            layout = find_layout(rows)
            if layout is None:
                continue
            self.sheet, self.layout, self.sheet_width = name, layout, rows.width
            self._tell(names, sheet is not None)
            return rows
        which = f"sheet {asked[0]!r} is" if len(asked) == 1 else "all sheets are"
        raise ReadError(
            f"{self.name} holds no table: {which} empty. A header and rows are needed."
        )

    def _tell(self, names: list[str], asked: bool) -> None:
        if len(names) > 1 and not asked:
            others = ", ".join(repr(n) for n in names if n != self.sheet)
            self.notes.append(
                Note(
                    f"Read the sheet {self.sheet!r}; the workbook also has {others}.",
                    "To read another one, give its name (--sheet on the command line).",
                )
            )
        if self.layout.header > 0:
            self.notes.append(
                Note(
                    f"Row {self.layout.header + 1} of the sheet was read as the "
                    f"header; the rows above it were skipped."
                )
            )

    def _read(self, rows: _Rows) -> Any:
        """The table's columns, each of one type, in two passes over the sheet."""
        places = self.layout.columns
        kinds: list[set[type]] = [set() for _ in places]
        whole = [True] * len(places)
        self.row_numbers: list[int] = []
        for number, cells in self._data(rows):
            self.row_numbers.append(number)
            for i, place in enumerate(places):
                cell = cells[place]
                if cell != "":
                    kinds[i].add(type(cell))
                    whole[i] = whole[i] and is_whole(cell)
        types = [column_type(k, w) for k, w in zip(kinds, whole, strict=True)]
        schema = pa.schema(list(zip(self.layout.names, types, strict=True)))
        parts: list[Any] = []
        held: list[Any] = []
        for _, cells in self._data(rows):
            held.append(cells)
            if len(held) == PART_ROWS:
                parts.append(_columns(held, places, schema))
                held = []
        parts.append(_columns(held, places, schema))
        return pa.Table.from_batches(parts, schema).combine_chunks()

    def _data(self, rows: _Rows) -> Iterator[tuple[int, list[Any]]]:
        """Rows below the header in which the table holds anything."""
        places = self.layout.columns
        for number, cells in enumerate(rows):
            if number > self.layout.header and any(cells[i] != "" for i in places):
                yield number, cells


class _Rows:
    """The rows of a sheet from its first on, each from the first column on."""

    def __init__(self, sheet: Any) -> None:
        self._sheet = sheet
        self.width = 0 if sheet.end is None else sheet.end[1] + 1

    def __iter__(self) -> Iterator[list[Any]]:
        sheet = self._sheet
        if sheet.end is None:
            return
        left = [""] * sheet.start[1]
        for cells in sheet.iter_rows():  # with the empty rows above, if there are any
            cells = list(cells)
            yield cells if len(cells) == self.width else left + cells


def _columns(rows: list[Any], places: tuple[int, ...], schema: Any) -> Any:
    arrays = [
        typed_column([row[place] for row in rows], schema.field(i).type)
        for i, place in enumerate(places)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _known_sheet(names: list[str], sheet: str | int, name: str) -> str:
    """The name of the sheet that was asked for by name or number."""
    if sheet in names:
        return str(sheet)
    if str(sheet).isdecimal() and 1 <= int(sheet) <= len(names):
        return names[int(sheet) - 1]
    there = ", ".join(repr(each) for each in names[:20])
    raise CommandError(f"{name} has no sheet {str(sheet)!r}. It has {there}.")


def _is_damage(error: BaseException) -> bool:
    """Whether an exception tells of a file that cannot be read."""
    if type(error).__name__ == "PanicException":
        return True
    module = type(error).__module__
    return isinstance(error, Exception) and (
        module.startswith(("python_calamine", "builtins", "_python_calamine", "zip"))
    )


def _refuse_large(file: IO[bytes], source: Source, found: Format) -> None:
    """Refuse a workbook that would take too much memory."""
    if found.name == "xls":
        size, limit = source.size, PACKED_LIMIT
    else:
        size, limit = _unpacked_size(file, source.name), UNPACKED_LIMIT
    if size > limit:
        raise ReadError(
            f"{source.name} takes more than {limit // 2**20} MB when it is unpacked, "
            f"and a workbook is held in memory. Save the sheet as CSV and give that "
            f"file, which is read in parts."
        )


def _unpacked_size(file: IO[bytes], name: str) -> int:
    """Bytes of the parts of a packed workbook, counted, not as the file claims."""
    size = 0
    try:
        with zipfile.ZipFile(file) as packed:
            for part in packed.infolist():
                if not part.filename.endswith((".xml", ".bin", ".rels")):
                    continue
                part.file_size = 2**40  # read on, whatever it claims
                with packed.open(part) as stream:
                    while chunk := stream.read(CHUNK):
                        size += len(chunk)
                        if size > UNPACKED_LIMIT:
                            return size
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, RuntimeError) as error:
        raise ReadError(
            f"{name} is damaged or cut short ({error}). Get the file again."
        ) from error
    except Exception as error:  # zlib.error, NotImplementedError, struct.error
        raise ReadError(
            f"{name} is damaged or packed in an unknown way ({error}). Get the file "
            f"again."
        ) from error
    return size
