"""Records of delimited text, read piece by piece.

A piece of text without quotes is split in one go: its cells end exactly at delimiters
and line ends, so NumPy finds all offsets at once, Arrow takes the columns from them,
and lines can be copied or get new cells without a Python string for each. Any other
piece goes through the parser of the standard library, which also says what is wrong and
in which line. Both keep the exact text of each record, because rows are written as they
were read.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import IO, Any, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from halfmoon.table._table_errors import ReadError

__all__ = [
    "PlainLines",
    "Record",
    "cell_spans",
    "count_lines",
    "line_end",
    "long_line",
    "plain_lines",
    "read_pieces",
    "read_records",
]

LINE_FEED, RETURN = 10, 13
MAX_RECORD = 2**24  # characters; a longer record means that a quote never closes
PIECE_CHARACTERS = 2**21  # as Python strings, they take about ten times as much

Record = tuple[int, str, list[str]]  # line, text, cells
ReadLine = Callable[[int], str]  # the next line, or as much of it as the limit allows
Reopen = Callable[[], AbstractContextManager[tuple[IO[str], Any]]]
Offsets = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class PlainLines(Sequence[str]):
    """Records without quotes, with their line ends, as offsets into UTF-8."""

    data: bytes
    starts: Offsets  # (n,)
    ends: Offsets  # (n, d), of each cell; the next cell begins one byte later
    stops: Offsets  # (n,), after the line ends

    def __len__(self) -> int:
        return len(self.starts)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> PlainLines: ...
    def __getitem__(self, at: int | slice) -> str | PlainLines:
        if isinstance(at, slice):
            return PlainLines(self.data, self.starts[at], self.ends[at], self.stops[at])
        return self.data[self.starts[at] : self.stops[at]].decode()

    def rows(self, schema: Any) -> Any:
        """Return the cells as columns of strings, with their exact text."""
        n, d = self.ends.shape
        offsets = np.empty((n, d, 2), dtype=np.int32)  # begin and end of each cell
        offsets[:, 0, 0] = self.starts
        offsets[:, 1:, 0] = self.ends[:, :-1] + 1
        offsets[:, :, 1] = self.ends
        order = 2 * np.arange(n * d, dtype=np.int32).reshape(n, d).T.ravel()
        texts = _texts_between(self.data, np.append(offsets.ravel(), self.stops[-1:]))
        cells = texts.take(pa.array(order))
        columns = [cells.slice(i * n, n) for i in range(d)]
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def around(self, columns: Sequence[int]) -> tuple[list[Any], Any]:
        """Return the lines split around some columns, in ascending order; line ends.

        The texts are that before the first of these cells, the cell, the text before
        the next cell, and so on; last the text after the last cell.
        """
        n, wide = len(self), 2 * len(columns) + 2
        offsets = np.empty((n, wide), dtype=np.int32)
        offsets[:, 0], offsets[:, -1] = self.starts, self.ends[:, -1]
        for i, column in enumerate(columns):
            begins = self.ends[:, column - 1] + 1 if column else self.starts
            offsets[:, 2 * i + 1], offsets[:, 2 * i + 2] = begins, self.ends[:, column]
        texts = _texts_between(self.data, np.append(offsets.ravel(), self.stops[-1:]))
        first = wide * np.arange(n, dtype=np.int32)
        parts = [texts.take(pa.array(first + i)) for i in range(wide)]
        return parts[:-1], parts[-1]


def plain_lines(text: str, delimiter: str, width: int) -> PlainLines | None:
    r"""Return whole lines of text as offsets of their cells; None for other text.

    The text must have no quotes, each line must end with ``\n`` or ``\r\n`` (the last
    one may have no end), and each line must have as many cells as the header. The
    delimiter must be an ASCII character.

    Examples
    --------
    >>> lines = plain_lines("1,x\n2,y", ",", 2)
    >>> list(lines), lines.ends.tolist()
    (['1,x\n', '2,y'], [[1, 3], [5, 7]])
    >>> plain_lines('1,"x"\n', ",", 2) is None, plain_lines("1\n", ",", 2) is None
    (True, True)
    """
    if '"' in text or "\0" in text:
        return None
    returns = "\r" in text  # faster than a count
    if returns and text.count("\r") != text.count("\r\n"):
        return None
    try:
        data = text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return None
    if 2 * len(data) > np.iinfo(np.int32).max:
        return None
    codes = np.frombuffer(data, np.uint8)
    marked = (codes == ord(delimiter)) | (codes == LINE_FEED)
    at = np.flatnonzero(marked).astype(np.int32)
    cut = not text.endswith("\n")
    if cut:
        at = np.append(at, np.int32(len(data)))
    if len(at) % width:
        return None
    ends = at.reshape(-1, width)
    feeds = codes[ends.ravel()[: len(at) - cut]] == LINE_FEED
    if feeds.sum() != len(ends) - cut or not feeds[width - 1 :: width].all():
        return None
    stops = np.minimum(ends[:, -1] + 1, len(data))
    starts = np.concatenate([[0], stops[:-1]]).astype(np.int32)
    if returns:
        before = np.maximum(ends[:, -1] - 1, 0)
        ends[:, -1] -= (codes[before] == RETURN) & (ends[:, -1] > starts)
    return PlainLines(data, starts, ends, stops)


def _texts_between(data: bytes, offsets: Offsets) -> Any:
    """Return the texts between consecutive offsets as an array, without a copy."""
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.string(), len(offsets) - 1, buffers)


def read_pieces(
    stream: IO[str],  # opened with newline=""
    delimiter: str,
    name: str,  # of the file, in messages
    width: int,  # cells of a line
    before: str,
    reopen: Reopen,
) -> Iterator[PlainLines | Iterator[Record]]:
    """Yield the rest of a text as plain lines or as records.

    The records of a piece must be used before the next piece is asked for. `before` is
    what was already read from the stream. If decoding fails, the text is opened again
    and everything before the failure is read, so that errors come in the order of the
    lines.
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
                yield read_records(again.readline, delimiter, name, line)
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
        yield lines.records(read_records(lines.readline, delimiter, name, line))
        line, done = line + lines.n_lines, done + lines.n_characters


