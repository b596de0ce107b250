"""The interface of every table: columns, and rows that come in batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import pyarrow as pa

from halfmoon._report.findings import Note
from halfmoon.table._files.arrow_types import plain_rows
from halfmoon.table._files.byte_source import Source
from halfmoon.table._files.formats import Format
from halfmoon.table._table_errors import ReadError

__all__ = ["BATCH_ROWS", "Batch", "Progress", "Table", "refuse_duplicate_names"]

BATCH_ROWS = 8192
MAX_LISTED = 5  # duplicate names in an error
WITHOUT_HEADER = ("parquet", "feather", "jsonl", "json")
Progress = Callable[[int, int], object]  # bytes read, bytes in total


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive rows of a table.

    Parameters
    ----------
    start : int
        Number of the first row; the first row of the table is 0.
    rows : pyarrow.RecordBatch
        All columns, in order.
    raw : sequence of str or None
        For text and JSON: the exact text of each record, with its line end.
    blanks : mapping of int to str
        For text: the blank lines before the i-th record of the batch.
    """

    start: int
    rows: Any
    raw: Sequence[str] | None = None
    blanks: Mapping[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        length: int = self.rows.num_rows
        return length

    @property
    def plain(self) -> Any:
        """The rows in types that can be learned from (`arrow_types.py`)."""
        return plain_rows(self.rows)


class Table(ABC):
    """A table that can be read in batches, any number of times.

    Attributes
    ----------
    columns : tuple of str
    format : Format
    schema : pyarrow.Schema
        Types of the columns; all columns of text files are strings.
    n_rows : int or None
        Known once the table was read to its end.
    notes : list of Note
        What the user should know about how the file was read.
    """

    schema: Any
    format: Format

    def __init__(self, source: Source, batch_rows: int) -> None:
        self.source = source
        self.batch_rows = batch_rows
        self.n_rows: int | None = None
        self.notes: list[Note] = []

    @property
    def name(self) -> str:
        """Name of the table in messages."""
        return self.source.name

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(self.schema.names)

    @property
    def is_text(self) -> bool:
        """Whether each cell is a string with the exact text of the file."""
        return self.format.is_text

    @property
    def first_row(self) -> int:
        """Number of the first row as a spreadsheet shows it: a header is row 1."""
        return 1 if self.format.name in WITHOUT_HEADER else 2

    def batches(self, progress: Progress | None = None) -> Iterator[Batch]:
        """Read all rows, a batch at a time.

        Parameters
        ----------
        progress : callable, optional
            Called as ``progress(done, total)`` with numbers of bytes of the file.

        Raises
        ------
        ReadError
            If the file cannot be read to its end, or changed since the last time.
        """
        self.source.check()
        n = 0
        for batch, done in self._read_batches():
            n += len(batch)
            yield batch
            if progress is not None:
                progress(min(done, self.source.size), self.source.size)
        self.source.check()
        if self.n_rows is not None and n != self.n_rows:
            raise self.source.changed()
        self.n_rows = n
        if progress is not None:
            progress(self.source.size, self.source.size)

    def empty(self) -> Batch:
        """Return a batch without rows, to write the header of an empty table."""
        rows = pa.RecordBatch.from_pylist([], schema=self.schema)
        return Batch(0, rows, [] if self.is_text else None)

    def close(self) -> None:
        """Close the file."""
        self.source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def _read_batches(self) -> Iterator[tuple[Batch, int]]:
        """Yield each batch, and how many bytes of the file were read so far."""


def refuse_duplicate_names(columns: Sequence[str], name: str) -> None:
    """Refuse a header in which two columns have the same name."""
    places: dict[str, list[str]] = {}
    for place, column in enumerate(columns, start=1):
        places.setdefault(column, []).append(str(place))
    duplicates = [
        f"{repr(column) if column else 'an empty name'} "
        f"(columns {', '.join(where[:-1])} and {where[-1]})"
        for column, where in places.items()
        if len(where) > 1
    ]
    if duplicates:
        n_more = len(duplicates) - MAX_LISTED
        more = f" and {n_more} more" if n_more > 0 else ""
        raise ReadError(
            f"{name} has duplicate column names: "
            f"{'; '.join(duplicates[:MAX_LISTED])}{more}. Give each column its own "
            f"name in the header."
        )
