"""Dialects of text: its encoding, which character separates cells, where the header is.

The encoding is as the user says, else by the mark at the start, else UTF-8.

The guess of the standard library counts characters, quoted or not, and fails on text
with commas in it. Here the first rows are parsed with each candidate in turn: the right
one gives every row as many cells as the header.

A spreadsheet that is saved as CSV often has a title above its table. A title fills a
cell or two of its row; the header fills most columns with different texts.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Sequence

from halfmoon.table._table_errors import CommandError

__all__ = [
    "MARKING",
    "SEPARATOR_LINE",
    "encoding_of",
    "header_number",
    "may_be_title",
    "sniffed_delimiter",
    "undecodable_byte",
]

DELIMITERS = (",", ";", "\t", "|")  # in order of preference
SNIFFED_ROWS = 50
#: A first line such as ``sep=;``, which names the delimiter for some programs.
SEPARATOR_LINE = re.compile(r'"?sep=([^"\r\n])"?[ \t]*(?:\r\n|\r|\n)', re.IGNORECASE)
#: Error handler for texts: a byte that is not in the encoding becomes two characters
#: that no text has, halves of surrogate pairs.
MARKING = "halfmoon.mark"
BAD_BYTE, FIRST_BYTE = "\udfff", 0xDC00
MARKED = re.compile(f"{BAD_BYTE}([\udc00-\udcff])")
# The mark of UTF-32 begins with that of UTF-16, so it comes first.
MARKS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
}
# Encodings whose byte order, or mark, is given by the file.
FAMILIES = {
    "utf-8-sig": ("utf-8",),
    "utf-16": ("utf-16-le", "utf-16-be"),
    "utf-32": ("utf-32-le", "utf-32-be"),
}
NUMBER = re.compile(r"\s*[+-]?[\d.,]*\d[\d.,]*([eE][+-]?\d+)?\s*%?", re.ASCII)


def sniffed_delimiter(text: str, complete: bool) -> str:
    r"""Return the delimiter for which most rows have as many cells as the header.

    It is a comma if no candidate fits half of the rows: a table of one column. `text`
    is the beginning of the table; unless it is complete, its last row may be cut.

    Examples
    --------
    >>> sniffed_delimiter("name;price\nplum;1,5\npear;2,5\n", True)
    ';'
    """
    best = (0.5, 1)  # share of the rows, number of cells
    chosen = ","
    tables = {sign: _first_rows(text, complete, sign) for sign in DELIMITERS}
    for delimiter, rows in tables.items():
        widths = [len(row) for row in rows]
        if widths and widths[0] > 1:
            fit = widths.count(widths[0]) / len(widths), widths[0]
            if fit > best:
                best, chosen = fit, delimiter
    if best[1] > 1:
        return chosen
    # A title may stand above the header.
    return next((sign for sign, rows in tables.items() if header_number(rows)), chosen)


def _first_rows(text: str, complete: bool, delimiter: str) -> list[list[str]]:
    """Return the first rows that are not blank; none if they cannot be parsed."""
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            if row:
                rows.append(row)
            if len(rows) > SNIFFED_ROWS:
                break
        else:
            if not complete and len(rows) > 1:
                rows.pop()
    except csv.Error:
        return []
    return rows


def header_number(rows: Sequence[Sequence[str]]) -> int:
    """Return which of the first rows is the header; 0 if there is no title above it.

    The rows are the cells of the first records that are not blank.

    Examples
    --------
    >>> header_number([["Flowers of 2024"], ["name", "size"], ["rose", "2"]])
    1
    >>> header_number([["name", "size"], ["rose", "2"]])
    0
    """
    widths = Counter(len(row) for row in rows[1:])
    if not widths or (width := widths.most_common(1)[0][0]) < 2:
        return 0
    for number, row in enumerate(rows):
        if number and _is_header(row, width):
            same = all(len(other) == width for other in rows[number:])
            return number if same and number < len(rows) - 1 else 0
        if not _is_title(row, width):
            return 0
    return 0


def may_be_title(row: Sequence[str]) -> bool:
    """Return whether a record could be a title: most of its cells are empty."""
    filled = sum(bool(cell.strip()) for cell in row)
    return filled == 1 or filled * 2 <= len(row)


def _is_title(row: Sequence[str], width: int) -> bool:
    filled = sum(bool(cell.strip()) for cell in row)
    return filled * 2 <= width and (len(row) != width or filled < width - 1)


def _is_header(row: Sequence[str], width: int) -> bool:
    names = [cell.strip() for cell in row if cell.strip()]
    return (
        len(row) == width
        and len(names) * 2 > width
        and len(set(names)) == len(names)
        and not any(NUMBER.fullmatch(name) for name in names)
    )


def encoding_of(head: bytes, asked: str | None) -> tuple[str, bytes]:
    r"""Return the encoding, and the byte order mark at the start of the text.

    `head` is the first bytes of the text. Without the user's choice, the mark decides,
    or it is UTF-8.

    Examples
    --------
    >>> encoding_of("a,b".encode("utf-16-be"), None)
    ('utf-8', b'')
    >>> encoding_of(b"\xef\xbb\xbfa,b", None)
    ('utf-8', b'\xef\xbb\xbf')
    """
    if asked is None:
        candidates, default = tuple(MARKS), "utf-8"
    else:
        name = _checked(asked)
        candidates = FAMILIES.get(name, (name,))
        default = candidates[0]
    for encoding in candidates:
        mark = MARKS.get(encoding)
        if mark is not None and head.startswith(mark):
            return encoding, mark
    return default, b""


def _checked(asked: str) -> str:
    try:
        name = codecs.lookup(asked).name
        "".encode(name)  # refuses base64 and the like, which do not encode text
        b"a".decode(name, MARKING)
    except (LookupError, UnicodeError, ValueError) as error:
        raise CommandError(
            f"The encoding {asked!r} is not known. Common ones are utf-8, utf-16, "
            f"latin-1 and cp1252."
        ) from error
    return name


def _mark_byte(error: UnicodeError) -> tuple[str, int]:
    """Decode a byte that is not in the encoding as a mark, to be found in its line.

    Text is decoded ahead of the parser, so its line is not known yet.
    """
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return BAD_BYTE + chr(FIRST_BYTE + error.object[error.start]), error.end


codecs.register_error(MARKING, _mark_byte)


def undecodable_byte(line: str) -> int | None:
    """Return the first byte of a line that is not in the encoding, None if all are."""
    found = MARKED.search(line)
    return None if found is None else ord(found[1]) - FIRST_BYTE
