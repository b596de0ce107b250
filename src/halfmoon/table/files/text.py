"""Tables of delimited text: CSV and TSV."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import IO, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from halfmoon.report.findings import Note
from halfmoon.table.errors import ReadError
from halfmoon.table.files.batch import Batch, Table, refuse_doubled_names
from halfmoon.table.files.compression import decompressing, reading
from halfmoon.table.files.encoding import undecodable
from halfmoon.table.files.format import Format
from halfmoon.table.files.plain_lines import PlainLines
from halfmoon.table.files.records import Record, count_lines, read_records
from halfmoon.table.files.source import Source
from halfmoon.table.files.text_pieces import text_pieces
from halfmoon.table.files.title import SEPARATOR, header_number, may_be_title

__all__ = ["TextTable"]

BATCH_CHARACTERS = 2**22  # of raw text; the cells as objects take about ten times it

SEARCHED_RECORDS = 50  # in which the header is looked for, below a title
SEARCHED_CHARACTERS = 2**20

PART_ROWS = 256  # turned into columns at once: their cells fit into the cache


class TextTable(Table):
    """A table whose cells are the exact text that stands in the file.

    Every column is of strings, and an empty cell is the empty string. In a table of
    more than one column a blank line is no row; in a table of one column it is an
    empty cell.

    Attributes
    ----------
    header : str
        The header as it stands in the file, with its line end.
    lead : str
        Lines before the header: blank ones, a title, ``sep=;``.
    """

    def __init__(self, source: Source, found: Format, batch_rows: int) -> None:
        super().__init__(source, batch_rows)
        self.format = found
        with self._opened() as (stream, _):
            found_header = _header(self._read(stream))
        self._n_lead, self.lead, self.header, columns = found_header
        if self.lead.strip() and not SEPARATOR.fullmatch(self.lead):
            self.notes.append(
                Note(
                    f"Line {count_lines(self.lead) + 1} was read as the header; the "
                    f"lines above it were skipped, and stay in a text output."
                )
            )
        if not columns:
            raise ReadError(
                f"{self.name} is empty. A table with a header and rows is needed."
            )
        refuse_doubled_names(columns, self.name)
        try:
            self.schema = pa.schema([(column, pa.string()) for column in columns])
        except UnicodeEncodeError as error:
            raise self._half_character(error) from error

    @property
    def first_row(self) -> int:
        """Number of the first row below the header, as a spreadsheet shows it."""
        hint = SEPARATOR.match(self.lead) is not None  # which is shown nowhere
        return self._n_lead - hint + 2

    def _walk(self) -> Iterator[tuple[Batch, int]]:
        self.blank_lines = sum(not line.strip() for line in self.lead.splitlines())
        held = _Held(self)
        with self._opened() as (stream, file):
            records = self._read(stream)
            before = "".join(raw for _, raw, _ in islice(records, self._n_lead + 1))
            for piece in text_pieces(
                stream,
                str(self.format.delimiter),
                self.name,
                len(self.schema),
                before,
                self._opened,
            ):
                if isinstance(piece, PlainLines):
                    sizes = piece.characters.cumsum()
                    while len(piece):
                        if held.is_full:
                            yield held.batch(), file.tell()
                        n = held.room(sizes)
                        held.add_lines(piece[:n], int(sizes[n - 1]))
                        piece, sizes = piece[n:], sizes[n:] - sizes[n - 1]
                    continue
                for line, raw, cells in piece:
                    checked = self._checked(line, raw, cells)
                    if checked is None:
                        held.add_blank(raw)
                        self.blank_lines += 1
                        continue
                    # Before the row, not behind it: blank lines go with the row above.
                    if held.is_full:
                        yield held.batch(), file.tell()
                    held.add(checked, raw)
            if held.n:
                yield held.batch(), file.tell()

    def _checked(self, line: int, raw: str, cells: list[str]) -> list[str] | None:
        """The cells of a row, or None of a blank line; any other line is refused."""
        width = len(self.schema)
        if len(cells) == width:
            return cells
        if width == 1 and not cells:
            return [""]
        if is_blank(raw, cells):
            return None
        raise self._ragged(line, len(cells))

    def columns_of(self, rows: list[list[str]]) -> Any:
        """Rows of cells as columns."""
        try:
            arrays = [
                pa.array(column, pa.string()) for column in zip(*rows, strict=True)
            ]
        except UnicodeEncodeError as error:
            raise self._half_character(error) from error
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _half_character(self, error: UnicodeEncodeError) -> ReadError:
        # Half of a surrogate pair, which UTF-7 and its like can hold
        half = error.object[error.start]
        return ReadError(
            f"{self.name} holds half a character, {half!a}. Check the encoding."
        )

    def _ragged(self, line: int, n_cells: int) -> ReadError:
        width = len(self.schema)
        cells = "1 cell" if n_cells == 1 else f"{n_cells} cells"
        if width == 1:
            what = (
                f"If another sign than {self.format.delimiter!r} separates the cells, "
                f"name it: delimiter=';' (--delimiter ';')."
            )
        else:
            what = "Give every row as many cells as the header."
        return ReadError(
            f"{self.name}, line {line} has {cells}, but the header has {width}. {what}"
        )

    def _read(self, stream: IO[str]) -> Iterator[Record]:
        return read_records(stream, str(self.format.delimiter), self.name)

    @contextmanager
    def _opened(self) -> Iterator[tuple[IO[str], IO[bytes]]]:
        """The text from the first letter on, and the file that tells how far it is."""
        packing, encoding = self.format.compression, self.format.encoding
        assert encoding is not None
        with self.source.open() as file:
            try:
                with (
                    reading(self.name, packing),
                    decompressing(file, packing) as binary,
                ):
                    binary.read(len(self.format.bom))
                    with io.TextIOWrapper(binary, encoding, newline="") as stream:
                        yield stream, file
            except UnicodeError as error:
                raise self._undecodable(encoding) from error

    def _undecodable(self, encoding: str) -> ReadError:
        packing = self.format.compression
        with (
            reading(self.name, packing),
            self.source.open() as file,
            decompressing(file, packing) as binary,
        ):
            binary.read(len(self.format.bom))
            return undecodable(binary, encoding, self.name)


class _Held:
    """Rows that wait to be a batch."""

    def __init__(self, table: TextTable) -> None:
        self._table = table
        self._begin(0)

    def _begin(self, start: int) -> None:
        self._start, self.n, self._size = start, 0, 0
        self._rows: list[list[str]] = []  # not yet columns
        self._parts: list[Any] = []  # columns
        self._plain: list[PlainLines] = []  # as long as there are only such
        self._raw: list[str] = []
        self._blanks: dict[int, str] = {}

    @property
    def is_full(self) -> bool:
        """Whether the next row belongs to another batch."""
        return self.n == self._table.batch_rows or self._size >= BATCH_CHARACTERS

    def room(self, sizes: NDArray[np.int64]) -> int:
        """How many lines there is room for.

        Parameters
        ----------
        sizes : ndarray of shape (n,)
            Characters of each line and of those before it.
        """
        by_size = int(np.searchsorted(sizes, BATCH_CHARACTERS - self._size)) + 1
        return min(self._table.batch_rows - self.n, by_size, len(sizes))

    def add_lines(self, lines: PlainLines, size: int) -> None:
        """Add lines, with the characters that they have together."""
        if self._raw:
            self._settle()
            self._parts.append(lines.rows(self._table.schema))
            self._raw += lines
        else:
            self._plain.append(lines)
        self.n, self._size = self.n + len(lines), self._size + size

    def add(self, cells: list[str], raw: str) -> None:
        """Add a row."""
        if self._plain:
            lines = PlainLines.joined(self._plain)
            self._parts, self._plain = [lines.rows(self._table.schema)], []
            self._raw = list(lines)
        elif len(self._rows) == PART_ROWS:
            self._settle()
        self._rows.append(cells)
        self._raw.append(raw)
        self.n, self._size = self.n + 1, self._size + len(raw)

    def add_blank(self, raw: str) -> None:
        """Add a blank line, which is no row."""
        self._blanks[self.n] = self._blanks.get(self.n, "") + raw

    def batch(self) -> Batch:
        """What is held, as a batch; nothing is held behind it."""
        raw: Sequence[str]
        if self._plain:
            raw = PlainLines.joined(self._plain)
            rows = raw.rows(self._table.schema)
        else:
            self._settle()
            raw, parts = self._raw, self._parts
            rows = parts[0] if len(parts) == 1 else pa.concat_batches(parts)
        made = Batch(self._start, rows, raw, self._blanks)
        self._begin(self._start + self.n)
        return made

    def _settle(self) -> None:
        """Turn rows into columns."""
        if self._rows:
            self._parts.append(self._table.columns_of(self._rows))
            self._rows = []


def is_blank(raw: str, cells: list[str]) -> bool:
    """Whether a record is a line with nothing or only blanks on it."""
    return len(cells) < 2 and not raw.strip()


def _header(records: Iterator[Record]) -> tuple[int, str, str, list[str]]:
    """How many records precede the header, their text, the header and its cells."""
    lead = ""
    for number, (_, raw, cells) in enumerate(records):
        if is_blank(raw, cells) or (number == 0 and SEPARATOR.fullmatch(raw)):
            lead += raw
            continue
        if may_be_title(cells):
            below, title, header, names = _below_title(records, raw, cells)
            return number + below, lead + title, header, names
        return number, lead, raw, cells
    return 0, lead, "", []


def _below_title(
    records: Iterator[Record], raw: str, cells: list[str]
) -> tuple[int, str, str, list[str]]:
    """The same, where the first record that is not blank may be a title."""
    seen = [(raw, cells)]
    size = 0
    with suppress(ReadError):  # told of when the rows are read
        for _, text, row in islice(records, SEARCHED_RECORDS):
            seen.append((text, row))
            size += len(text)
            if size > SEARCHED_CHARACTERS:
                break
    filled = [i for i, (text, row) in enumerate(seen) if not is_blank(text, row)]
    header = filled[header_number([seen[i][1] for i in filled])]
    return header, "".join(text for text, _ in seen[:header]), *seen[header]
