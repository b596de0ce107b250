"""Records of delimited text, read piece by piece.

A piece of text without quotes and other oddities is split in one go (`plain_lines.py`).
Any other piece goes through the parser of the standard library, which also says what is
wrong and in which line. Both keep the exact text of each record, because rows are
written as they were read.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import lru_cache, partial
from typing import IO, Any, Protocol

from halfmoon.table._files.plain_lines import PlainLines, plain_lines
from halfmoon.table._table_errors import ReadError

__all__ = [
    "Record",
    "cell_spans",
    "count_lines",
    "line_end",
    "read_pieces",
    "read_records",
]

MAX_RECORD = 2**24  # characters; a longer record means that a quote never closes
PIECE_CHARACTERS = 2**21  # as Python strings, they take about ten times as much

Record = tuple[int, str, list[str]]  # line, text, cells
Reopen = Callable[[], AbstractContextManager[tuple[IO[str], Any]]]


class Lines(Protocol):
    """A source of lines."""

    def readline(self, limit: int, /) -> str:
        """Return the next line with its end, or as much of it as the limit allows."""


def read_pieces(
    stream: IO[str],
    delimiter: str,
    name: str,
    width: int,
    before: str,
    reopen: Reopen,
) -> Iterator[PlainLines | Iterator[Record]]:
    """Yield the rest of a text as plain lines or as records.

    The records of a piece must be used before the next piece is asked for.

    Parameters
    ----------
    stream : text stream, opened with ``newline=""``
    delimiter, name : str
        As in `read_records`.
    width : int
        Number of cells of a line.
    before : str
        What was already read from the stream.
    reopen : callable
        Opens the same text again. If decoding fails, everything before the failure is
        read again, so that errors come in the order of the lines.
    """
    line, done = count_lines(before) + 1, len(before)
    while True:
        try:
            text = stream.read(PIECE_CHARACTERS)
            if text and not text.endswith("\n"):
                text += stream.readline(MAX_RECORD)
        except Exception:
            with reopen() as (again, _):
                while done:
                    done -= len(again.read(min(done, PIECE_CHARACTERS)))
                yield read_records(again, delimiter, name, line)
            return
        if not text:
            return
        plain = None
        if delimiter.isascii() and len(text) < MAX_RECORD:
            plain = plain_lines(text, delimiter, width)
        if plain is not None:
            line, done = line + len(plain), done + len(text)
            yield plain
            continue
        lines = _LookAhead(text, stream)
        yield lines.records(read_records(lines, delimiter, name, line))
        line, done = line + lines.n_lines, done + lines.n_characters


class _LookAhead:
    """A stream after a piece of text that was already read from it."""

    def __init__(self, text: str, stream: IO[str]) -> None:
        self._text = io.StringIO(text, newline="")
        self._stream = stream
        self._length = len(text)
        self.n_characters = self.n_lines = 0  # read so far

    def readline(self, limit: int) -> str:
        """Return the next line, or as much of it as the limit allows."""
        line = self._text.readline(limit)
        if len(line) < limit and not line.endswith(("\n", "\r")):
            line += self._stream.readline(limit - len(line))
        self.n_characters += len(line)
        self.n_lines += 1
        return line

    def records(self, found: Iterator[Record]) -> Iterator[Record]:
        """Yield records until the piece of text is used up."""
        for record in found:
            yield record
            if self.n_characters >= self._length:
                return


def read_records(
    stream: Lines, delimiter: str, name: str, line: int = 1
) -> Iterator[Record]:
    """Yield the line number, the text with its line end, and the cells of each record.

    Parameters
    ----------
    stream : text stream, opened with ``newline=""``
    delimiter : str
    name : str
        Name of the file in messages.
    line : int
        Number of the first line.

    Notes
    -----
    A record spans several lines if a quoted cell holds line ends. A blank line is a
    record without cells.
    """
    # This limit belongs to the whole process. It is only ever raised, because another
    # thread may be reading too.
    if csv.field_size_limit() < MAX_RECORD:
        csv.field_size_limit(MAX_RECORD)
    lines: list[str] = []  # of the record being read
    reader = csv.reader(_collected(stream, lines, name, line), delimiter=delimiter)
    first = line
    try:
        for cells in reader:
            if len(lines) == 1:
                raw = lines[0]
            elif lines[-1]:
                raw = "".join(lines)
            else:  # the text ended within the record
                raise _unclosed(name, first, "is never closed")
            lines.clear()
            yield first, raw, cells
            first = line + reader.line_num
    except csv.Error as error:
        raise ReadError(f"{name}, line {first} cannot be read: {error}.") from error


def _collected(
    stream: Lines, lines: list[str], name: str, first_line: int
) -> Iterator[str]:
    """Yield lines for the parser, and append them to `lines`.

    An empty string is appended at the end of the text.
    """
    size = 0
    # Lines are read up to a limit: a file may be one line of many gigabytes.
    read_line = partial(stream.readline, MAX_RECORD)
    for number, line in enumerate(iter(read_line, ""), first_line):
        size = size + len(line) if lines else len(line)
        lines.append(line)
        if "\0" in line:
            raise ReadError(
                f"{name}, line {number} holds a null byte, so it is not a table of "
                f"text. Give a CSV, TSV, Parquet or Feather file."
            )
        if size >= MAX_RECORD:
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
    """Return the number of line ends in a text."""
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def line_end(raw: str) -> str:
    """Return the line end of a record, which is empty if the file ends there."""
    if raw.endswith("\n"):
        return "\r\n" if raw.endswith("\r\n") else "\n"
    return "\r" if raw.endswith("\r") else ""


def cell_spans(
    record: str,  # without its line end
    delimiter: str,
) -> list[tuple[int, int]]:
    """Return where each cell of a record begins and ends, including its quotes.

    Examples
    --------
    >>> cell_spans('a,"b,c",', ",")
    [(0, 1), (2, 7), (8, 8)]
    """
    pattern = _cell_pattern(delimiter)
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
def _cell_pattern(delimiter: str) -> re.Pattern[str]:
    # Like the parser: a quote counts only at the start of a cell, and text after the
    # closing quote belongs to the cell. Possessive quantifiers keep the time linear.
    return re.compile(rf'(?:"(?:[^"]++|"")*+")?+[^{re.escape(delimiter)}]*+')
