"""Records of delimited text: their cells, and where each cell stands.

Cells are found by the standard library's parser. Beside them each record is kept as
it was written, since a row must come out again as it came in.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Protocol

from halfmoon.table.errors import ReadError

__all__ = [
    "RECORD_LIMIT",
    "Record",
    "cell_spans",
    "count_lines",
    "line_end",
    "read_records",
]

RECORD_LIMIT = 2**24  # characters of one record: above it, a quote never closes

Record = tuple[int, str, list[str]]  # line, text, cells


class Lines(Protocol):
    """Where lines of text come from."""

    def readline(self, limit: int, /) -> str:
        """The next line with its end, or as much of it as a limit allows."""


def read_records(
    stream: Lines, delimiter: str, name: str, line: int = 1
) -> Iterator[Record]:
    """Line where each record begins, the record with its line end, and its cells.

    Parameters
    ----------
    stream : text stream, opened with ``newline=""``
    delimiter : str
    name : str
        What to call the file in an error.
    line : int
        Number of the first line.

    Notes
    -----
    A record spans several lines where a quoted cell holds line ends. A blank line is
    a record without cells.
    """
    # The limit belongs to the whole process. It is only ever raised, since another
    # thread may be reading too.
    if csv.field_size_limit() < RECORD_LIMIT:
        csv.field_size_limit(RECORD_LIMIT)
    lines: list[str] = []  # of the record being read
    reader = csv.reader(_kept(stream, lines, name, line), delimiter=delimiter)
    first = line
    try:
        for cells in reader:
            if len(lines) == 1:
                raw = lines[0]
            elif lines[-1]:
                raw = "".join(lines)
            else:  # the text ended and the record did not
                raise _unclosed(name, first, "is never closed")
            lines.clear()
            yield first, raw, cells
            first = line + reader.line_num
    except csv.Error as error:
        raise ReadError(f"{name}, line {first} cannot be read: {error}.") from error


def _kept(
    stream: Lines, lines: list[str], name: str, number_of_first: int
) -> Iterator[str]:
    """Lines for the parser, of which those since the last record are kept.

    An empty string is kept where the text ends, but is not handed on.
    """
    size = 0
    # A line is read up to a limit: a file may be one line of many gigabytes.
    read_line = partial(stream.readline, RECORD_LIMIT)
    for number, line in enumerate(iter(read_line, ""), number_of_first):
        size = size + len(line) if lines else len(line)
        lines.append(line)
        if "\0" in line:
            raise ReadError(
                f"{name}, line {number} holds a null byte, so it is not a table of "
                f"text. Give a CSV, TSV, Parquet or Feather file."
            )
        if size >= RECORD_LIMIT:
            first = number - len(lines) + 1
            if '"' in line or len(lines) > 1:
                raise _unclosed(name, first, "is not closed within 16 MB")
            raise ReadError(
                f"{name}, line {first} is longer than 16 MB, so it is not a row of a "
                f"table. Check that the file is one."
            )
        yield line
    lines.append("")


def _unclosed(name: str, first: int, what: str) -> ReadError:
    return ReadError(
        f"{name}, line {first}: a quotation mark in the record that begins here "
        f"{what}. Close it, or double it if it belongs to the text."
    )


def count_lines(text: str) -> int:
    """How many line ends a text has."""
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def line_end(raw: str) -> str:
    """The line end of a record, which the last one may lack."""
    if raw.endswith("\n"):
        return "\r\n" if raw.endswith("\r\n") else "\n"
    return "\r" if raw.endswith("\r") else ""


def cell_spans(
    record: str,  # without its line end
    delimiter: str,
) -> list[tuple[int, int]]:
    """Where each cell of a record begins and ends, its quotes included.

    Examples
    --------
    >>> cell_spans('a,"b,c",', ",")
    [(0, 1), (2, 7), (8, 8)]
    """
    pattern = _cell(delimiter)
    spans = []
    start = 0
    while True:
        match = pattern.match(record, start)
        assert match is not None  # an empty cell matches too
        spans.append(match.span())
        if match.end() == len(record):
            return spans
        start = match.end() + 1


@lru_cache(maxsize=8)
def _cell(delimiter: str) -> re.Pattern[str]:
    # As the parser does it: quotes count only where a cell begins with one, and what
    # follows the closing quote belongs to the cell as it is. Nothing is tried twice
    # (++, *+), so that time is linear.
    return re.compile(rf'(?:"(?:[^"]++|"")*+")?+[^{re.escape(delimiter)}]*+')
