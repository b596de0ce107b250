"""Tables of JSON: an object on each line, or one array of objects.

Each object is a row and each key a column, in the order in which keys first appear. A
nested object or array is a cell with its text.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import pyarrow as pa

from halfmoon.table._files.byte_source import Source, decompressed
from halfmoon.table._files.formats import Format
from halfmoon.table._files.json_objects import json_text, skip_blanks
from halfmoon.table._files.records import MAX_RECORD
from halfmoon.table._files.table_interface import Batch, Table
from halfmoon.table._table_errors import ReadError

__all__ = ["JsonTable"]

MAX_ARRAY = 2**28  # characters of an array, which is held in memory
BATCH_CHARACTERS = 2**22
MAX_JSON_COLUMNS = 10_000
INT64 = 2**63
_decode = json.JSONDecoder().raw_decode

Parsed = tuple[str, dict[str, Any] | None]  # text and its object; None for blanks


class JsonTable(Table):
    """A table of JSON objects.

    Attributes
    ----------
    tail : str
        For an array: the text after the last object.
    """

    def __init__(self, source: Source, found: Format, batch_rows: int) -> None:
        super().__init__(source, batch_rows)
        self.format = found
        self.tail = ""
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
        except (pa.ArrowException, OverflowError, UnicodeEncodeError) as error:
            raise self.source.changed() from error
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _find_schema(self) -> Any:
        """Find one type for each key in a pass over all objects."""
        kinds: dict[str, set[type]] = {}
        with self._opened() as (objects, _):
            for _, value in objects:
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
        if not kinds:
            raise ReadError(
                f"{self.name} holds no objects. Objects with keys and values are "
                f"needed, one for each row."
            )
        try:
            return pa.schema([(key, _type(found)) for key, found in kinds.items()])
        except UnicodeEncodeError as error:
            raise ReadError(
                f"{self.name} has half a character in a key. Check the program that "
                f"wrote it."
            ) from error

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
        number = 0
        while line := stream.readline(MAX_RECORD):
            number += 1
            if len(line) >= MAX_RECORD:
                raise ReadError(
                    f"{self.name}, line {number} is longer than 16 MB, so it is not a "
                    f"row of a table. Check that the file is one."
                )
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
                at = skip_blanks(text, at)
                if text.startswith("]", at):
                    break
                value, end = _decode(text, at)
                if not isinstance(value, dict):
                    raise self._no_array(f"it holds {text[at : at + 20]!r}")
                yield text[last:end], value
                last = end
                at = skip_blanks(text, end)
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


def _kind(value: object) -> type:
    if isinstance(value, int) and not isinstance(value, bool):
        return int if -INT64 <= value < INT64 else str
    return type(value)


def _type(kinds: set[type]) -> Any:
    if kinds == {bool}:
        return pa.bool_()
    if kinds == {int}:
        return pa.int64()
    if kinds and kinds <= {int, float}:
        return pa.float64()
    return pa.string()


def _cell(value: Any, kind: Any) -> Any:
    if value is None or value != value:
        return None
    if pa.types.is_string(kind) and not isinstance(value, str):
        return json_text(value)
    return value
