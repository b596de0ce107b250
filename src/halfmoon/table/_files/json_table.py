"""Tables of JSON: an object on each line, or one array of objects.

Each object is a row and each key a column, in the order in which keys first appear. A
nested object or array is a cell with its text. Objects that are written again keep
their text, except for the values that change.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import pyarrow as pa
import pyarrow.types as pt

from halfmoon.table._files.arrow_types import (
    Values,
    cell_number,
    column_text,
    typed_label,
)
from halfmoon.table._files.byte_source import Source, decompressed
from halfmoon.table._files.formats import Format
from halfmoon.table._files.records import MAX_RECORD, lines_of, long_line
from halfmoon.table._files.table_interface import Batch, Table, TableOutput
from halfmoon.table._table_errors import ReadError

__all__ = ["JsonTable", "JsonWriter"]

MAX_ARRAY = 2**28  # characters of an array, which is held in memory
BATCH_CHARACTERS = 2**22
MAX_JSON_COLUMNS = 10_000
INT64 = 2**63
FLOAT_INTEGERS = 2**53  # beyond it, not every integer is a float64
BLANKS = re.compile(r"[ \t\r\n]*")
_decode = json.JSONDecoder().raw_decode

Parsed = tuple[str, dict[str, Any] | None]  # text and its object; None for blanks


class JsonTable(Table):
    """A table of JSON objects."""

    tail = ""  # of an array: the text after the last object

    def __init__(self, source: Source, found: Format, batch_rows: int) -> None:
        super().__init__(source, found, batch_rows)
        self.schema = self._find_schema()

    def _read_batches(self) -> Iterator[tuple[Batch, int]]:
        start, size, blanks = 0, 0, ""
        rows: list[dict[str, Any]] = []
        raws: list[str] = []  # each with the blank lines before it
        with self._opened() as (objects, file):
            for raw, value in objects:
                if value is None:
                    blanks += raw
                    continue
                if len(rows) == self.batch_rows or size >= BATCH_CHARACTERS:
                    yield Batch(start, self._columns(rows), raws), file.tell()
                    start, size = start + len(rows), 0
                    rows, raws = [], []
                rows.append(value)
                raws.append(blanks + raw)
                size, blanks = size + len(raw), ""
            if rows:
                raws[-1] += blanks
                yield Batch(start, self._columns(rows), raws), file.tell()

    def _columns(self, rows: list[dict[str, Any]]) -> Any:
        try:
            arrays = [
                pa.array(
                    [_cell(row.get(field.name), field.type) for row in rows], field.type
                )
                for field in self.schema
            ]
        except UnicodeEncodeError as error:
            raise self._half_character("a value") from error
        except (pa.ArrowException, OverflowError) as error:
            raise self.source.changed() from error
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _find_schema(self) -> Any:
        """Find one type for each key in a pass over all objects."""
        kinds: dict[str, set[type]] = {}
        n, other = 0, ""
        with self._opened() as (objects, _):
            for _, value in objects:
                n += value is not None
                other = (other or _other_layout(value)) if n == 1 else ""
                for key, cell in (value or {}).items():
                    found = kinds.setdefault(key, set())
                    if cell is not None and cell == cell:
                        found.add(_kind(cell))
                if len(kinds) > MAX_JSON_COLUMNS:
                    raise ReadError(
                        f"{self.name} has objects with more than {MAX_JSON_COLUMNS:,} "
                        f"different keys, so it is not a table. Give one with the same "
                        f"keys in each object."
                    )
        if other:
            raise ReadError(f"{self.name} holds one object with {other}.")
        if not kinds:
            raise ReadError(
                f"{self.name} holds no objects. Objects with keys and values are "
                f"needed, one for each row."
            )
        try:
            return pa.schema([(key, _type(found)) for key, found in kinds.items()])
        except UnicodeEncodeError as error:
            raise self._half_character("a key") from error

    def _half_character(self, where: str) -> ReadError:
        # Half of a surrogate pair, which JSON can escape
        return ReadError(
            f"{self.name} has half a character in {where}. Check the program that "
            f"wrote it."
        )

    @contextmanager
    def _opened(self) -> Iterator[tuple[Iterator[Parsed], IO[bytes]]]:
        with decompressed(self.source, self.format.compression) as (binary, file):
            binary.read(len(self.format.bom))
            encoding = self.format.encoding or "utf-8"
            try:
                with io.TextIOWrapper(binary, encoding, newline="") as stream:
                    lines = self.format.name == "jsonl"
                    yield (self._lines if lines else self._array)(stream), file
            except UnicodeError as error:
                raise ReadError(
                    f"{self.name} is not text in {encoding.upper()}. Save it as UTF-8, "
                    f"which JSON needs."
                ) from error

    def _lines(self, stream: IO[str]) -> Iterator[Parsed]:
        for number, line in enumerate(lines_of(stream), start=1):
            if len(line) >= MAX_RECORD:
                raise long_line(self.name, number)
            yield line, self._parsed(line, number) if line.strip() else None

    def _parsed(self, line: str, number: int) -> dict[str, Any]:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ReadError(
                f"{self.name}, line {number} is not JSON: {error}. Give one object on "
                f"each line."
            ) from error
        if not isinstance(value, dict):
            raise ReadError(
                f"{self.name}, line {number} is not an object such as "
                f'{{"size": 2, "kind": "a"}}. Give one object on each line.'
            )
        return value

    def _array(self, stream: IO[str]) -> Iterator[Parsed]:
        text = stream.read(MAX_ARRAY + 1)
        if len(text) > MAX_ARRAY:
            raise ReadError(
                f"{self.name} is an array of more than {MAX_ARRAY // 2**20} MB, "
                f"which is held in memory. Write one object on each line instead: "
                f"jq -c '.[]' FILE > table.jsonl"
            )
        last, at = 0, len(text) - len(text.lstrip())
        if text[at : at + 1] != "[":
            raise self._no_array("it does not begin with [")
        at += 1
        try:
            while True:
                at = _skip_blanks(text, at)
                if text.startswith("]", at):
                    break
                value, end = _decode(text, at)
                if not isinstance(value, dict):
                    raise self._no_array(f"it holds {text[at : at + 20]!r}")
                yield text[last:end], value
                last = end
                at = _skip_blanks(text, end)
                if text.startswith(",", at):
                    at += 1
                elif not text.startswith("]", at):
                    raise self._no_array(f"a comma is missing at character {at + 1}")
        except (ValueError, RecursionError) as error:
            if isinstance(error, ReadError):
                raise
            raise self._no_array(str(error)) from error
        if text[at + 1 :].strip():
            raise self._no_array("more text follows its end")
        self.tail = text[last:]

    def _no_array(self, why: str) -> ReadError:
        return ReadError(
            f"{self.name} is not an array of objects: {why}. Give [{{...}}, {{...}}], "
            f"or one object on each line."
        )


MIN_ROWS = 10  # in a list of objects that is a table


class _LongInteger:
    """The kind of an integer that float64 may not hold."""


def _other_layout(value: dict[str, Any] | None) -> str:
    """Return how an object holds a table, and what to do; empty if it is a row."""
    items = (value or {}).items()
    for key, cells in items:
        is_list = isinstance(cells, list) and len(cells) >= MIN_ROWS
        if is_list and all(isinstance(cell, dict) for cell in cells):
            get = f"jq -c '.[{json.dumps(key)}][]' FILE"
            return f"the rows in {key!r}; they alone are needed. With jq: {get}"
    keys = {tuple(each) if isinstance(each, dict) else () for _, each in items}
    names = keys.pop() if len(keys) == 1 and len(items) > 1 else ()
    if not names or not all(map(str.isdecimal, names)):
        return ""
    return (
        "the cells of each column; an object for each row is needed. With pandas: "
        "to_json(orient='records', lines=True)"
    )


def _kind(value: object) -> type:
    if isinstance(value, int) and not isinstance(value, bool):
        if not -INT64 <= value < INT64:
            return str
        return int if abs(value) <= FLOAT_INTEGERS else _LongInteger
    return type(value)


def _type(kinds: set[type]) -> Any:
    if kinds == {bool}:
        return pa.bool_()
    if kinds and kinds <= {int, _LongInteger}:
        return pa.int64()
    if kinds and kinds <= {int, float}:
        return pa.float64()
    return pa.string()  # also of long integers beside fractions, to keep all digits


def _cell(value: Any, kind: Any) -> Any:
    if value is None or value != value:
        return None
    if pa.types.is_string(kind) and not isinstance(value, str):
        return json_text(value)
    return value


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
            is_typed = not self._like.is_text and not pt.is_decimal(kind)
            for row, value in zip(rows, values, strict=True):
                if isinstance(value, str) and value and is_typed:
                    row[name] = typed_label(value, kind)
                elif value is not None and value == value:
                    row[name] = None if value == "" else value
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


def object_spans(text: str) -> dict[str, tuple[int, int]]:
    """Return where the value of each key begins and ends in the text of an object.

    Examples
    --------
    >>> object_spans('{"a": 1.50, "b": [2]}')
    {'a': (6, 10), 'b': (17, 20)}
    """
    spans: dict[str, tuple[int, int]] = {}
    at = _skip_blanks(text, text.index("{") + 1)
    while text[at] != "}":
        key, at = _decode(text, at)
        at = _skip_blanks(text, _skip_blanks(text, at) + 1)  # after the colon
        _, end = _decode(text, at)
        spans[key] = at, end
        at = _skip_blanks(text, end)
        if text[at] == ",":
            at = _skip_blanks(text, at + 1)
    return spans


def changed_object(text: str, values: dict[str, object]) -> str:
    """Replace values in the text of an object, and add new keys at its end.

    Examples
    --------
    >>> changed_object('{"a": 1.50, "b": null}', {"b": "x", "c": 2})
    '{"a": 1.50, "b": "x", "c": 2}'
    """
    spans = object_spans(text)
    existing = sorted((spans[key], key) for key in values if key in spans)
    for (start, end), key in reversed(existing):
        text = text[:start] + json_text(values[key]) + text[end:]
    new = [
        f"{json_text(key)}: {json_text(value)}"
        for key, value in values.items()
        if key not in spans
    ]
    if not new:
        return text
    end = len(text[: text.rindex("}")].rstrip())
    comma = ", " if spans else ""
    return text[:end] + comma + ", ".join(new) + text[end:]


def json_text(value: Any) -> str:
    """Return a value as JSON; None, NaN and infinity are null."""
    if hasattr(value, "item"):  # a NumPy scalar
        value = value.item()
    if isinstance(value, float) and (value != value or value in (1e999, -1e999)):
        return "null"
    return json.dumps(value, ensure_ascii=False, default=str)


def _skip_blanks(text: str, at: int) -> int:
    return BLANKS.match(text, at).end()  # type: ignore[union-attr]
