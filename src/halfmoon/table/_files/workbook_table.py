"""A sheet of an Excel or OpenDocument workbook as a table.

A workbook cannot be read in parts, so its sheet is held in memory as typed columns. A
workbook that would take too much memory is refused before it is read.

A sheet may hold a title above the table, empty columns to its left and remarks to its
right. The header is the first row in which most of the used columns hold text, all
different. A row that is empty in the columns of the table is skipped. The value of
cells that are merged over several rows, such as a region, is that of each of them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import pyarrow as pa

from halfmoon._notes import Note
from halfmoon.table._files.arrow_types import value_text
from halfmoon.table._files.byte_source import Source
from halfmoon.table._files.formats import Format
from halfmoon.table._files.header_rows import grouped_names, names_in
from halfmoon.table._files.table_interface import Batch, Table, names_apart
from halfmoon.table._files.workbook_size import refuse_large
from halfmoon.table._table_errors import CommandError, ReadError

__all__ = ["WorkbookTable", "find_layout"]

PART_ROWS = 4096  # converted to columns at once
MAX_LISTED = 20  # sheets in an error
SEARCHED_ROWS = 50  # for a header
MAX_EXACT_INTEGER = 2**53  # of a spreadsheet

Cells = Sequence[Any]  # of one row; an empty cell is an empty text


@dataclass(frozen=True)
class SheetLayout:
    """Position of a table in a sheet; rows and columns count from 0."""

    header: int  # row of the column names
    columns: tuple[int, ...]
    names: tuple[str, ...]


class WorkbookTable(Table):
    """A table in a sheet of a workbook.

    The sheet is given by its name, or its number from 1. By default it is the first
    visible sheet with a table.
    """

    sheet: str  # name
    layout: SheetLayout
    row_numbers: list[int]  # for each row of the table its row in the sheet, from 0
    sheet_width: int  # columns of the sheet that are in use

    def __init__(
        self,
        source: Source,
        found: Format,
        batch_rows: int,
        sheet: str | int | None = None,
    ) -> None:
        super().__init__(source, found, batch_rows)
        with source.open() as file:
            refuse_large(file, source, found)
        with self._workbook() as workbook:
            rows = self._choose_sheet(workbook, sheet)
            sheet_name = f"{self.name}, sheet {self.sheet}"
            names, notes = names_apart(self.layout.names, sheet_name)
            self.layout = replace(self.layout, names=tuple(names))
            self.notes += notes
            self._merged = _merged_rows(rows, self.layout)
            self._rows = self._columns(rows)
        if self._merged:
            self._note_merged()
        self.schema = self._rows.schema

    @property
    def first_row(self) -> int:
        """Number of the first row below the header, as a spreadsheet shows it."""
        return self.layout.header + 2

    def _read_batches(self) -> Iterator[tuple[Batch, int]]:
        start, total = 0, max(self._rows.num_rows, 1)
        for rows in self._rows.to_batches(max_chunksize=self.batch_rows):
            start += rows.num_rows
            done = self.source.size * start // total
            yield Batch(start - rows.num_rows, rows), done

    @contextmanager
    def _workbook(self) -> Iterator[Any]:
        """Open the workbook; any failure becomes a `ReadError`."""
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
            # The library is written in Rust: its panics are not an Exception.
            if not _is_damage(error):
                raise
            raise ReadError(
                f"{self.name} is not a workbook, or is damaged ({error}). Open it in a "
                f"spreadsheet program and save it again, or save the sheet as CSV."
            ) from error

    def _choose_sheet(self, workbook: Any, sheet: str | int | None) -> _SheetRows:
        """Return the rows of the sheet; sets `sheet`, `layout` and `sheet_width`."""
        names = list(workbook.sheet_names)
        if sheet is not None:
            candidates = [_sheet_name(names, sheet, self.name)]
        else:
            hidden = {
                each.name
                for each in workbook.sheets_metadata
                if not str(each.visible).endswith("Visible")
                or not str(each.typ).endswith("WorkSheet")
            }
            candidates = [name for name in names if name not in hidden] or names
        chosen = None
        for name in candidates:
            rows = _SheetRows(workbook.get_sheet_by_name(name))
            layout = find_layout(rows)
            # A single column is a remark, unless there is nothing else.
            if layout is not None and (chosen is None or len(layout.columns) > 1):
                chosen = name, layout, rows
                if len(layout.columns) > 1:
                    break
        if chosen is not None:
            self.sheet, self.layout, rows = chosen
            self.sheet_width = rows.width
            self._add_notes(names, sheet is not None)
            return rows
        one = len(candidates) == 1
        which = f"sheet {candidates[0]!r} is" if one else "all sheets are"
        raise ReadError(
            f"{self.name} holds no table: {which} empty. A header and rows are needed."
        )

    def _add_notes(self, names: list[str], asked: bool) -> None:
        if len(names) > 1 and not asked:
            others = ", ".join(repr(n) for n in names if n != self.sheet)
            self.notes.append(
                Note(
                    f"Read the sheet {self.sheet!r}; the workbook also has {others}.",
                    "To read another one, give its name in `sheet`.",
                )
            )
        if self.layout.header > 0:
            self.notes.append(
                Note(
                    f"Row {self.layout.header + 1} of the sheet was read as the "
                    f"header; the rows above it were skipped."
                )
            )

    def _note_merged(self) -> None:
        covered = set().union(*self._merged.values())
        names = dict(zip(self.layout.columns, self.layout.names, strict=True))
        columns = ", ".join(repr(names[place]) for place in sorted(covered))
        self.notes.append(
            Note(
                f"{columns} {'has' if len(covered) == 1 else 'have'} merged cells: "
                f"their value was read in each row that they cover."
            )
        )

    def _columns(self, rows: _SheetRows) -> Any:
        """Return the columns of the table; a first pass over the sheet finds types."""
        places = self.layout.columns
        kinds: list[set[type]] = [set() for _ in places]
        whole = [True] * len(places)
        self.row_numbers = []
        for number, cells in self._table_rows(rows):
            self.row_numbers.append(number)
            for i, place in enumerate(places):
                cell = cells[place]
                if cell != "":
                    kinds[i].add(type(cell))
                    whole[i] = whole[i] and _is_whole(cell)
        types = [_column_type(k, w) for k, w in zip(kinds, whole, strict=True)]
        schema = pa.schema(list(zip(self.layout.names, types, strict=True)))
        table_rows = (cells for _, cells in self._table_rows(rows))
        parts = []
        while part := list(islice(table_rows, PART_ROWS)):
            arrays = [
                _typed_column([cells[place] for cells in part], kind)
                for place, kind in zip(places, types, strict=True)
            ]
            parts.append(pa.RecordBatch.from_arrays(arrays, schema=schema))
        return pa.Table.from_batches(parts, schema).combine_chunks()

    def _table_rows(self, rows: _SheetRows) -> Iterator[tuple[int, list[Any]]]:
        """Yield the rows below the header that are not empty, with their numbers."""
        places = self.layout.columns
        above: dict[int, Any] = {}
        for number, cells in enumerate(rows):
            for place in self._merged.get(number, ()):
                cells[place] = above[place]
            above = {place: cells[place] for place in places}
            if number > self.layout.header and any(cells[i] != "" for i in places):
                yield number, cells


class _SheetRows:
    """All rows of a sheet, each from the first column on."""

    def __init__(self, sheet: Any) -> None:
        self._sheet = sheet
        #: First and last cells of merged ranges; None if the format does not tell.
        self.merged = getattr(sheet, "merged_cell_ranges", None) or ()
        self.width = 0 if sheet.end is None else sheet.end[1] + 1
        self.height = 0 if sheet.end is None else sheet.end[0] + 1

    def __iter__(self) -> Iterator[list[Any]]:
        sheet = self._sheet
        if sheet.end is None:
            return
        left = [""] * sheet.start[1]
        for cells in sheet.iter_rows():  # includes empty rows above
            cells = list(cells)
            yield cells if len(cells) == self.width else left + cells


def _merged_rows(rows: _SheetRows, layout: SheetLayout) -> dict[int, list[int]]:
    """Return for each row the columns of cells that are merged with those above."""
    found: dict[int, list[int]] = {}
    possible = rows.height * rows.width  # as ranges that overlap are an attack
    for (first, left), (last, right) in rows.merged:
        if first > layout.header and left == right and left in layout.columns:
            covered = range(first + 1, min(last + 1, rows.height))
            possible -= len(covered)
            for row in covered if possible > 0 else ():
                found.setdefault(row, []).append(left)
    return found


def _sheet_name(names: list[str], sheet: str | int, name: str) -> str:
    """Return the name of a sheet that is given by name or number."""
    if sheet in names:
        return str(sheet)
    if str(sheet).isdecimal() and 1 <= int(sheet) <= len(names):
        return names[int(sheet) - 1]
    existing = ", ".join(map(repr, names[:MAX_LISTED]))
    raise CommandError(
        f"{name} has no sheet {str(sheet)!r}. Give one of these: {existing}."
    )


def _is_damage(error: BaseException) -> bool:
    """Return whether an exception means that the file is damaged."""
    if type(error).__name__ == "PanicException":
        return True
    module = type(error).__module__
    return isinstance(error, Exception) and (
        module.startswith(("python_calamine", "builtins", "_python_calamine", "zip"))
    )


def find_layout(rows: Iterable[Cells]) -> SheetLayout | None:
    """Find the table in a sheet by its first rows; None for an empty sheet.

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
    texts = [list(map(_text, row)) for row in first_rows]
    header, grouped = first, None
    for i, row in enumerate(first_rows):
        grouped = grouped_names(texts[i:])
        if grouped or _is_header(row, used):
            header = i + (grouped.rows - 1 if grouped else 0)
            break
    row = grouped.names if grouped else first_rows[header]
    below = {i for other in first_rows[header:] for i, c in enumerate(other) if c != ""}
    named = [i for i, cell in enumerate(row) if cell != ""]
    # Between the first and the last name, a column counts if it holds anything.
    columns = [i for i in range(named[0], named[-1] + 1) if i in below]
    names = [_text(row[i]) for i in columns]
    return SheetLayout(header, tuple(columns), tuple(names))


def _is_header(row: Cells, used: set[int]) -> bool:
    texts = {cell for cell in row if isinstance(cell, str) and cell.strip()}
    return max(len(texts), names_in(list(map(_text, row)))) * 2 > len(used)


def _column_type(kinds: set[type], whole: bool) -> Any:
    """Return the Arrow type for the cells of a column; text if their types differ.

    `kinds` are the types of the cells that are not empty; `whole` says that all numbers
    are exact integers.

    Examples
    --------
    >>> _column_type({float}, True), _column_type({float, str}, False)
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


def _is_whole(value: object) -> bool:
    """Return whether a number fits into a column of integers."""
    return isinstance(value, (int, float)) and (
        abs(value) <= MAX_EXACT_INTEGER and value == int(value)
    )


def _typed_column(cells: Sequence[Any], kind: Any) -> Any:
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
    if (
        isinstance(cell, (int, float))
        and not isinstance(cell, bool)
        and _is_whole(cell)
    ):
        return str(int(cell))
    if isinstance(cell, (dt.datetime, dt.date, dt.time)):
        return cell.isoformat()
    return value_text(cell)
