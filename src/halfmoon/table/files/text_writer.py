"""Write a table as delimited text, its own records as they stood.

Where input and output are text of one dialect, a record is copied letter by letter
and new cells are put behind it; a replaced cell changes its own letters only.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from typing import IO, cast

import numpy as np
import pyarrow.compute as pc

from halfmoon.table.errors import OutputError
from halfmoon.table.files.batch import Batch, Table
from halfmoon.table.files.cells import NewCells
from halfmoon.table.files.format import Format
from halfmoon.table.files.joined import JoinedTable
from halfmoon.table.files.plain_lines import PlainLines
from halfmoon.table.files.records import cell_spans, line_end
from halfmoon.table.files.text import TextTable
from halfmoon.table.files.title import SEPARATOR
from halfmoon.table.files.values import Values, as_lists, column_text

__all__ = ["TextWriter"]


class TextWriter:
    """Records of a table, with cells replaced and columns added, as text.

    Parameters
    ----------
    stream : binary stream
    like : Table
        The table that the batches come from.
    wanted : Format
        Of the output.
    formulas : {"escape", "keep"}
    name : str
        What to call the output in an error.
    """

    takes_arrays = True

    def __init__(
        self, stream: IO[bytes], like: Table, wanted: Format, formulas: str, name: str
    ) -> None:
        assert wanted.delimiter is not None
        assert wanted.encoding is not None
        self._stream = stream
        self._like = like
        self._delimiter = wanted.delimiter
        self._format = wanted
        self._copies = like.is_text and like.format.delimiter == wanted.delimiter
        self._cells = NewCells(wanted.delimiter, formulas)
        self._is_utf8 = codecs.lookup(wanted.encoding).name == "utf-8"
        self._encoder = codecs.getincrementalencoder(wanted.encoding)()
        self._name = name
        self._begun = False

    @property
    def escaped(self) -> int:
        """How many cells would have been formulas and are text now."""
        return self._cells.escaped

    def write(self, batch: Batch, replace: Values, append: Values) -> None:
        """Write the rows of a batch."""
        if not self._begun:
            self._begin(list(append))
        plain = isinstance(batch.raw, PlainLines) and not batch.blanks
        if self._copies and plain and len(self._like.columns) > 1:
            self._write_plain(cast(PlainLines, batch.raw), replace, append)
            return
        replace, append = as_lists(replace), as_lists(append)
        if self._copies:
            raw: Sequence[str] = batch.raw or []
        else:
            raw = self._written_anew(batch)
        for column, values in replace.items():
            raw = self._replaced(raw, self._like.columns.index(column), values)
        new = [self._cells.of(values) for values in append.values()]
        lines = _appended(raw, new, self._delimiter) if new else list(raw)
        if batch.blanks and self._like.is_text:
            lines = _with_blanks(lines, batch.blanks)
        self._put("".join(lines))

    def _write_plain(self, lines: PlainLines, replace: Values, append: Values) -> None:
        """Write lines without quotes, all of them at once."""
        new = {self._like.columns.index(name): v for name, v in replace.items()}
        around, ends = lines.around(sorted(new))
        parts = [around[0]]
        for i, column in enumerate(sorted(new)):
            cell = self._cells.array(new[column])
            parts += [pc.coalesce(cell, around[2 * i + 1]), around[2 * i + 2]]
        for values in append.values():
            cell = self._cells.array(values)
            parts += [self._delimiter, pc.coalesce(cell, "")]
        joined = pc.binary_join_element_wise(*parts, ends, "")
        start, stop = joined.offset, joined.offset + len(joined)
        offsets = np.frombuffer(joined.buffers()[1], np.int32)
        data = joined.buffers()[2][int(offsets[start]) : int(offsets[stop])]
        if self._is_utf8:
            self._stream.write(data)
        else:
            self._put(data.to_pybytes().decode())

    def finish(self) -> None:
        """Write what is still due: the header of a table without rows."""
        if not self._begun:
            self._begin([])
        self._put("", final=True)

    def abandon(self) -> None:
        """Nothing is held that would have to be let go."""

    def _begin(self, added: list[str]) -> None:
        self._begun = True
        self._stream.write(self._format.bom)
        lead, header = "", "\n"
        if isinstance(self._like, (TextTable, JoinedTable)) and self._like.is_text:
            lead, header = self._like.lead, self._like.header
        if not self._copies:
            lead = SEPARATOR.sub("", lead, 1)  # it names another delimiter
            names = self._delimiter.join(map(self._cells.quoted, self._like.columns))
            header = self._not_blank(names) + line_end(header)
        new = [[self._cells.text(name)] for name in added]
        if new:
            (header,) = _appended([header], new, self._delimiter)
        self._put(lead + header)

    def _written_anew(self, batch: Batch) -> list[str]:
        columns = [
            [self._cells.quoted(text) for text in column_text(column)]
            for column in batch.rows.columns
        ]
        records = map(self._delimiter.join, zip(*columns, strict=True))
        if batch.raw is None or not self._like.is_text:
            return [self._not_blank(record) + "\n" for record in records]
        return [
            self._not_blank(record) + line_end(raw)
            for record, raw in zip(records, batch.raw, strict=True)
        ]

    def _replaced(
        self, raw: Sequence[str], number: int, values: Sequence[object]
    ) -> list[str]:
        records = list(raw)
        delimiter = self._delimiter
        # Not a number is no value, as None is none.
        places = [i for i, v in enumerate(values) if v is not None and v == v]
        cells = self._cells.of([values[i] for i in places])
        for i, cell in zip(places, cells, strict=True):
            end = line_end(records[i])
            record = records[i].removesuffix(end)
            if '"' in record:
                start, stop = cell_spans(record, delimiter)[number]
                record = record[:start] + cell + record[stop:]
            else:
                parts = record.split(delimiter)
                parts[number] = cell
                record = delimiter.join(parts)
            records[i] = self._not_blank(record) + end
        return records

    def _not_blank(self, record: str) -> str:
        """A record of one empty cell as a quoted cell: a blank line may be no row."""
        return record or '""'

    def _put(self, text: str, final: bool = False) -> None:
        try:
            self._stream.write(self._encoder.encode(text, final))
        except UnicodeEncodeError as error:
            raise OutputError(
                f"{self._name} cannot be written: {error.object[error.start]!r} does "
                f"not exist in the encoding {self._format.encoding} of the input. "
                f"Save the input as UTF-8 first."
            ) from error


def _appended(
    raw: Sequence[str], new: Sequence[Sequence[str]], delimiter: str
) -> list[str]:
    """Records with new cells behind the last one and the line end behind those."""
    tails = map(delimiter.join, zip(*new, strict=True))
    records = []
    for text, tail in zip(raw, tails, strict=True):
        if text.endswith("\n"):
            cut = -2 if text.endswith("\r\n") else -1
        elif text.endswith("\r"):
            cut = -1
        else:
            records.append(f"{text}{delimiter}{tail}")
            continue
        records.append(f"{text[:cut]}{delimiter}{tail}{text[cut:]}")
    return records


def _with_blanks(lines: list[str], blanks: Mapping[int, str]) -> list[str]:
    """Records with the blank lines where they were."""
    return [
        part
        for i in range(len(lines) + 1)
        for part in (blanks.get(i, ""), lines[i] if i < len(lines) else "")
        if part
    ]
