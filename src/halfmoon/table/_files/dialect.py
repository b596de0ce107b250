"""Dialects of delimited text: which character separates cells, and where the header is.

The guess of the standard library counts characters, quoted or not, and fails on text
with commas in it. Here the first rows are parsed with each candidate in turn: the right
one gives every row as many cells as the header.

A spreadsheet that is saved as CSV often has a title above its table. A title fills a
cell or two of its row; the header fills most columns with different texts.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence

__all__ = ["SEPARATOR_LINE", "header_number", "may_be_title", "sniffed_delimiter"]

DELIMITERS = (",", ";", "\t", "|")  # in order of preference
SNIFFED_ROWS = 50
#: A first line such as ``sep=;``, which names the delimiter for some programs.
SEPARATOR_LINE = re.compile(r'"?sep=([^"\r\n])"?[ \t]*(?:\r\n|\r|\n)', re.IGNORECASE)
NUMBER = re.compile(r"\s*[+-]?[\d.,]*\d[\d.,]*([eE][+-]?\d+)?\s*%?", re.ASCII)


def sniffed_delimiter(text: str, complete: bool) -> str:
    r"""Return the delimiter for which most rows have as many cells as the header.

    Parameters
    ----------
    text : str
        The beginning of the table.
    complete : bool
        Whether this is the whole table; otherwise its last row may be cut.

    Returns
    -------
    str
        A comma if no candidate fits half of the rows: a table of one column.

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

    Parameters
    ----------
    rows : sequence of sequence of str
        The cells of the first records that are not blank.

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
