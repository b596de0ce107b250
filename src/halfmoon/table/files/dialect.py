"""Dialects of delimited text: which sign separates the cells.

The standard library's own guess counts signs, quoted or not, and goes wrong on text
with commas in it. Here the first rows are parsed with each sign in turn: the right
one gives every row as many cells as the header.
"""

from __future__ import annotations

import csv
import io

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
    return chosen


def _fit(text: str, complete: bool, delimiter: str) -> tuple[float, int]:
    """Share of rows with as many cells as the header, and that number."""
    widths: list[int] = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            if row:
                widths.append(len(row))
            if len(widths) > SNIFFED_ROWS:
                break
        else:
            if not complete and len(widths) > 1:
                widths.pop()
    except csv.Error:
        return 0.0, 0
    if not widths:
        return 0.0, 0
    return widths.count(widths[0]) / len(widths), widths[0]
