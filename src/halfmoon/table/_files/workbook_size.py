"""The size of a workbook, counted before it is read into memory.

A few bytes may stand for much: a part may unpack to gigabytes, and the library that
reads sheets holds every cell from the first to the last row and column in use, also the
empty ones between them. A single cell ``XFD1048576`` stands for 2^34 of them, and one
of an OpenDocument workbook may be repeated as often.
"""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from functools import partial
from typing import IO

from halfmoon.table._files.byte_source import Source
from halfmoon.table._files.formats import Format
from halfmoon.table._table_errors import ReadError

__all__ = ["refuse_large"]

MAX_UNPACKED_BYTES = 2**29  # of XML; the cells in memory take about as much
MAX_XLS_BYTES = 2**28  # of a format that is not compressed
MAX_CELLS = 2**24  # from the first to the last row and column; about 24 bytes each
CHUNK_BYTES = 2**20
MAX_TAG_BYTES = 1000  # that may be cut between two chunks
#: Of a cell that is not empty; ``<c r="B3" s="1"/>`` has a format only.
REFERENCE = re.compile(
    rb"""\sr\s*=\s*["']([A-Za-z]{1,9})([0-9]{1,19})["'](?:[^<>]*[^/<>])?>"""
)
ROW = re.compile(rb"<(?:\w+:)?row\b")
ODS_TAG = re.compile(
    rb"<(/?)table:(table|table-row|(?:covered-)?table-cell)(?=[\s/>])([^<>]*)>"
)
ODS_ROWS = re.compile(rb"""number-rows-repeated\s*=\s*["']([0-9]{1,18})""")
ODS_COLUMNS = re.compile(rb"""number-columns-repeated\s*=\s*["']([0-9]{1,18})""")
CELL_WITHOUT_REFERENCE = re.compile(rb"<(?:\w+:)?c(?=[\s/>])(?![^<>]*\sr\s*=)")


def refuse_large(file: IO[bytes], source: Source, found: Format) -> None:
    """Refuse a workbook that would take too much memory."""
    if found.name == "xls":
        size, limit = source.size, MAX_XLS_BYTES
    else:
        limit = MAX_UNPACKED_BYTES
        try:
            extent = RepeatedExtent if found.name == "ods" else Extent
            size = _unpacked_size(file, source.name, limit, extent)
        except ReadError:
            raise
        except Exception as error:  # of zipfile, zlib, struct and others
            raise _damaged(source.name, error) from error
    if size > limit:
        raise ReadError(
            f"{source.name} takes more than {limit // 2**20} MB when it is unpacked, "
            f"and a workbook is held in memory. Save the sheet as CSV and give that "
            f"file, which is read in parts."
        )


def _unpacked_size(
    file: IO[bytes], name: str, limit: int, kind: type[Extent | RepeatedExtent]
) -> int:
    """Count the bytes of the unpacked parts; the sizes in the file may be wrong."""
    size = 0
    with zipfile.ZipFile(file) as packed:
        for part in packed.infolist():
            if not part.filename.endswith((".xml", ".bin", ".rels")):
                continue
            part.file_size = 2**40  # ignore the size in the file
            extent = kind()
            with packed.open(part) as stream:
                for chunk in iter(partial(stream.read, CHUNK_BYTES), b""):
                    size += len(chunk)
                    if size > limit:
                        return size
                    extent.add(chunk)
            if extent.rows * extent.columns > MAX_CELLS:
                raise ReadError(
                    f"{name} has a sheet that reaches to row {extent.rows:,} and "
                    f"column {extent.columns:,}, and all cells up to there would be "
                    f"held in memory. Delete what is outside of the table, or save the "
                    f"sheet as CSV."
                )
    return size


@dataclass
class Extent:
    """The last row and column of a sheet of an xlsx workbook, found in its XML.

    Cells may have references such as ``B3``; those without follow each other.
    """

    rows: int = 0
    columns: int = 0
    _rest: bytes = b""  # of the chunk before: perhaps the beginning of a tag
    _n_rows: int = 0
    _n_cells: int = 0  # of the row that is open

    def add(self, chunk: bytes) -> None:
        """Go on with the next bytes of the sheet."""
        data = self._rest + chunk
        end = max(data.rfind(b">") + 1, len(data) - MAX_TAG_BYTES)
        data, self._rest = data[:end], data[end:]
        found = REFERENCE.findall(data)
        if found:
            letters = max({each[0].upper() for each in found}, key=_place)
            self.columns = max(self.columns, _place(letters))
            self.rows = max(self.rows, *map(int, {each[1] for each in found}))
        first, *others = ROW.split(data)
        self._n_rows += len(others)
        self._n_cells += len(CELL_WITHOUT_REFERENCE.findall(first))
        self.columns = max(self.columns, self._n_cells)
        for row in others:
            self._n_cells = len(CELL_WITHOUT_REFERENCE.findall(row))
            self.columns = max(self.columns, self._n_cells)
        if self._n_cells:
            self.rows = max(self.rows, self._n_rows)


@dataclass
class RepeatedExtent:
    """The last row and column in use of any sheet of an OpenDocument workbook.

    Rows and cells that are empty count only if others follow.

    Examples
    --------
    >>> found = RepeatedExtent()
    >>> found.add(b'<table:table-row table:number-rows-repeated="9"><table:table-cell ')
    >>> found.add(b'office:value="1"/></table:table-row><table:table-row/>')
    >>> found.rows, found.columns
    (9, 1)
    """

    rows: int = 0
    columns: int = 0
    _rest: bytes = b""  # of the chunk before: perhaps the beginning of a tag
    _row: int = 0  # rows of the sheet so far
    _column: int = 0  # cells of the row so far
    _repeated: int = 1  # times that the row occurs
    _used: bool = False  # whether the row has a cell with a value

    def add(self, chunk: bytes) -> None:
        """Go on with the next bytes of the workbook."""
        data = self._rest + chunk
        end = max(data.rfind(b">") + 1, len(data) - MAX_TAG_BYTES)
        data, self._rest = data[:end], data[end:]
        for ends, name, attributes in ODS_TAG.findall(data):
            if name == b"table":
                self._row = 0
            elif name != b"table-row":
                if not ends:
                    self._add_cells(attributes)
            elif ends:
                self._end_row()
            else:
                self._repeated, self._column = _times(ODS_ROWS, attributes), 0
                self._used = False
                if attributes.endswith(b"/"):
                    self._end_row()

    def _add_cells(self, attributes: bytes) -> None:
        self._column += _times(ODS_COLUMNS, attributes)
        if not attributes.endswith(b"/") or b"office:" in attributes:
            self._used = True
            self.columns = max(self.columns, self._column)

    def _end_row(self) -> None:
        self._row += self._repeated
        if self._used:
            self.rows = max(self.rows, self._row)


def _times(repeated: re.Pattern[bytes], attributes: bytes) -> int:
    found = repeated.search(attributes)
    return int(found[1]) if found else 1


def _place(letters: bytes) -> int:
    """Return the number of a column.

    Examples
    --------
    >>> _place(b"A"), _place(b"Z"), _place(b"AA"), _place(b"XFD")
    (1, 26, 27, 16384)
    """
    place = 0
    for letter in letters:
        place = 26 * place + letter - ord("A") + 1
    return place


def _damaged(name: str, error: Exception) -> ReadError:
    if isinstance(error, RuntimeError) and "password" in str(error):
        return ReadError(f"{name} is protected by a password. Save it without one.")
    return ReadError(
        f"{name} is damaged, cut short or compressed in an unknown way ({error}). Get "
        f"the file again."
    )
