"""Write a table as delimited text.

If input and output are text of the same dialect, records are copied character for
character, with new cells at the end. A replaced cell changes nothing else.
"""

from __future__ import annotations

import codecs
import re
from itertools import repeat
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from halfmoon.table._files.arrow_types import (
    Values,
    as_list,
    column_text,
    null_where,
    value_text,
)
from halfmoon.table._files.dialect import SEPARATOR_LINE
from halfmoon.table._files.records import PlainLines, line_end, split_around
from halfmoon.table._files.table_interface import Batch, TableOutput
from halfmoon.table._table_errors import CommandError, OutputError

__all__ = ["NewCells", "TextWriter"]

# Some spreadsheets read wide characters like the narrow ones.
# Signs alone, such as the classes + and -, compute nothing, nor does ="a text".
FORMULA = re.compile(r'(?!="[^"]*"\Z)[=+\-@\t\r\n＝＋－＠](?=.*\w)', re.DOTALL)
# Also with currency or unit, such as -$1,053.20 or -26 kg, but nothing to compute.
NUMBER = re.compile(
    r"[+-]? ?([A-Z]{0,3}[$€£¥₹]|[A-Z]{3})? ?"
    r"([0-9][0-9.,'\u2019 \u00a0\u2009\u202f]*|[.,][0-9]+)([eE][+-]?[0-9]+)?"
    r"[ \u00a0]?[A-Za-z%‰°µ²³€£¥₹/]{0,8}"
)

DIGITS = "0123456789."
EMPTY_ROW = '""'  # of a table of one column, as a blank line is not a row


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
        if not len(batch):
            return
        columns = self._like.columns
        new = {columns.index(name): values for name, values in replace.items()}
        raw = batch.raw if self._copies else self._converted(batch)
        if isinstance(raw, PlainLines):
            around, ends = raw.around(sorted(new))
        else:
            around, ends = split_around(raw or [], self._delimiter, sorted(new))
        text = ends.type
        parts = [around[0]]
        blanks = batch.blanks if self._like.is_text else {}
        if blanks:
            above = [blanks.get(i, "") for i in range(len(batch))]
            parts.insert(0, pa.array(above, text))
        for i, column in enumerate(sorted(new)):
            cell = self._cells.array(new[column]).cast(text)
            if len(columns) == 1:
                empty, row = pc.equal(cell, ""), pa.scalar(EMPTY_ROW, text)
                cell = pc.replace_with_mask(cell, empty, row)
            parts += [pc.coalesce(cell, around[2 * i + 1]), around[2 * i + 2]]
        nothing, delimiter = pa.scalar("", text), pa.scalar(self._delimiter, text)
        for values in append.values():
            cell = self._cells.array(values).cast(text)
            parts += [delimiter, pc.coalesce(cell, nothing)]
        self._put_all(pc.binary_join_element_wise(*parts, ends, nothing))
        self._put(blanks.get(len(batch), ""))

    def _put_all(self, texts: Any) -> None:
        """Write all texts of an array, one after the other."""
        width = np.int64 if pt.is_large_string(texts.type) else np.int32
        offsets = np.frombuffer(texts.buffers()[1], width)[texts.offset :]
        data = texts.buffers()[2][int(offsets[0]) : int(offsets[len(texts)])]
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
        lead, header = self._like.lead, self._like.header
        if not self._like.is_text:
            header = "\n"
        if not self._copies:
            lead = SEPARATOR_LINE.sub("", lead, 1)  # it names another delimiter
            names = self._delimiter.join(map(self._cells.quoted, self._like.columns))
            header = (names or EMPTY_ROW) + line_end(header)
        end = line_end(header)
        cells = [header.removesuffix(end), *map(self._cells.text, added)]
        self._put(lead + self._delimiter.join(cells) + end)

    def _converted(self, batch: Batch) -> list[str]:
        columns = [
            [self._cells.quoted(text) for text in column_text(column)]
            for column in batch.rows.columns
        ]
        records = map(self._delimiter.join, zip(*columns, strict=True))
        raw = batch.raw if self._like.is_text else None
        ends = repeat("\n") if raw is None else map(line_end, raw)
        pairs = zip(records, ends, strict=False)
        return [(record or EMPTY_ROW) + end for record, end in pairs]

    def _put(self, text: str, final: bool = False) -> None:
        try:
            self._stream.write(self._encoder.encode(text, final))
        except UnicodeEncodeError as error:
            raise OutputError(
                f"{self._name} cannot be written: {error.object[error.start]!r} does "
                f"not exist in {self.format.encoding}, the encoding of the input. "
                f"Save the input as UTF-8 first."
            ) from error


