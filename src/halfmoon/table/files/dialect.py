"""Dialects of delimited text: which sign separates the cells.

The standard library's own guess counts signs, quoted or not, and goes wrong on text
with commas in it. Here the first rows are parsed with each sign in turn: the right
one gives every row as many cells as the header.
"""

from __future__ import annotations

import csv
import io

from halfmoon.table.files.title import header_number

__all__ = ["DELIMITERS", "sniffed_delimiter"]

DELIMITERS = (",", ";", "\t", "|")  # in order of preference
SNIFFED_ROWS = 50


def sniffed_delimiter(text: str, complete: bool) -> str:
    r"""Delimiter for which the most rows have as many cells as the header, above one.

    Parameters
    ----------
    text : str
        The beginning of the table.
    complete : bool
        Whether it is all of it; otherwise its last row may be cut.

    Returns
    -------
    str
        A comma where no sign fits half of the rows: a table of one column.

    Examples
    --------
    >>> sniffed_delimiter("name;price\nplum;1,5\npear;2,5\n", True)
    ';'
    """
    best = (0.5, 1)  # share of the rows, cells
    chosen = ","
    for delimiter in DELIMITERS:
        fit = _fit(text, complete, delimiter)
        if fit[1] > 1 and fit > best:
            best, chosen = fit, delimiter
    if best[1] > 1:
        return chosen
    # A title may stand above the header.
    below = {each: header_number(_rows(text, complete, each)) for each in DELIMITERS}
    return next((each for each, number in below.items() if number), chosen)


def _fit(text: str, complete: bool, delimiter: str) -> tuple[float, int]:
    """Share of rows with as many cells as the header, and that number."""
    widths = [len(row) for row in _rows(text, complete, delimiter)]
    if not widths:
        return 0.0, 0
    return widths.count(widths[0]) / len(widths), widths[0]


def _rows(text: str, complete: bool, delimiter: str) -> list[list[str]]:
    """The first rows that are not blank; none if they cannot be parsed."""
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
