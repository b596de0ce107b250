"""Sizes of the sheets in an old Excel workbook, ``.xls``.

The file holds files, in sectors that a table chains. One of them is the workbook: a
list of records, each a type, a length and that many bytes. Chains and offsets may be
forged. Sources: Microsoft, [MS-CFB] and [MS-XLS].
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from struct import unpack, unpack_from
from typing import IO

from halfmoon.table._files.sheet_sizes import SheetSize

__all__ = ["sizes_of_xls"]

# Types of records
SHEET, EXTENT, END, SHARED_TEXTS, CONTINUED = 0x85, 0x200, 0x0A, 0xFC, 0x3C
CELLS = (0x06, 0xD6, 0xFD, 0x203, 0x204, 0x205, 0x27E)  # that are not blank
SHARED_CELL, SEVERAL_CELLS = 0xFD, 0xBD
MAX_ROWS, MAX_COLUMNS = 2**16, 2**8

WORKBOOKS = ("Workbook", "Book")
N_CHAINED = 109  # sectors of the table that the head lists
ENTRY_BYTES = 128  # of the directory
SMALL, SMALL_SECTOR = 4096, 64  # smaller files have sectors of their own
FIRST_NO_SECTOR = 0xFFFFFFFA


def sizes_of_xls(file: IO[bytes]) -> list[SheetSize]:
    """Return the sizes of all sheets; ValueError and the like for a damaged file."""
    data = _workbook(file.read())
    starts: list[int] = []
    texts: list[bytes] = []
    last = 0
    for kind, at, size in _records(data, 0):
        if kind == SHEET:
            starts += unpack_from("<I", data, at)
        elif kind == SHARED_TEXTS or (kind == CONTINUED and last == SHARED_TEXTS):
            texts.append(data[at : at + size])
            last = SHARED_TEXTS
            continue
        last = kind
    lengths = _lengths(texts)
    sizes: dict[int, SheetSize] = {}
    left = len(data)
    for start in starts:
        if start not in sizes:
            sizes[start], stop = _size(data, start, lengths)
            left -= stop - start
        if left < 0:
            raise ValueError("its sheets overlap")
    return [sizes[start] for start in starts]


def _size(data: bytes, start: int, lengths: array[int]) -> tuple[SheetSize, int]:
    """Return the size of the sheet that begins at an offset, and where it ends."""
    sheet, stop = SheetSize(), start
    for kind, at, size in _records(data, start):
        stop = at + size
        if kind == EXTENT and size >= 12:  # the library reserves memory for it
            _, rows, _, columns = unpack_from("<IIHH", data, at)
            if rows > MAX_ROWS or columns > MAX_COLUMNS:
                raise ValueError("a sheet is larger than the format allows")
        elif kind in CELLS and size >= 6:
            row, column = unpack_from("<HH", data, at)
            text = 0
            if kind == SHARED_CELL and size >= 10:
                (number,) = unpack_from("<I", data, at + 6)
                text = lengths[number] if number < len(lengths) else 0
            sheet.add(row, column, text)
        elif kind == SEVERAL_CELLS and size >= 6:
            row, column = unpack_from("<HH", data, at)
            for i in range((size - 6) // 6):
                sheet.add(row, column + i)
    return sheet, stop


def _records(data: bytes, at: int) -> Iterator[tuple[int, int, int]]:
    """Yield type, offset and size of each record up to the end of its list."""
    while at + 4 <= len(data):
        kind, size = unpack_from("<HH", data, at)
        yield kind, at + 4, size
        if kind == END:
            return
        at += 4 + size


def _lengths(parts: list[bytes]) -> array[int]:
    """Return the lengths of the shared texts; a record may end within a text."""
    lengths = array("L")
    rest = iter(parts)
    data, at = next(rest, b"")[8:], 0

    def skip(count: int) -> None:
        nonlocal data, at
        while count > len(data) - at:
            count -= len(data) - at
            data, at = next(rest), 0
        at += count

    try:
        while True:
            if at == len(data):
                data, at = next(rest), 0
            length, flags = unpack_from("<HB", data, at)
            at += 3
            more = 0  # bytes after the characters
            if flags & 8:
                more += 4 * unpack_from("<H", data, at)[0]
                at += 2
            if flags & 4:
                more += unpack_from("<I", data, at)[0]
                at += 4
            lengths.append(length)
            left, wide = length, 1 + (flags & 1)
            while left > (here := (len(data) - at) // wide):
                left -= here
                data, at = next(rest), 1  # after flags of its own
                wide = 1 + (data[0] & 1)
            skip(left * wide + more)
    except StopIteration:
        return lengths


def _workbook(data: bytes) -> bytes:
    """Return the file in a file that holds the sheets."""
    (power,) = unpack_from("<H", data, 30)
    if power not in (9, 12):
        raise ValueError("its sectors have an unknown size")
    sector, numbers = 2**power, 2**power // 4
    directory, small_table, following = unpack("<I8xI4xI", data[48:72])
    chained = [*unpack_from(f"<{N_CHAINED}I", data, 76)]
    for _ in range(len(data) // sector):  # a chain that is longer is a circle
        if following >= FIRST_NO_SECTOR:
            break
        *more, following = unpack_from(f"<{numbers}I", data, sector * (following + 1))
        chained += more
    body = data[sector:]
    starts = [sector * i for i in chained if i < FIRST_NO_SECTOR]
    parts = [body[start : start + sector] for start in starts]
    table = array("I", b"".join(parts))
    entries = _chain(body, table, directory, sector)
    small = b""
    for at in range(0, len(entries), ENTRY_BYTES):
        entry = entries[at : at + ENTRY_BYTES]
        name = entry[:64].decode("utf-16-le", "replace").partition("\0")[0]
        start, size = unpack_from("<II", entry, 116)
        if at == 0:
            small = _chain(body, table, start, sector)
        elif name in WORKBOOKS and size >= SMALL:
            return _chain(body, table, start, sector)[:size]
        elif name in WORKBOOKS:
            table = array("I", _chain(body, table, small_table, sector))
            return _chain(small, table, start, SMALL_SECTOR)[:size]
    raise ValueError("it holds no workbook")


def _chain(body: bytes, table: array[int], at: int, sector: int) -> bytes:
    """Return the bytes of the sectors from a given one on."""
    parts: list[bytes] = []
    while at < FIRST_NO_SECTOR:
        if at >= len(table) or len(parts) > len(table):
            raise ValueError("its sectors are in disorder")
        parts.append(body[sector * at : sector * (at + 1)])
        at = table[at]
    return b"".join(parts)
