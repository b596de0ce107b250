"""Several files with the same columns, as one table: their rows one after the other."""

from __future__ import annotations

import glob
import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from halfmoon.table.errors import ReadError
from halfmoon.table.files.batch import Batch, Table
from halfmoon.table.files.records import line_end
from halfmoon.table.files.source import Source
from halfmoon.table.files.text import TextTable

__all__ = ["JoinedTable", "matching_files"]

MOST_FILES = 10_000


def matching_files(pattern: str) -> list[str] | None:
    """Files whose names fit a pattern, in order; None if it is no pattern.

    A file whose name is the pattern itself is that file.
    """
    if not glob.has_magic(pattern) or os.path.lexists(pattern):
        return None
    files = sorted(name for name in glob.glob(pattern) if os.path.isfile(name))
    if not files:
        raise ReadError(f"No file matches {pattern}. Check the folder and the pattern.")
    if len(files) > MOST_FILES:
        raise ReadError(
            f"{len(files):,} files match {pattern}; at most {MOST_FILES:,} are read as "
            f"one table."
        )
    return files


class JoinedTable(Table):
    """Tables of one format with the same columns, as one.

    Parameters
    ----------
    tables : sequence of Table
    pattern : str
        What to call the whole in a message.

    Attributes
    ----------
    lead, header : str
        Of text: as in the first file.
    """

    def __init__(self, tables: Sequence[Table], pattern: str) -> None:
        first = tables[0]
        super().__init__(_Sources([each.source for each in tables], pattern), 0)
        self._tables = tables
        self.format = first.format
        self.lead = first.lead if isinstance(first, TextTable) else ""
        self.header = first.header if isinstance(first, TextTable) else ""
        self.schema = first.schema
        for other in tables[1:]:
            _refuse_other(first, other)
            self.schema = _common(self.schema, other)
        self._common = self.schema  # of the files
        self.notes = list(first.notes)

    @property
    def first_row(self) -> int:
        """Number of the first row, as in the first file."""
        return self._tables[0].first_row

    def _walk(self) -> Iterator[tuple[Batch, int]]:
        for _, batch, read in self._walk_tables():
            yield batch, read

    def _walk_tables(self) -> Iterator[tuple[int, Batch, int]]:
        """The number of a table, a batch of it, and the bytes read so far."""
        start = done = 0
        self.blank_lines = 0
        for number, table in enumerate(self._tables):
            last = number == len(self._tables) - 1
            for batch, read in table._walk():
                rows = batch.rows
                if not rows.schema.equals(self._common):
                    rows = rows.cast(self._common)
                raw = batch.raw
                if raw and not last and not line_end(raw[-1]):
                    # The last line of a file, behind which the next one goes on
                    end = line_end(raw[0]) or line_end(self.header) or "\n"
                    raw = [*raw[:-1], raw[-1] + end]
                made = replace(batch, start=start, rows=rows, raw=raw)
                yield number, made, done + read
                start += len(batch)
            done += table.source.size
            self.blank_lines += table.blank_lines

    def close(self) -> None:
        """Let go of the files."""
        for table in self._tables:
            table.close()


def _refuse_other(first: Table, other: Table) -> None:
    """Refuse a file that does not go on where another one ends."""
    if other.columns != first.columns:
        more = [name for name in other.columns if name not in first.columns]
        less = [name for name in first.columns if name not in other.columns]
        if more:
            what = f"it has a column {more[0]!r}"
        elif less:
            what = f"it has no column {less[0]!r}"
        else:
            what = "their order differs"
        raise ReadError(
            f"{other.name} has other columns than {first.name}: {what}. Files that are "
            f"read as one table need the same columns in the same order."
        )
    mine, its = first.format, other.format
    if (mine.name, mine.delimiter, mine.encoding) != (
        its.name,
        its.delimiter,
        its.encoding,
    ):
        raise ReadError(
            f"{other.name} and {first.name} differ in format, delimiter or encoding. "
            f"Files that are read as one table need the same."
        )


def _common(schema: Any, other: Table) -> Any:
    """A schema that holds the columns of both."""
    try:
        return pa.unify_schemas([schema, other.schema], promote_options="permissive")
    except pa.ArrowException as error:
        raise ReadError(
            f"{other.name} has a column of another type than the files before it: "
            f"{error}. Files that are read as one table need the same types."
        ) from error


class _Sources(Source):
    """Several files in the place of one."""

    def __init__(self, sources: Sequence[Source], name: str) -> None:
        self.path = self.origin = None
        self.name = name
        self._spool = None
        self._sources = sources

    @property
    def inputs(self) -> list[Path]:
        """Files that must not be written to."""
        return [path for source in self._sources for path in source.inputs]

    @property
    def size(self) -> int:
        """Number of bytes of all files."""
        return sum(source.size for source in self._sources)

    def open(self) -> IO[bytes]:
        """The files one after the other."""
        return _Chain(self._sources)  # type: ignore[return-value]

    def check(self) -> None:
        """Refuse files that are not those first seen."""
        for source in self._sources:
            source.check()

    def close(self) -> None:
        """Let go of the files."""
        for source in self._sources:
            source.close()


class _Chain(io.RawIOBase):
    """The bytes of several files, one after the other."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._waiting = list(sources)
        self._file: Any = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while self._file is not None or self._waiting:
            if self._file is None:
                self._file = self._waiting.pop(0).open()
            count: int = self._file.readinto(buffer)
            if count:
                return count
            self._file.close()
            self._file = None
        return 0

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        super().close()
