"""Write a table as JSON objects; objects of the input keep their text."""

from __future__ import annotations

from typing import Any

import pyarrow.types as pt

from halfmoon.table._files.arrow_types import Values, column_text
from halfmoon.table._files.json_objects import changed_object, json_text
from halfmoon.table._files.json_table import JsonTable
from halfmoon.table._files.table_interface import Batch, TableOutput
from halfmoon.table._files.workbook_cells import cell_number

__all__ = ["JsonWriter"]


class JsonWriter(TableOutput):
    """Writes JSON lines, or an array of JSON objects."""

    def __init__(self, *output: Any) -> None:
        super().__init__(*output)
        like, wanted = self._like, self.format
        self._has_lines = wanted.name == "jsonl"
        # Lines of several files can be copied one after the other; arrays cannot.
        same = isinstance(like, JsonTable) or self._has_lines
        self._copies = same and like.format.name == wanted.name
        self._begun = False
        utf8 = self._copies and like.format.encoding == "utf-8"
        self._mark = like.format.bom if utf8 else b""

    def _write(self, batch: Batch, replace: Values, append: Values) -> None:
        changes = self._changes(len(batch), replace, append)
        if self._copies:
            for raw, new in zip(batch.raw or [], changes, strict=True):
                start, stop = raw.index("{"), raw.rindex("}") + 1
                middle = changed_object(raw[start:stop], new)
                self._put(raw[:start] + middle + raw[stop:])
            return
        columns = [self._texts(array) for array in batch.rows.columns]
        names = [json_text(name) for name in self._like.columns]
        for row, new in zip(zip(*columns, strict=True), changes, strict=True):
            pairs = ", ".join(f"{k}: {v}" for k, v in zip(names, row, strict=True))
            self._object(changed_object("{" + pairs + "}", new))

    def finish(self) -> None:
        if isinstance(self._like, JsonTable) and self._copies:
            self._put(self._like.tail)
        elif not self._has_lines:
            self._put("\n]\n" if self._begun else "[]\n")

    def _object(self, text: str) -> None:
        if self._has_lines:
            self._put(text + "\n")
        else:
            self._put((",\n" if self._begun else "[\n") + text)
        self._begun = True

    def _changes(
        self, n: int, replace: Values, append: Values
    ) -> list[dict[str, object]]:
        """Return the new values of each row."""
        rows: list[dict[str, object]] = [{} for _ in range(n)]
        for name, values in replace.items():
            kind = self._types.get(name, self._like.schema.field(name).type)
            kind = None if self._like.is_text else kind
            for row, value in zip(rows, values, strict=True):
                if value is not None and value == value:
                    row[name] = None if value == "" else _typed(value, kind)
        for name, values in append.items():
            for row, value in zip(rows, values, strict=True):
                row[name] = value
        return rows

    def _texts(self, array: Any) -> list[str]:
        """Return the cells of a column as JSON."""
        if self._like.is_text:
            return [_number_or_text(text) for text in array.to_pylist()]
        kind = array.type
        if pt.is_integer(kind) or pt.is_float64(kind) or pt.is_boolean(kind):
            return [json_text(value) for value in array.to_pylist()]
        valid = array.is_valid().to_pylist()
        texts = column_text(array)
        if pt.is_floating(kind):
            return [_number_or_text(text) for text in texts]
        return [
            json_text(t) if v else "null" for t, v in zip(texts, valid, strict=True)
        ]

    def _put(self, text: str) -> None:
        if self._mark:
            self._stream.write(self._mark)
            self._mark = b""
        self._stream.write(text.encode("utf-8", "surrogatepass"))


def _number_or_text(text: str) -> str:
    """Return a text cell as JSON: a number keeps its text, an empty cell is null."""
    if not text:
        return "null"
    return text if cell_number(text) is not None else json_text(text)


def _typed(value: object, kind: Any) -> object:
    """Return a label in the type of its column."""
    if not isinstance(value, str) or kind is None:
        return value
    if not value and not pt.is_string(kind):
        return None
    if pt.is_boolean(kind) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if pt.is_integer(kind) or pt.is_floating(kind):
        number = cell_number(value)
        return value if number is None else number
    return value
