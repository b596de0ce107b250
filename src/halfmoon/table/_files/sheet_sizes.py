"""Sizes of the sheets in the XML of a workbook, counted without holding any cell.

The XML is parsed, since its text can be written in many ways: a tag may have any prefix
and hold ``>`` in an attribute, and comments may look like tags. Cells of an xlsx
workbook may have references such as ``B3``; those without follow each other. Rows and
cells of an OpenDocument workbook may be repeated any number of times.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from array import array
from dataclasses import dataclass
from functools import lru_cache
from xml.parsers import expat

__all__ = ["OdsSizes", "SheetSize", "XlsxSizes", "XmlSizes", "place"]

MAX_TOKEN_BYTES = 2**24  # of a tag or comment; parsing takes quadratic time
ODS_CELLS = ("table-cell", "covered-table-cell")
LETTERS = re.compile("[A-Za-z]{1,9}")
DIGITS = "0123456789"


@dataclass
class SheetSize:
    """What a sheet takes in memory: all cells up to the last one in use."""

    rows: int = 0
    columns: int = 0
    used: int = 0  # cells with a value
    text: int = 0  # characters of these

    def add(self, row: int, column: int, text: int = 0) -> None:
        """Count a cell with a value; rows and columns count from 0."""
        if row >= self.rows:  # faster than max
            self.rows = row + 1
        if column >= self.columns:
            self.columns = column + 1
        self.used += 1
        self.text += text


class XmlSizes(ABC):
    """Counts the cells of the sheets in one part of a workbook.

    A part that is not well-formed is an error only if it may be a sheet, which holds
    the `mark`: the library that reads sheets accepts more than the parser here.
    """

    mark: bytes

    def __init__(self) -> None:
        self.sheets: list[SheetSize] = []
        self._is_sheet = False
        self._error: Exception | None = None
        self._rest, self._size = b"", 0
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = self._parser.ordered_attributes = True
        self._parser.StartElementHandler = self.start
        self._parser.CharacterDataHandler = self.text
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype

    @abstractmethod
    def start(self, name: str, attributes: list[str]) -> None:
        """Handle an element that begins; names and values of attributes alternate."""

    @abstractmethod
    def text(self, data: str) -> None:
        """Handle text."""

    def add(self, chunk: bytes) -> None:
        """Go on with the next bytes of the part."""
        self._is_sheet = self._is_sheet or self.mark in self._rest + chunk
        self._rest, self._size = chunk[-len(self.mark) :], self._size + len(chunk)
        self._parse(chunk)

    def finish(self) -> None:
        """End the part."""
        self._parse(b"")

    def _parse(self, chunk: bytes) -> None:
        if self._error is None:
            try:
                self._parser.Parse(chunk, not chunk)
                if self._size - self._parser.CurrentByteIndex > MAX_TOKEN_BYTES:
                    raise ValueError("a tag is longer than 16 MB")
            except (expat.ExpatError, ValueError) as error:
                self._error = error
        if self._error is not None and self._is_sheet:
            raise self._error

    def _refuse_doctype(self, *_: object) -> None:
        raise ValueError("it declares a document type")


class XlsxSizes(XmlSizes):
    """Counts the cells of a sheet; with the texts that sheets refer to by number.

    Examples
    --------
    >>> from array import array
    >>> found = XlsxSizes(array("L"))
    >>> found.add(b"<sheetData><row><c/><c><v>1</v></c></row></sheetData>")
    >>> found.sheets
    [SheetSize(rows=1, columns=2, used=1, text=0)]
    """

    mark = b"sheetData"

    def __init__(self, lengths: array[int]) -> None:
        super().__init__()
        self.lengths = lengths  # of the shared texts; those of this part are added
        self._sheet = SheetSize()
        self.sheets.append(self._sheet)
        self._row = self._column = -1
        self._is_open = False  # whether a cell has begun and its value has not
        self._is_shared = False  # whether its value is the number of a text
        self._number = ""
        self._string = -1  # number of the text that has begun

    def start(self, name: str, attributes: list[str]) -> None:
        if self._number:
            self._end_number()
        if ":" in name:
            name = name.rpartition(":")[2]
        if name == "c":
            self._begin_cell(attributes)
        elif name in ("v", "is"):
            if self._is_open:
                self._is_open = False
                self._sheet.add(self._row, self._column)
        elif name == "row":
            self._row, self._column = self._row + 1, -1
            number = _value(attributes, "r", "")
            self._row = int(number) - 1 if number else self._row
        elif name == "si":
            self._string += 1
            if self._string == len(self.lengths):
                self.lengths.append(0)

    def _begin_cell(self, attributes: list[str]) -> None:
        self._is_open, self._is_shared = True, False
        self._column += 1
        for i in range(0, len(attributes), 2):
            name, value = attributes[i : i + 2]
            if name == "r":
                letters = value.rstrip(DIGITS)
                self._row = int(value[len(letters) :]) - 1
                if letters:
                    self._column = place(letters)
            elif name == "t":
                self._is_shared = value == "s"

    def text(self, data: str) -> None:
        if self._is_shared and not self._is_open:
            self._number += data[: 20 - len(self._number)]
        elif self._string >= 0:
            self.lengths[self._string] += len(data)

    def finish(self) -> None:
        super().finish()
        self._end_number()

    def _end_number(self) -> None:
        number, self._number = self._number.strip(), ""
        self._is_shared = False
        if number.isdecimal() and int(number) < len(self.lengths):
            self._sheet.text += self.lengths[int(number)]


class OdsSizes(XmlSizes):
    """Counts the cells of all sheets; empty ones count only if others follow.

    Examples
    --------
    >>> found = OdsSizes()
    >>> found.add(b"<t:table xmlns:t='t'><t:table-row t:number-rows-repeated='9'>")
    >>> found.add(b"<t:table-cell t:number-columns-repeated='2'><p>ab</p>")
    >>> found.add(b"</t:table-cell><t:table-cell/></t:table-row></t:table>")
    >>> found.sheets
    [SheetSize(rows=9, columns=2, used=18, text=36)]
    """

    mark = b"table-row"

    def __init__(self) -> None:
        super().__init__()
        self._parser.EndElementHandler = self.end
        self._row = 0  # rows of the sheet so far
        self._repeated = 1  # times that the row occurs
        self._cells = SheetSize()  # of the row
        self._column = 0  # cells of the row so far
        self._times = 0  # that the cell occurs; 0 between cells
        self._used, self._text = False, 0  # of the cell

    def start(self, name: str, attributes: list[str]) -> None:
        name = name.rpartition(":")[2]
        if name == "table":
            self.sheets.append(SheetSize())
            self._row = 0
        elif name == "table-row":
            self._repeated = int(_value(attributes, "number-rows-repeated", "1"))
            self._cells, self._column = SheetSize(), 0
        elif name in ODS_CELLS:
            self._times = int(_value(attributes, "number-columns-repeated", "1"))
            self._used = any(key.startswith("office:") for key in attributes[::2])
            self._text = len(_value(attributes, "string-value", ""))
        elif self._times:
            self._used = True
            if name == "s":  # some spaces
                self._text += int(_value(attributes, "c", "1"))

    def text(self, data: str) -> None:
        if self._times:
            self._text += len(data)

    def end(self, name: str) -> None:
        """Handle the end of an element."""
        name = name.rpartition(":")[2]
        if name in ODS_CELLS:
            self._column += self._times
            if self._used:
                self._cells.columns = self._column
                self._cells.used += self._times
                self._cells.text += self._times * self._text
            self._times = 0
        elif name == "table-row" and self.sheets:
            self._row += self._repeated
            sheet, cells = self.sheets[-1], self._cells
            if cells.columns:
                sheet.rows = max(sheet.rows, self._row)
                sheet.columns = max(sheet.columns, cells.columns)
                sheet.used += cells.used * self._repeated
                sheet.text += cells.text * self._repeated


def _value(attributes: list[str], name: str, default: str) -> str:
    """Return the value of an attribute, whatever its prefix."""
    for key, value in zip(attributes[::2], attributes[1::2], strict=True):
        if key.rpartition(":")[2] == name:
            return value
    return default


@lru_cache(2**15)
def place(letters: str) -> int:
    """Return the number of a column, from 0.

    Examples
    --------
    >>> place("A"), place("Z"), place("AA"), place("XFD")
    (0, 25, 26, 16383)
    """
    if LETTERS.fullmatch(letters) is None:
        raise ValueError(f"a column is called {letters[:20]!r}")
    number = 0
    for letter in letters.upper():
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1
