"""Several files with the same columns as one table, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain, permutations
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from halfmoon.table._files.arrow_types import is_text
from halfmoon.table._files.byte_source import Source
from halfmoon.table._files.records import line_end
from halfmoon.table._files.table_interface import Batch, Table
from halfmoon.table._table_errors import ReadError

__all__ = ["JoinedTable", "as_schema"]


class JoinedTable(Table):
    """Tables of one format with the same columns, as one.

    For text, `lead` and `header` are those of the first file.
    """

    def __init__(self, tables: Iterable[Table], name: str) -> None:
        with ExitStack() as opened:
            self._tables = [opened.enter_context(table) for table in tables]
            first, *others = self._tables
            self.schema = first.schema
            for other in others:
                _refuse_different(first, other)
                self.schema = _common_schema(self.schema, other)
            opened.pop_all()
        sources = [table.source for table in self._tables]
        super().__init__(_JoinedSource(sources, name), first.format, 0)
        self.lead, self.header = first.lead, first.header
        self._file_schema = self.schema
        self.notes = list(first.notes)

    @property
    def first_row(self) -> int:
        """Number of the first row, as in the first file."""
        return self._tables[0].first_row

    def _read_batches(self) -> Iterator[tuple[Batch, int]]:
        for _, batch, read in self._read_numbered():
            yield batch, read

    def _read_numbered(self) -> Iterator[tuple[int, Batch, int]]:
        """Yield the number of a table, a batch of it, and the bytes read so far."""
        start = done = 0
        for number, table in enumerate(self._tables):
            is_last = number == len(self._tables) - 1
            for batch, read in table._read_batches():
                rows = as_schema(batch.rows, self._file_schema)
                raw = batch.raw
                if raw and not is_last and not line_end(raw[-1]):
                    # The next file continues after the last line of this one.
                    end = line_end(raw[0]) or line_end(self.header) or "\n"
                    raw = [*raw[:-1], raw[-1] + end]
                joined = replace(batch, start=start, rows=rows, raw=raw)
                yield number, joined, done + read
                start += len(batch)
            done += table.source.size


def as_schema(rows: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Convert rows of one file to the types of all files together."""
    if rows.schema.equals(schema):
        return rows
    # Not safe: an integer above 2^53 is rounded if another file has decimals there.
    return rows.cast(schema, safe=False)


def _refuse_different(first: Table, other: Table) -> None:
    """Refuse a file whose columns or format differ from those of the first file."""
    if other.columns != first.columns:
        more = [name for name in other.columns if name not in first.columns]
        missing = [name for name in first.columns if name not in other.columns]
        if more:
            what = f"it has a column {more[0]!r}"
        elif missing:
            what = f"it has no column {missing[0]!r}"
        else:
            what = "their order differs"
        raise ReadError(
            f"{other.name} has other columns than {first.name}: {what}. Files that are "
            f"read as one table need the same columns in the same order."
        )
    names = ("name", "delimiter", "encoding")
    if any(getattr(first.format, n) != getattr(other.format, n) for n in names):
        raise ReadError(
            f"{other.name} and {first.name} differ in format, delimiter or encoding. "
            f"Files that are read as one table need the same."
        )


def _common_schema(schema: Any, other: Table) -> Any:
    """Return a schema that holds the columns of both."""
    both = [_with_plain_text(*pair) for pair in permutations((schema, other.schema))]
    try:
        return pa.unify_schemas(both, promote_options="permissive")
    except pa.ArrowException as error:
        raise ReadError(
            f"{other.name} has a column of another type than the files before it: "
            f"{error}. Files that are read as one table need the same types."
        ) from error


def _with_plain_text(schema: Any, other: Any) -> Any:
    """Return a schema with plain text where the other has text of another type."""
    fields = [
        field.with_type(pa.large_string())
        if field.type != there.type and _is_words(field.type) and _is_words(there.type)
        else field
        for field, there in zip(schema, other, strict=True)
    ]
    return pa.schema(fields, schema.metadata)


def _is_words(kind: Any) -> bool:
    """Return whether a type holds text, perhaps by a dictionary or as views."""
    kind = kind.value_type if pt.is_dictionary(kind) else kind
    return is_text(kind)


class _JoinedSource(Source):
    """Several files in place of one."""

    def __init__(self, sources: Sequence[Source], name: str) -> None:
        self.name = name
        self._sources = sources
        self._size = sum(source.size for source in sources)

    @property
    def inputs(self) -> list[Path]:
        """Files that must not be overwritten."""
        return [path for source in self._sources for path in source.inputs]

    @property
    def size(self) -> int:
        """Number of bytes of all files."""
        return self._size

    def pieces(self) -> Iterator[Any]:
        """Yield the bytes of the files, one after the other."""
        return chain.from_iterable(source.pieces() for source in self._sources)

    def check(self) -> None:
        """Refuse files that changed since they were first opened."""
        for source in self._sources:
            source.check()

    def close(self) -> None:
        """Close all files."""
        for source in self._sources:
            source.close()
