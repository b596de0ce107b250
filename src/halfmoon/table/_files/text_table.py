"""Tables of delimited text: CSV and TSV."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import IO, Any

import pyarrow as pa

from halfmoon._notes import Note
from halfmoon._number_format import count
from halfmoon.table._files.byte_source import Source, decompressed
from halfmoon.table._files.dialect import MARKING, SEPARATOR_LINE
from halfmoon.table._files.formats import Format
from halfmoon.table._files.header_rows import (
    common_width,
    grouped_names,
    header_number,
    may_be_title,
    nameless_column,
)
from halfmoon.table._files.records import (
    PlainLines,
    Record,
    count_lines,
    line_end,
    lines_of,
    pieces,
    read_records,
)
from halfmoon.table._files.table_interface import (
    Batch,
    Table,
    names_apart,
)
from halfmoon.table._table_errors import ReadError

__all__ = ["ShortRows", "TextTable"]

SEARCHED_RECORDS = 50  # in the search for a header below a title
SEARCHED_CHARACTERS = 2**20
SHOWN = 3  # line numbers in a message
PART_ROWS = 256  # converted to columns at once, so that their cells fit into the cache
Part = tuple[Any, Sequence[str], dict[int, str]]  # rows, raw lines, blank lines


class TextTable(Table):
    """A table whose cells are the exact text of the file.

    Every column holds strings, and an empty cell is the empty string. In a table with
    several columns a blank line is not a row; in a table with one column it is an empty
    cell. A row with fewer cells than the header ends in empty cells (`ShortRows`).
    """

    def __init__(self, source: Source, found: Format, batch_rows: int) -> None:
        super().__init__(source, found, batch_rows)
        with self._opened() as (stream, _):
            columns = self._find_header(stream)
        if not columns:
            raise ReadError(
                f"{self.name} is empty. A table with a header and rows is needed."
            )
        columns, notes = names_apart(columns, self.name)
        self.notes += notes
        try:
            self.schema = pa.schema([(column, pa.string()) for column in columns])
        except UnicodeEncodeError as error:
            raise self._half_character(error) from error

    def _find_header(self, stream: IO[str]) -> list[str]:
        """Find the header in the first records, and what is above it; return names."""
        records = read_records(lines_of(stream), self.format, self.name)
        seen: list[Record] = []
        size = 0
        try:
            for record in islice(records, SEARCHED_RECORDS):
                seen.append(record)
                size += len(record[1])
                if size > SEARCHED_CHARACTERS:
                    break
        except ReadError:  # raised again when the rows are read
            if not seen:
                raise
        filled = [
            i
            for i, (_, raw, cells) in enumerate(seen)
            if not _is_blank(raw, cells)
            and not (i == 0 and SEPARATOR_LINE.fullmatch(raw))
        ]
        if not filled:
            return []
        rows = [seen[i][2] for i in filled]
        may_be = may_be_title(rows[0], common_width(rows[1:]))
        at = header_number(rows) if may_be else 0
        names, first, joined = rows[at], filled[at], False
        if grouped := grouped_names(rows[at:]):
            names, joined = grouped.names, grouped.joined
            at += grouped.rows - 1
        self._n_lead = n_lead = filled[at]
        self.lead = "".join(raw for _, raw, _ in seen[:n_lead])
        line, self.header, _ = seen[n_lead]
        self._above = len(self.lead) + len(self.header)
        if joined:
            self.notes.append(_joined_note(seen[first][0], line, names))
        elif self.lead.strip() and not SEPARATOR_LINE.fullmatch(self.lead):
            self.notes.append(
                Note(
                    f"Line {line} was read as the header; the lines above it were "
                    f"skipped, and stay in a text output."
                )
            )
        delimiter = str(self.format.delimiter)
        # A cell with a comma in it would also make rows longer than the header.
        place = nameless_column([names, *rows[at + 1 :]], delimiter != ",")
        if place is not None:
            end = line_end(self.header)
            text = self.header.removesuffix(end)
            self.header = (delimiter + text if place == 0 else text + delimiter) + end
            names = [*names[:place], "", *names[place:]]
            self.notes.append(_nameless_note(place))
        return names

    @property
    def first_row(self) -> int:
        """Number of the first row below the header, as a spreadsheet shows it."""
        hidden = SEPARATOR_LINE.match(self.lead) is not None  # not shown as a row
        return self._n_lead - hidden + 2

    def _read_batches(self) -> Iterator[tuple[Batch, int]]:
        start, blanks = 0, ""
        short = self._short = ShortRows(self.name, len(self.schema))
        last: Batch | None = None  # kept back, for blank lines at the end of the file
        with self._opened() as (stream, file):
            for rows, raw, between in self._parts(stream):
                if not raw:
                    blanks += between.get(0, "")
                    continue
                if last is not None:
                    yield last, file.tell()
                short.rows += len(raw)
                if blanks:
                    between[0] = blanks + between.get(0, "")
                last, blanks = Batch(start, rows, raw, between), ""
                start += len(last)
            if note := short.checked():
                self.notes += [note] * (note not in self.notes)
            if last is not None:
                n = len(last)
                end = {n: last.blanks.get(n, "") + blanks} if blanks else {}
                yield replace(last, blanks={**last.blanks, **end}), file.tell()

    def _parts(self, stream: IO[str]) -> Iterator[Part]:
        """Yield rows of one batch, their raw lines, and the blank lines among them."""
        before = stream.read(self._above)
        line = count_lines(before) + 1
        width = len(self.schema)
        for piece in pieces(stream, self.format, self.name, width, line):
            if not isinstance(piece, PlainLines):
                yield from self._record_parts(piece)
                continue
            for first in range(0, len(piece), self.batch_rows):
                lines = piece[first : first + self.batch_rows]
                yield lines.rows(self.schema), lines, {}

    def _record_parts(self, records: Iterator[Record]) -> Iterator[Part]:
        """Yield the same from parsed records."""
        delimiter = str(self.format.delimiter)
        rows: list[list[str]] = []  # not yet columns
        columns: list[Any] = []
        raws: list[str] = []
        blanks: dict[int, str] = {}
        for line, raw, cells in records:
            row = self._row(line, raw, cells)
            if row is None:
                blanks[len(raws)] = blanks.get(len(raws), "") + raw
                continue
            if missing := len(row) - len(cells or row):
                self._short.lines[line] = len(cells)
                end = line_end(raw)
                raw = raw.removesuffix(end) + delimiter * missing + end
            if len(raws) == self.batch_rows:
                yield pa.concat_batches([*columns, self._columns(rows)]), raws, blanks
                rows, columns, raws, blanks = [], [], [], {}
            elif len(rows) == PART_ROWS:
                columns.append(self._columns(rows))
                rows = []
            rows.append(row)
            raws.append(raw)
        yield pa.concat_batches([*columns, self._columns(rows)]), raws, blanks

    def _row(self, line: int, raw: str, cells: list[str]) -> list[str] | None:
        """Return the cells of a row, or None for a blank line."""
        width = len(self.schema)
        if len(cells) == width:
            return cells
        if width == 1 and not cells:
            return [""]
        if _is_blank(raw, cells):
            return None
        if len(cells) < width:
            return cells + [""] * (width - len(cells))
        many = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
        sign = "tab" if self.format.delimiter == "\t" else self.format.delimiter
        what = (
            f"If another character than {self.format.delimiter!r} separates the cells, "
            f"name it: `delimiter=';'`."
            if width == 1
            else f"Put a cell with {sign!r} in it in quotes; otherwise give every row "
            f"as many cells as the header."
        )
        raise ReadError(
            f"{self.name}, line {line} has {many}, but the header has {width}. {what}"
        )

    def _columns(self, rows: list[list[str]]) -> Any:
        """Return rows of cells as columns."""
        if not rows:
            return self.empty().rows
        try:
            arrays = [
                pa.array(column, pa.string()) for column in zip(*rows, strict=True)
            ]
        except UnicodeEncodeError as error:
            raise self._half_character(error) from error
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _half_character(self, error: UnicodeEncodeError) -> ReadError:
        # Half of a surrogate pair, which UTF-7 and the like can hold
        half = error.object[error.start]
        return ReadError(
            f"{self.name} holds half a character, {half!a}. Check the encoding."
        )

    @contextmanager
    def _opened(self) -> Iterator[tuple[IO[str], IO[bytes]]]:
        """Open the text, and the file, whose position shows the progress."""
        encoding = str(self.format.encoding)
        with decompressed(self.source, self.format.compression) as (binary, file):
            binary.read(len(self.format.bom))
            with io.TextIOWrapper(binary, encoding, MARKING, newline="") as stream:
                yield stream, file


@dataclass
class ShortRows:
    """Rows of a file with fewer cells than the header, in one pass over it.

    Many programs leave out empty cells at the end of a row, so that is what a short row
    means. Two other causes would move cells to a wrong column, and are errors: a name
    in the header with a delimiter in it, which makes every row short; and a line break
    within a cell, which makes two short rows of one.
    """

    name: str  # of the file
    width: int  # cells of the header
    rows: int = 0  # all rows
    lines: dict[int, int] = field(default_factory=dict)  # cells of each short line

    def checked(self) -> Note | None:
        """Return a note on the short rows, None if there is none, or raise an error."""
        if not self.lines:
            return None
        lines = list(self.lines)
        cells = set(self.lines.values())
        if len(lines) == self.rows and len(cells) == 1:
            (each,) = cells
            raise ReadError(
                f"{self.name}: the header has {self.width} cells, but every row has "
                f"{each}. If a name in the header holds the delimiter, put it in "
                f"quotes; otherwise give every row as many cells as the header."
            )
        if self._are_halves():
            raise ReadError(
                f"{self.name}, line {lines[0]} has {self.lines[lines[0]]} of "
                f"{self.width} cells, and the next line the rest: a line break within "
                f"a cell. Put this cell in quotes."
            )
        shown = ", ".join(f"{line:,}" for line in lines[:SHOWN])
        more = f" and {len(lines) - SHOWN:,} more" if len(lines) > SHOWN else ""
        have = "row has" if len(lines) == 1 else "rows have"
        return Note(
            f"{len(lines):,} {have} fewer cells than the header "
            f"(line{'s' * (len(lines) > 1)} {shown}{more}).",
            f"{count(self.width, 'cell')} are needed: the missing ones at the end were "
            f"taken as empty.",
            important=True,
        )

    def _are_halves(self) -> bool:
        """Whether the short rows are pairs of lines that are one row together."""
        lines = list(self.lines)
        pairs = list(zip(lines[::2], lines[1::2], strict=False))
        return len(lines) % 2 == 0 and all(
            second == first + 1
            and self.lines[first] + self.lines[second] == self.width + 1
            for first, second in pairs
        )


def _is_blank(raw: str, cells: list[str]) -> bool:
    """Return whether a record is an empty line, or a line of spaces."""
    return len(cells) < 2 and not raw.strip()


def _joined_note(first: int, last: int, names: list[str]) -> Note:
    example = next((name for name in names if " " in name), names[-1])
    return Note(
        f"Lines {first} to {last} were read as one header, with names such as "
        f"{example!r}. They stay as they are in a text output."
    )


def _nameless_note(place: int) -> Note:
    if place == 0:
        return Note(
            "The header has no name for the first column, the names or numbers of the "
            "rows. A text output has an empty name for it."
        )
    return Note(
        "Every row ends in a delimiter that the header lacks. A text output has it in "
        "the header too."
    )
