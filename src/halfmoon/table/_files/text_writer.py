"""Write a table as delimited text.

If input and output are text of the same dialect, records are copied character for
character, with new cells at the end. A replaced cell changes nothing else.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import pyarrow.compute as pc

from halfmoon.table._files.csv_quoting import NewCells
from halfmoon.table._files.dialect import SEPARATOR_LINE
from halfmoon.table._files.joined_table import JoinedTable
from halfmoon.table._files.plain_lines import PlainLines
from halfmoon.table._files.records import cell_spans, line_end
from halfmoon.table._files.table_interface import Batch
from halfmoon.table._files.table_output import TableOutput
from halfmoon.table._files.text_table import TextTable
from halfmoon.table._files.typed_values import Values, as_lists, column_text
from halfmoon.table._table_errors import OutputError

__all__ = ["TextWriter"]


class TextWriter(TableOutput):
    """Writes CSV or TSV; `formulas` is "escape" or "keep"."""

    takes_arrays = True

    def __init__(self, *output: Any, formulas: str) -> None:
        super().__init__(*output)
        self._delimiter = str(self.format.delimiter)
        self._copies = self._like.is_text and (
            self._like.format.delimiter == self._delimiter
        )
        self._cells = NewCells(self._delimiter, formulas)
        encoding = str(self.format.encoding)
        self._is_utf8 = codecs.lookup(encoding).name == "utf-8"
        self._encoder = codecs.getincrementalencoder(encoding)()
        self._begun = False

    @property
    def escaped(self) -> int:
        return self._cells.escaped

    def _write(self, batch: Batch, replace: Values, append: Values) -> None:
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
            raw = self._converted(batch)
        for column, values in replace.items():
            raw = self._replaced(raw, self._like.columns.index(column), values)
        new = [self._cells.of(values) for values in append.values()]
        lines = _appended(raw, new, self._delimiter) if new else list(raw)
        if batch.blanks and self._like.is_text:
            lines = _with_blanks(lines, batch.blanks)
        self._put("".join(lines))

    def _write_plain(self, lines: PlainLines, replace: Values, append: Values) -> None:
        """Write lines without quotes, all at once."""
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
        if not self._begun:
            self._begin([])
        self._put("", final=True)

    def _begin(self, added: list[str]) -> None:
        self._begun = True
        self._stream.write(self.format.bom)
        lead, header = "", "\n"
        if isinstance(self._like, (TextTable, JoinedTable)) and self._like.is_text:
            lead, header = self._like.lead, self._like.header
        if not self._copies:
            lead = SEPARATOR_LINE.sub("", lead, 1)  # it names another delimiter
            names = self._delimiter.join(map(self._cells.quoted, self._like.columns))
            header = self._not_blank(names) + line_end(header)
        new = [[self._cells.text(name)] for name in added]
        if new:
            (header,) = _appended([header], new, self._delimiter)
        self._put(lead + header)

    def _converted(self, batch: Batch) -> list[str]:
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
        # NaN leaves the cell unchanged, like None.
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
        """Quote the only, empty cell of a record: a blank line is not a row."""
        return record or '""'

    def _put(self, text: str, final: bool = False) -> None:
        try:
            self._stream.write(self._encoder.encode(text, final))
        except UnicodeEncodeError as error:
            raise OutputError(
                f"{self._name} cannot be written: {error.object[error.start]!r} does "
                f"not exist in {self.format.encoding}, the encoding of the input. "
                f"Save the input as UTF-8 first."
            ) from error


def _appended(
    raw: Sequence[str], new: Sequence[Sequence[str]], delimiter: str
) -> list[str]:
    """Add new cells at the end of each record, before its line end."""
    tails = map(delimiter.join, zip(*new, strict=True))
    records = []
    for text, tail in zip(raw, tails, strict=True):
        end = line_end(text)
        records.append(f"{text.removesuffix(end)}{delimiter}{tail}{end}")
    return records


def _with_blanks(lines: list[str], blanks: Mapping[int, str]) -> list[str]:
    """Put the blank lines back between the records."""
    return [blanks.get(i, "") + line for i, line in enumerate([*lines, ""])]
