"""Dialects of text: its encoding, and which character separates cells.

The encoding is as the user says, else by the mark at the start, else UTF-16 by its
null bytes, else UTF-8, or that of Windows in western countries: there, letters beyond
ASCII are one byte each, mostly beside one of ASCII.

The guess of the standard library counts characters, quoted or not, and fails on text
with commas in it. Here the first rows are parsed with each candidate in turn: the right
one gives every row as many cells as the header.
"""

from __future__ import annotations

import codecs
import csv
import io
import re

from halfmoon.table._files.header_rows import common_width, header_number
from halfmoon.table._table_errors import CommandError

__all__ = [
    "MARKING",
    "SEPARATOR_LINE",
    "encoding_of",
    "is_western",
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
UTF8_LETTER = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}")
BEYOND_ASCII = re.compile(rb"[\x80-\xff]+")
#: A byte beyond ASCII, and no other, beside a letter.
ALONE = re.compile(
    rb"(?<![\x80-\xff])[\x80-\xff](?=[A-Za-z])"
    rb"|(?<=[A-Za-z])[\x80-\xff](?![\x80-\xff])"
)
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x19\x1b-\x1f]|[\x81\x8d\x8f\x90\x9d]")
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
    # A title may stand above the header, or the header may have a cell too few.
    return next(
        (
            sign
            for sign, rows in tables.items()
            if header_number(rows)
            or (rows and 1 < len(rows[0]) == common_width(rows[1:]) - 1)
        ),
        chosen,
    )


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


def encoding_of(head: bytes, asked: str | None) -> tuple[str, bytes]:
    r"""Return the encoding, and the byte order mark at the start of the text.

    `head` is the first bytes of the text. Without the user's choice, the mark decides,
    or the null bytes of UTF-16; else it is UTF-8.

    Examples
    --------
    >>> encoding_of("a,b\n".encode("utf-16-be"), None)
    ('utf-16-be', b'')
    >>> encoding_of(b"\xef\xbb\xbfa,b", None)
    ('utf-8', b'\xef\xbb\xbf')
    """
    if asked is None:
        candidates, default = tuple(MARKS), _unmarked(head)
    else:
        name = _checked(asked)
        candidates = FAMILIES.get(name, (name,))
        default = candidates[0]
    for encoding in candidates:
        mark = MARKS.get(encoding)
        if mark is not None and head.startswith(mark):
            return encoding, mark
    return default, b""


def _unmarked(head: bytes) -> str:
    """Return the encoding of a text without a mark: UTF-16 by its nulls, or UTF-8.

    Line ends have a null byte in UTF-16, as digits and delimiters do, always in the
    same half of their two bytes.
    """
    first, second = (b"\0" in head[half::2] for half in (0, 1))
    if first == second:
        return "utf-8"
    encoding = "utf-16-be" if first else "utf-16-le"
    text = head.decode(encoding, "replace")
    # The head may end within a character.
    is_text = "\ufffd" not in text[:-1] and 2 * text.count("\n") > head.count(b"\n")
    return encoding if is_text else "utf-8"


def is_western(head: bytes) -> bool:
    r"""Whether the first bytes of a text are in cp1252 rather than in UTF-8.

    Examples
    --------
    >>> is_western(b"gr\xfcn,\xe9t\xe9"), is_western("grün".encode())
    (True, False)
    """
    if head.isascii() or UTF8_LETTER.search(head) or CONTROL.search(head):
        return False
    alone = len(ALONE.findall(head))
    return alone > len(BEYOND_ASCII.findall(head)) / 2


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
