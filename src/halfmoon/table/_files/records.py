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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain
from typing import IO, Any, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from halfmoon.table._files.dialect import undecodable_byte
from halfmoon.table._files.formats import Format
from halfmoon.table._table_errors import ReadError

__all__ = [
    "PlainLines",
    "Record",
    "count_lines",
    "line_end",
    "lines_of",
    "long_line",
    "pieces",
    "plain_lines",
    "read_records",
    "split_around",
]

LINE_FEED, RETURN = 10, 13
MAX_RECORD = 2**24  # characters; a longer record means that a quote never closes
PIECE_CHARACTERS = 2**21  # as Python strings, they take about ten times as much

Record = tuple[int, str, list[str]]  # line, text, cells
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


def pieces(
    stream: IO[str],  # opened with newline=""
    found: Format,
    name: str,  # of the file, in messages
    width: int,  # cells of a line
    line: int,  # number of the next line
) -> Iterator[PlainLines | Iterator[Record]]:
    """Yield the rest of a text as plain lines or as records, piece by piece.

    The records of one piece must be used before the next.
    """

    def records(text: str) -> Iterator[Record]:
        """Yield the records of a piece; the last one may end further on."""
        nonlocal line
        lines = chain(lines_of(io.StringIO(text, newline="")), lines_of(stream))
        left = len(text)
        for number, raw, cells in read_records(lines, found, name, line):
            yield number, raw, cells
            left -= len(raw)
            if left <= 0:
                line = number + count_lines(raw)
                return

    delimiter = str(found.delimiter)
    while text := stream.read(PIECE_CHARACTERS):
        if not text.endswith("\n"):
            text += stream.readline(MAX_RECORD)
        plain = None
        if delimiter.isascii() and len(text) < MAX_RECORD:
            plain = plain_lines(text, delimiter, width)
        if plain is None:
            yield records(text)
        else:
            line += len(plain)
            yield plain


def lines_of(stream: IO[str]) -> Iterator[str]:
    """Yield lines, or as much of them as a record may have.

    A file may be one line of many gigabytes.
    """
    return iter(partial(stream.readline, MAX_RECORD), "")


def read_records(
    lines: Iterator[str], found: Format, name: str, first_line: int = 1
) -> Iterator[Record]:
    """Yield the line number, the text with its line end, and the cells of each record.

    A record spans several lines if a quoted cell holds line ends. A blank line is a
    record without cells.
    """
    # This limit belongs to the whole process. It is only ever raised, because another
    # thread may be reading too.
    if csv.field_size_limit() < MAX_RECORD:
        csv.field_size_limit(MAX_RECORD)
    open_lines: list[str] = []  # of the record being read
    checked = _checked(lines, open_lines, found, name, first_line)
    reader = csv.reader(checked, delimiter=str(found.delimiter))
    line = first_line
    try:
        for cells in reader:
            if not open_lines[-1]:  # the text ended within the record
                raise _unclosed(name, line, "is never closed")
            raw = "".join(open_lines) if len(open_lines) > 1 else open_lines[0]
            open_lines.clear()
            yield line, raw, cells
            line = first_line + reader.line_num
    except csv.Error as error:
        raise ReadError(f"{name}, line {line} cannot be read: {error}.") from error


def _checked(
    lines: Iterator[str], record: list[str], found: Format, name: str, first_line: int
) -> Iterator[str]:
    """Yield lines for the parser, and append them to `record`; at the end append ""."""
    size = 0
    for number, line in enumerate(lines, first_line):
        size = size + len(line) if record else len(line)
        record.append(line)
        if "\0" in line:
            raise _null_byte(name, number, line)
        if not line.isascii() and (byte := undecodable_byte(line)) is not None:
            # Of Windows; it also reads all letters of latin-1, which has no euro sign.
            other = "`encoding='utf-8'`"
            if found.encoding == "utf-8":
                other = (
                    "`encoding='cp1252'`, or shift_jis, gb18030 or cp1251 for "
                    "Japanese, Chinese or Cyrillic letters"
                )
            raise ReadError(
                f"{name}, line {number}: byte 0x{byte:02x} is not "
                f"{str(found.encoding).upper()}. If the file is in another encoding, "
                f"name it: {other}."
            )
        if size >= MAX_RECORD:
            first = number - len(record) + 1
            if '"' in line or len(record) > 1:
                raise _unclosed(name, first, "is not closed within 16 MB")
            raise long_line(name, first)
        yield line
    record.append("")


def _null_byte(name: str, number: int, line: str) -> ReadError:
    """Return the error for a null byte; every other one is one of UTF-16."""
    share = line.count("\0") / len(line)
    order = "be" if line[0] == "\0" else "le"
    for bits, low, high in ((16, 0.4, 0.6), (32, 0.65, 0.8)):
        if low <= share <= high:
            return ReadError(
                f"{name}, line {number} holds null bytes, as text in UTF-{bits} does. "
                f"Name the encoding: `encoding='utf-{bits}-{order}'`."
            )
    return ReadError(
        f"{name}, line {number} holds a null byte, which text does not have. If it is "
        f"a table of text, remove such bytes: tr -d '\\0' < FILE > CLEAN_FILE."
    )


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


def split_around(
    records: Sequence[str], delimiter: str, columns: Sequence[int]
) -> tuple[list[Any], Any]:
    """Do the same as `PlainLines.around` for records that may hold quotes.

    Examples
    --------
    >>> parts, ends = split_around(['a,"b,c",d'], ",", [1])
    >>> [part.to_pylist() for part in parts]
    [['a,'], ['"b,c"'], [',d']]
    """
    ends = [line_end(record) for record in records]
    cells = _cells_pattern(delimiter, tuple(columns))
    rows = []
    for record, end in zip(records, ends, strict=True):
        found = cells.fullmatch(record, 0, len(record) - len(end))
        assert found is not None  # an empty cell matches too
        rows.append(found.groups())
    # The new text of many records may be longer than 32-bit offsets reach.
    text = pa.large_string()
    parts = [pa.array(part, text) for part in zip(*rows, strict=True)]
    return parts, pa.array(ends, text)


@lru_cache(maxsize=8)
def _cells_pattern(delimiter: str, columns: tuple[int, ...]) -> re.Pattern[str]:
    """Return a pattern whose groups are some cells and the texts around them."""
    sign = re.escape(delimiter)
    # Like the parser: a quote counts only at the start of a cell, and text after the
    # closing quote belongs to the cell. Possessive quantifiers keep the time linear.
    cell = rf'(?:"(?:[^"]++|"")*+")?+[^{sign}]*+'
    pattern, done = "", 0
    for column in columns:
        if done:
            pattern += rf"({sign}(?:{cell}{sign}){{{column - done}}})({cell})"
        else:
            pattern += rf"((?:{cell}{sign}){{{column}}})({cell})"
        done = column + 1
    return re.compile(pattern + "(.*+)", re.DOTALL)