class _LookAhead:
    """A stream after a piece of text that was already read from it."""

    def __init__(self, text: str, stream: IO[str]) -> None:
        self._text = io.StringIO(text, newline="")
        self._stream = stream
        self._length = len(text)
        self.n_characters = self.n_lines = 0  # read so far

    def readline(self, limit: int) -> str:
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
    read_line: ReadLine, delimiter: str, name: str, line: int = 1
) -> Iterator[Record]:
    """Yield the line number, the text with its line end, and the cells of each record.

    A record spans several lines if a quoted cell holds line ends. A blank line is a
    record without cells. The first line has the number `line`.
    """
    # This limit belongs to the whole process. It is only ever raised, because another
    # thread may be reading too.
    if csv.field_size_limit() < MAX_RECORD:
        csv.field_size_limit(MAX_RECORD)
    lines: list[str] = []  # of the record being read
    reader = csv.reader(_collected(read_line, lines, name, line), delimiter=delimiter)
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
    read_line: ReadLine, lines: list[str], name: str, first_line: int
) -> Iterator[str]:
    """Yield lines for the parser, and append them to `lines`; at the end append ""."""
    size = 0
    # Lines are read up to a limit: a file may be one line of many gigabytes.
    all_lines = iter(partial(read_line, MAX_RECORD), "")
    for number, line in enumerate(all_lines, first_line):
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
            raise long_line(name, first)
        yield line
    lines.append("")


def long_line(name: str, line: int) -> ReadError:
    """Return the error for a line that is longer than any record."""
    return ReadError(
        f"Line {line} of {name} is longer than 16 MB, so it is not a row of a table. "
        f"Check that the input is a table."
    )


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
