"""Tables printed for people, rewritten as CSV: between bars, or aligned with spaces.

Programs for databases, SAP and Markdown print bars, and rules of dashes between the
header and the rows:

.. code-block:: text

    | size | kind |          size  kind              "size" "kind"
    |------|------|       1   4.5  a                 "1" 4.5 "a"
    |  4.5 | a    |       2   5.1  b                 "2" 5.1 "b"

R, pandas and many instruments align columns with spaces, or write a space between
cells. Each row has as many words as the header, or one more, the row number or name; or
else some columns of characters are empty in all rows. A table of one column is not one
of these: without a column of numbers, words with spaces are one text.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import IO

from halfmoon._notes import Note
from halfmoon.table._files.byte_source import Source, decompressed
from halfmoon.table._files.formats import Format
from halfmoon.table._table_errors import ReadError

__all__ = ["csv_source", "printed_note", "row_splitter"]

# The time of each pattern must grow with the length of a line, not with its square.
RULE = re.compile(r"(?=.*?---)[\s|+:=-]*+")
RULE_WITHIN = 4  # lines
BAR = re.compile(r"(?<!\\)\|")
WORD = re.compile(r'"(?:[^"]|"")*"(?!\S)|\S+')
NUMBER = re.compile(r"[+-]?(?:[0-9]++(?:[.,][0-9]*+)?|[.,][0-9]++)(?:[eE][+-]?[0-9]+)?")
MIN_ROWS = 3  # below the header
MAX_SAMPLE = 200  # lines

#: Returns the cells of a line; none for a line that is no row.
Splitter = Callable[[str], list[str]]


def row_splitter(text: str, complete: bool, delimiter: str = ",") -> Splitter | None:
    """Return how to split the lines of a printed table; None for other text.

    `text` is the beginning of the table; unless it is complete, its last line may be
    cut. A header with the delimiter is that of a table with delimiters.
    """
    lines = text.splitlines()
    if not complete:
        lines = lines[:-1]
    lines = [line for line in lines if line.strip()][:MAX_SAMPLE]
    if any(map(RULE.fullmatch, lines[:RULE_WITHIN])):
        return _by_bars(lines)
    if len(lines) <= MIN_ROWS or delimiter in lines[0]:
        return None
    return _by_words(lines) or _by_places(lines)


def _by_bars(lines: list[str]) -> Splitter | None:
    rows = [line for line in lines if not RULE.fullmatch(line) and "|" in line]
    if len(rows) <= MIN_ROWS:
        return None
    framed = all(row.strip()[0] == row.strip()[-1] == "|" for row in rows)
    width = len(BAR.findall(rows[0])) + (-1 if framed else 1)

    def split(line: str) -> list[str]:
        if RULE.fullmatch(line) or "|" not in line:
            return []
        line = line.strip()[1:-1] if framed else line
        return [cell.strip().replace("\\|", "|") for cell in BAR.split(line)]

    return split if all(len(split(row)) == width > 1 for row in rows) else None


def _by_words(lines: list[str]) -> Splitter | None:
    header, *rows = ([_unquoted(word) for word in WORD.findall(line)] for line in lines)
    width = len(rows[0])
    names = ["", *header] if len(header) == width - 1 else header
    if len(names) != width or any(len(row) != width for row in rows):
        return None
    if len(names) < 2 + (names[0] == "") or not _has_numbers(names, rows):
        return None
    first = lines[0]

    def split(line: str) -> list[str]:
        return names if line == first else [_unquoted(w) for w in WORD.findall(line)]

    return split


def _by_places(lines: list[str]) -> Splitter | None:
    """Split at columns of characters that are empty in all lines."""
    long = max(map(len, lines))
    used = [any(line[i : i + 1].strip() for line in lines) for i in range(long)]
    starts = [i for i in range(long) if used[i] and (i == 0 or not used[i - 1])]
    stops = [*starts[1:], None]

    def split(line: str) -> list[str]:
        if any(line[i - 1 : i].strip() for i in starts[1:]):
            return [*line.split(), *[""] * (len(starts) + 1)]  # text between columns
        return [line[i:j].strip() for i, j in zip([0, *starts[1:]], stops, strict=True)]

    header, *rows = map(split, lines)
    if len(header) < 2 or "" in header[1:] or not _has_numbers(header, rows):
        return None
    return split


def _has_numbers(names: list[str], rows: Iterable[list[str]]) -> bool:
    """Whether a column with a name has only numbers below it."""
    for name, *cells in zip(names, *rows, strict=False):
        known = [cell for cell in cells if cell not in ("", "NA", "NaN", ".")]
        numbers = len(known) >= MIN_ROWS and all(map(NUMBER.fullmatch, known))
        if name and numbers and not NUMBER.fullmatch(name):
            return True
    return False


def _unquoted(word: str) -> str:
    quoted = len(word) > 1 and word[0] == word[-1] == '"'
    return word[1:-1].replace('""', '"') if quoted else word


def csv_source(source: Source, found: Format, split: Splitter) -> Source:
    """Copy a printed table to a temporary file, as CSV in UTF-8."""
    with decompressed(source, found.compression) as (binary, _):
        binary.read(len(found.bom))
        with io.TextIOWrapper(binary, str(found.encoding)) as stream:
            write = partial(_write, stream, split, source.name)
            copied = Source(write, source.name)
    copied.origin = source.origin
    source.close()
    return copied


def _write(stream: IO[str], split: Splitter, name: str, file: IO[bytes]) -> None:
    width = 0
    out = io.TextIOWrapper(file, "utf-8", newline="")
    writer = csv.writer(out, lineterminator="\n")
    try:
        for number, line in enumerate(stream, start=1):
            cells = split(line.rstrip("\r\n")) if line.strip() else []
            if not cells:
                continue
            width = width or len(cells)
            if len(cells) != width:
                raise ReadError(
                    f"{name}, line {number} has not the {width} columns of the lines "
                    f"above it. The table looks printed, with spaces or bars between "
                    f"its columns: save it as CSV."
                )
            writer.writerow(cells)
    except UnicodeDecodeError as error:
        raise ReadError(
            f"{name} is not text in {error.encoding.upper()}. Name its encoding: "
            f"`encoding='cp1252'`."
        ) from error
    out.detach()  # which does not close the file


def printed_note() -> Note:
    """Note that a printed table was rewritten."""
    return Note(
        "The table was printed with spaces or bars between its columns. It was read "
        "as if it were CSV, and a text output is CSV."
    )
