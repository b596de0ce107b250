"""A table, and a batch of its rows: what every format gives to those who read it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import pyarrow as pa

from halfmoon.report.findings import Note
from halfmoon.table.errors import ReadError
from halfmoon.table.files.arrow_types import plain_rows
from halfmoon.table.files.format import Format
from halfmoon.table.files.source import Source

__all__ = ["BATCH_ROWS", "Batch", "Progress", "Table", "refuse_doubled_names"]

BATCH_ROWS = 8192
# Names of columns stand apart from the rows.
WITHOUT_HEADER = ("parquet", "feather", "jsonl", "json")
Progress = Callable[[int, int], object]  # bytes done, bytes in total


@dataclass(frozen=True, slots=True)
class Batch:
    """Some consecutive rows.

    Parameters
    ----------
    start : int
        Number of the first of them, the table's first being 0.
    rows : pyarrow.RecordBatch
        All columns, in order.
    raw : sequence of str or None
        Of text and JSON: each record as it stands in the file, with its line end.
    blanks : mapping of int to str
        Of text and JSON: the blank lines before the i-th of these records.
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

    @property
    def records(self) -> list[str] | None:
        """Of text: each record as it stands in the file, without its line end."""
        if self.raw is None:
            return None
        return [text.removesuffix("\n").removesuffix("\r") for text in self.raw]


class Table(ABC):
    """A table that is walked through in batches, any number of times.

    Attributes
    ----------
    columns : tuple of str
    format : Format
    schema : pyarrow.Schema
        Types of the columns; of text, all are strings.
    n_rows : int or None
        Known once a walk has come to its end.
    blank_lines : int
        Of text: blank lines met on the last walk, which are no rows.
    notes : list of Note
        What the user should know of how the file was read.
    """

    schema: Any
    format: Format

    def __init__(self, source: Source, batch_rows: int) -> None:
        self.source = source
        self.batch_rows = batch_rows
        self.blank_lines = 0
        self.n_rows: int | None = None
        self.notes: list[Note] = []

    @property
    def name(self) -> str:
        """What to call the table in a message."""
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
        """The rows from the first to the last, a batch at a time.

        Parameters
        ----------
        progress : callable, optional
            Called as ``progress(done, total)`` with numbers of bytes of the file.

        Raises
        ------
        ReadError
            If the file cannot be read to its end, or is not the one it was.
        """
        self.source.check()
        n = 0
        for batch, done in self._walk():
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
        """A batch of no rows: to write the header of a table that has none."""
        rows = pa.RecordBatch.from_pylist([], schema=self.schema)
        return Batch(0, rows, [] if self.is_text else None)

    def close(self) -> None:
        """Let go of the file."""
        self.source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def _walk(self) -> Iterator[tuple[Batch, int]]:
        """Each batch, and how many bytes of the file were read for it."""


def refuse_doubled_names(columns: Sequence[str], name: str) -> None:
    """Refuse a header in which two columns have one name; one may have none."""
    places: dict[str, list[str]] = {}
    for place, column in enumerate(columns, start=1):
        places.setdefault(column, []).append(str(place))
    doubled = [
        f"{column!r} (columns {', '.join(where[:-1])} and {where[-1]})"
        if column
        else f"an empty name (columns {', '.join(where[:-1])} and {where[-1]})"
        for column, where in places.items()
        if len(where) > 1
    ]
    if doubled:
        more = f" and {len(doubled) - 5} more" if len(doubled) > 5 else ""
        raise ReadError(
            f"{name} has duplicate column names: {'; '.join(doubled[:5])}{more}. Give "
            f"each column a name of its own in the header."
        )
