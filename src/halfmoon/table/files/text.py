"""Tables of delimited text: CSV and TSV."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from typing import IO, Any

import pyarrow as pa

from halfmoon.report.findings import Note
from halfmoon.table.errors import ReadError
from halfmoon.table.files.batch import Batch, Table, refuse_doubled_names
from halfmoon.table.files.compression import decompressing, reading
from halfmoon.table.files.encoding import undecodable
from halfmoon.table.files.format import Format
from halfmoon.table.files.records import read_records
from halfmoon.table.files.source import Source
from halfmoon.table.files.title import SEPARATOR, header_number, may_be_title

__all__ = ["TextTable"]

BATCH_CHARACTERS = 2**22  # of raw text; the cells as objects take about ten times it

SEARCHED_RECORDS = 50  # in which the header is looked for, below a title
SEARCHED_CHARACTERS = 2**20

PART_ROWS = 256  # turned into columns at once: their cells fit into the cache

Record = tuple[int, str, list[str]]  # line, text, cells


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
        with self._records() as (records, _):
            self._n_lead, self.lead, self.header, columns = _header(records)
        if self.lead.strip() and not SEPARATOR.fullmatch(self.lead):
            self.notes.append(
                Note(
                    f"Line {_count_lines(self.lead) + 1} was read as the header; the "
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
        width = len(self.schema)
        self.blank_lines = sum(not line.strip() for line in self.lead.splitlines())
        start, size = 0, 0
        rows: list[list[str]] = []
        parts: list[Any] = []  # rows before these, as columns
        raws: list[str] = []
        blanks: dict[int, str] = {}
        with self._records() as (records, file):
            for _ in range(self._n_lead + 1):
                next(records, None)
            for line, raw, cells in records:
                if len(cells) != width:
                    if width == 1 and not cells:
                        cells = [""]
                    elif is_blank(raw, cells):
                        blanks[len(raws)] = blanks.get(len(raws), "") + raw
                        self.blank_lines += 1
                        continue
                    else:
                        raise self._ragged(line, len(cells))
                # Before the row, not behind it: blank lines go with the row above.
                if len(raws) == self.batch_rows or size >= BATCH_CHARACTERS:
                    parts.append(self._columns(rows))
                    yield self._batch(start, parts, raws, blanks), file.tell()
                    start, size = start + len(raws), 0
                    rows, parts, raws, blanks = [], [], [], {}
                elif len(rows) == PART_ROWS:
                    parts.append(self._columns(rows))
                    rows = []
                rows.append(cells)
                raws.append(raw)
                size += len(raw)
            if raws:
                parts.append(self._columns(rows))
                yield self._batch(start, parts, raws, blanks), file.tell()

    def _columns(self, rows: list[list[str]]) -> Any:
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

    def _batch(
        self, start: int, parts: list[Any], raws: list[str], blanks: dict[int, str]
    ) -> Batch:
        rows = parts[0] if len(parts) == 1 else pa.concat_batches(parts)
        return Batch(start, rows, raws, blanks)

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

    @contextmanager
    def _records(self) -> Iterator[tuple[Iterator[Record], IO[bytes]]]:
        """Records from the first on, and the raw file that tells how far they are."""
        packing, encoding = self.format.compression, self.format.encoding
        assert encoding is not None
        assert self.format.delimiter is not None
        with self.source.open() as file:
            try:
                with (
                    reading(self.name, packing),
                    decompressing(file, packing) as binary,
                ):
                    binary.read(len(self.format.bom))
                    with io.TextIOWrapper(binary, encoding, newline="") as stream:
                        records = read_records(stream, self.format.delimiter, self.name)
                        yield records, file
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


def _count_lines(text: str) -> int:
    return text.count("\n") + text.count("\r") - text.count("\r\n")


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