class NewCells:
    """Converts values to the text of cells; `formulas` is "escape" or "keep".

    A spreadsheet that opens a CSV file runs cells that begin with certain characters as
    formulas. A new cell may repeat a label from someone else's table, so such a cell
    gets an apostrophe in front, which a spreadsheet reads as "this is text". Numbers
    keep their sign.
    """

    escaped: int  # cells that got an apostrophe

    def __init__(self, delimiter: str, formulas: str) -> None:
        if formulas not in ("escape", "keep"):
            raise CommandError(
                f"formulas is {formulas!r}; 'escape' or 'keep' is needed."
            )
        self.escaped = 0
        self._escape = formulas == "escape"
        self._may_be_numbers = delimiter not in DIGITS + "-"
        self._special = re.compile(rf'["\r\n{re.escape(delimiter)}]|\A\s|\s\Z')

    def array(self, values: Any) -> Any:
        """Return the cells of a column as an Arrow array; None and NaN give null."""
        kind = values.type if isinstance(values, pa.Array) else None
        if kind == pa.float64():
            values = null_where(values, pc.is_nan(values))
        elif kind != pa.string():
            values = as_list(values)
            texts = [v if isinstance(v, str) else value_text(v) or None for v in values]
            values = pa.array(texts, pa.string())
        if kind == pa.string() and self._may_be_numbers and _are_plain_numbers(values):
            return values
        # Labels and confidences repeat, so each distinct value is converted once.
        encoded = values.dictionary_encode()
        distinct = encoded.dictionary.to_pylist()
        if kind == pa.float64():
            cells = pa.array([repr(value) for value in distinct], pa.string())
        else:
            pairs = [self._cell(text) for text in distinct]
            indices = encoded.indices.drop_null().to_numpy()
            counts = np.bincount(indices, minlength=len(pairs)).tolist()
            self.escaped += sum(
                n * escaped for n, (_, escaped) in zip(counts, pairs, strict=True)
            )
            cells = pa.array([text for text, _ in pairs], pa.string())
        return cells.take(encoded.indices)

    def text(self, text: str) -> str:
        """Return the cell of a text."""
        cell, escaped = self._cell(text)
        self.escaped += escaped
        return cell

    def quoted(self, text: str) -> str:
        """Return a text with quotes if it needs them, without an apostrophe."""
        if self._special.search(text):
            return '"' + text.replace('"', '""') + '"'
        return text

    def _cell(self, text: str) -> tuple[str, int]:
        """Return a cell, and 1 if it got an apostrophe."""
        escaped = (
            self._escape
            and FORMULA.match(text) is not None
            and NUMBER.fullmatch(text) is None
        )
        return self.quoted("'" + text if escaped else text), int(escaped)


def _are_plain_numbers(texts: Any) -> bool:
    """Return whether all texts are digits and points, perhaps after a minus.

    They need neither quotes nor an apostrophe.
    """
    start = pc.ascii_rtrim(texts, DIGITS)
    has_minus = pc.and_(pc.equal(start, "-"), pc.not_equal(texts, "-"))
    return bool(pc.all(pc.or_(pc.equal(start, ""), has_minus), min_count=0).as_py())
