"""Copy the XML of a sheet with some cells replaced and columns added.

A parser finds where rows and cells begin and end. Everything between two changes is
copied byte by byte, so nothing is lost, understood or not. Only the part around the
parser is in memory. `xlsx_copy.py` and `ods_copy.py` know the two formats.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import IO
from xml.parsers import expat
from zipfile import ZipFile

from halfmoon.table._files.new_workbook import Value
from halfmoon.table._table_errors import OutputError

__all__ = [
    "TAG",
    "NewCells",
    "SheetCopier",
    "SheetEdits",
    "not_copyable",
    "with_attribute",
    "without_attribute",
]

CHUNK_BYTES = 2**18
TAG = re.compile(rb"""<[^>"']*+(?:(?:"[^"]*+"|'[^']*+')[^>"']*+)*+>""")

NewCells = list[tuple[int, Value]]  # column, from 0, and value


@dataclass
class SheetEdits:
    """New cells of a sheet; rows and columns count from 0."""

    header: int  # row of the header
    rows: list[int]  # of the table, in ascending order
    width: int  # the first column that is free in every row
    #: By column a value for each row. None leaves a cell unchanged, "" empties it.
    replaced: dict[int, list[Value]] = field(default_factory=dict)
    #: By name of a new column a value for each row.
    appended: dict[str, list[Value]] = field(default_factory=dict)
    n_done: int = 0  # rows that the copy has reached

    @property
    def last_row(self) -> int:
        """The last row that changes."""
        return self.rows[-1] if self.rows else self.header

    def of(self, row: int) -> tuple[NewCells, NewCells] | None:
        """Return the cells to replace and to append in a row; None if it is unchanged.

        Ask for rows in ascending order, once each.
        """
        if row == self.header:
            return [], list(enumerate(self.appended, start=self.width))
        i = self.n_done
        if i == len(self.rows) or self.rows[i] != row:
            return None
        self.n_done += 1
        replaced = [
            (column, None if values[i] == "" else values[i])
            for column, values in sorted(self.replaced.items())
            if values[i] is not None
        ]
        appended = [
            (column, values[i])
            for column, values in enumerate(self.appended.values(), start=self.width)
        ]
        return replaced, appended


class SheetCopier(ABC):
    """Copies the XML of a sheet; subclasses change rows as elements begin and end."""

    def __init__(
        self, out: IO[bytes], sheet: str, edits: SheetEdits, name: str
    ) -> None:
        self._out = out
        self.sheet = sheet
        self.edits = edits
        self.name = name  # of the output, in messages
        self.held = False  # while True, nothing is copied automatically
        self._buffer = bytearray()
        self._base = 0  # offset of the buffer in the file
        self._reached = 0  # offset of the last element that began or ended
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.XmlDeclHandler = self._check_declaration
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype

    @staticmethod
    @abstractmethod
    def part_of_sheet(packed: ZipFile, sheet: str, name: str) -> str:
        """Return the part of a workbook that holds a sheet."""

    @abstractmethod
    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Handle an element that begins at `here`."""

    @abstractmethod
    def end(self, name: str) -> None:
        """Handle the end of an element; `here` is at its closing tag, or after it."""

    def copy(self, stream: IO[bytes]) -> None:
        """Copy a whole file."""
        try:
            while chunk := stream.read(CHUNK_BYTES):
                self._buffer += chunk
                self._parser.Parse(chunk, False)
                if not self.held:
                    self.copy_to(self._reached)
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise OutputError(
                f"{self.name} cannot be written: the workbook is damaged ({error}). "
                f"Open it in a spreadsheet program and save it again."
            ) from error
        self.copy_to(self._base + len(self._buffer))
        if self.edits.n_done != len(self.edits.rows):
            raise not_copyable(self.name, "a row of its sheet was not found again")

    @property
    def here(self) -> int:
        """Offset of the parser in the file."""
        return self._parser.CurrentByteIndex

    def copy_to(self, offset: int) -> None:
        """Write everything before an offset that is not yet written."""
        self._out.write(self._buffer[: max(offset - self._base, 0)])
        self.skip_to(offset)

    def skip_to(self, offset: int) -> None:
        """Leave out everything before an offset."""
        if offset > self._base:
            del self._buffer[: offset - self._base]
            self._base = offset

    def put(self, text: str | bytes) -> None:
        """Write something new."""
        self._out.write(text.encode() if isinstance(text, str) else text)

    def replace_tag(self, tag: bytes, new: bytes) -> None:
        """Replace the tag that begins here."""
        self.copy_to(self.here)
        self.put(new)
        self.skip_to(self.here + len(tag))

    def tag(self, offset: int) -> bytes:
        """Return the tag that begins at an offset."""
        found = TAG.match(self._buffer, offset - self._base)
        assert found is not None  # the parser has read it
        return bytes(found.group())

    def part(self, start: int, stop: int) -> bytes:
        """Return the bytes between two offsets that are not yet written."""
        return bytes(self._buffer[start - self._base : stop - self._base])

    def end_of(self, name: str) -> int:
        """Return where the element ends that `end` handles."""
        closing = re.compile(rb"</%s\s*>" % re.escape(name.encode()))
        found = closing.match(self._buffer, self.here - self._base)
        # An empty element has no closing tag, and here is after it.
        return self.here if found is None else self._base + found.end()

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._reached = self.here
        self.start(name, attributes)

    def _end(self, name: str) -> None:
        self._reached = self.here
        self.end(name)

    def _check_declaration(self, _: str, encoding: str | None, standalone: int) -> None:
        if encoding is not None and encoding.upper() not in ("UTF-8", "US-ASCII"):
            raise not_copyable(self.name, f"its text is in {encoding}")

    def _refuse_doctype(self, *_: object) -> None:
        raise not_copyable(self.name, "it declares a document type")


def not_copyable(name: str, why: str) -> OutputError:
    """Return the error for a workbook that cannot be copied."""
    return OutputError(
        f"{name} cannot be written as a copy of the workbook: {why}. Give the output a "
        f"name that ends in .csv."
    )


def without_attribute(tag: bytes, name: str) -> bytes:
    """Return a tag without one of its attributes."""
    pattern = rb"""\s+%s\s*=\s*("[^"]*"|'[^']*')""" % re.escape(name.encode())
    return re.sub(pattern, b"", tag)


def with_attribute(tag: bytes, name: str, value: str) -> bytes:
    """Return a tag with another value of an attribute."""
    end = b"/>" if tag.endswith(b"/>") else b">"
    bare = without_attribute(tag, name).removesuffix(end).rstrip()
    return bare + f' {name}="{value}"'.encode() + end
