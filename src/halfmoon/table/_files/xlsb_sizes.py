"""Sizes of the sheets in a binary Excel workbook, ``.xlsb``.

A part of the zip file is a list of records: a type, a length, and that many bytes.
Source: Microsoft, [MS-XLSB].
"""

from __future__ import annotations

from array import array

from halfmoon.table._files.sheet_sizes import SheetSize

__all__ = ["XlsbSizes"]

# Types of records
ROW, LAST_CELL, SHARED_CELL, TEXT, BEGIN, END = 0, 11, 7, 19, 145, 146
HEAD_BYTES, DATA_BYTES = 6, 12  # the most that is read of a record


class XlsbSizes:
    """Counts the cells of a sheet, or adds up shared texts, in a part of the zip file.

    Other parts, such as pictures, are read too, since any name may be that of a sheet;
    only what is between the marks of a sheet counts.
    """

    def __init__(self, lengths: array[int]) -> None:
        self.lengths = lengths  # of the shared texts; those of this part are added
        self._sheet = SheetSize()
        self.sheets = [self._sheet]
        self._row, self._is_sheet = 0, False
        self._number = 0  # of the next shared text
        self._rest, self._skipped = b"", 0  # bytes of a record that ends further on

    def add(self, chunk: bytes) -> None:
        """Go on with the next bytes of the part."""
        if self._skipped >= len(chunk):
            self._skipped -= len(chunk)
            return
        data, at = self._rest + chunk[self._skipped :], 0
        while at + HEAD_BYTES + DATA_BYTES <= len(data):
            kind, size, start = _head(data, at)
            self._count(kind, data[start : start + min(size, DATA_BYTES)])
            at = start + size
        self._rest, self._skipped = data[at:], max(0, at - len(data))

    def finish(self) -> None:
        """End the part; its last record may be shorter than others."""
        self.add(bytes(HEAD_BYTES + DATA_BYTES))

    def _count(self, kind: int, data: bytes) -> None:
        if kind in (BEGIN, END):
            self._is_sheet = kind == BEGIN
        elif kind == TEXT and not self._is_sheet:
            if self._number == len(self.lengths):
                self.lengths.append(0)
            self.lengths[self._number] += int.from_bytes(data[1:5], "little")
            self._number += 1
        elif kind == ROW and self._is_sheet:
            self._row = int.from_bytes(data[:4], "little")
        elif 1 < kind <= LAST_CELL and self._is_sheet:
            text = 0
            if kind == SHARED_CELL:
                number = int.from_bytes(data[8:12], "little")
                text = self.lengths[number] if number < len(self.lengths) else 0
            self._sheet.add(self._row, int.from_bytes(data[:4], "little"), text)


def _head(data: bytes, at: int) -> tuple[int, int, int]:
    """Return the type and the size of a record, and where its bytes begin.

    Both numbers have seven bits a byte; the eighth says that more follow.

    Examples
    --------
    >>> _head(bytes([145, 1, 129, 2]), 0)
    (145, 257, 4)
    """
    numbers = []
    for longest in (2, 4):
        number = 0
        for i in range(longest):
            byte = data[at]
            number += (byte & 0x7F) << (7 * i)
            at += 1
            if byte < 0x80:
                break
        numbers.append(number)
    return numbers[0], numbers[1], at
