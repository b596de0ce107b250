"""The interfaces of every table that is read, and of every output, batch by batch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any, Self

import pyarrow as pa

from halfmoon._notes import Note
from halfmoon._number_format import listed
from halfmoon.table._files.arrow_types import Values, as_list, plain_rows
from halfmoon.table._files.byte_source import Source
from halfmoon.table._files.formats import Format
from halfmoon.table._files.header_rows import is_number
from halfmoon.table._table_errors import ReadError

__all__ = [
    "BATCH_ROWS",
    "Batch",
    "Progress",
    "Table",
    "TableOutput",
    "names_apart",
    "refuse_duplicate_names",
]

BATCH_ROWS = 8192
MAX_LISTED = 5  # duplicate names in an error
WITHOUT_HEADER = ("parquet", "feather", "jsonl", "json")
Progress = Callable[[int, int], object]  # bytes read, bytes in total


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive rows of a table."""

    start: int  # number of the first row; the first row of the table is 0
    rows: Any  # pyarrow.RecordBatch of all columns, in order
    #: For text and JSON: the exact text of each record, with its line end.
    raw: Sequence[str] | None = None
    #: For text: the blank lines before the i-th record of the batch.
    blanks: Mapping[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        length: int = self.rows.num_rows
        return length

    @property
    def plain(self) -> Any:
        """The rows in types that can be learned from (`arrow_types.py`)."""
        return plain_rows(self.rows)


class Table(ABC):
    """A table that can be read in batches, any number of times."""

    schema: Any  # pyarrow.Schema; all columns of text files are strings
    format: Format
    n_rows: int | None  # known once the table was read to its end
    notes: list[Note]  # what the user should know about how the file was read
    lead = ""  # of text: lines before the header, as blank lines, a title, ``sep=;``
    header = ""  # of text: as in the file, with its line end

    def __init__(self, source: Source, found: Format, batch_rows: int) -> None:
        self.source = source
        self.format = found
        self.batch_rows = batch_rows
        self.n_rows = None
        self.notes = []

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
        """Read all rows, a batch at a time; refuse a file that changed in between."""
        self.source.check()
        n = 0
        try:
            for batch, done in self._read_batches():
                n += len(batch)
                yield batch
                if progress is not None:
                    progress(min(done, self.source.size), self.source.size)
        except ReadError:
            self.source.check()  # a file that changed may look damaged
            raise
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


class TableOutput(ABC):
    """A table that is written again, with replaced cells and new columns."""

    takes_arrays = False  # whether `_write` takes Arrow arrays as new values

    def __init__(
        self,
        stream: IO[bytes],
        like: Table,  # that the batches come from
        wanted: Format,
        types: Mapping[str, Any],  # of new columns, and of columns whose type changes
        name: str,  # of the output, in messages
    ) -> None:
        self._stream = stream
        self._like = like
        self.format = wanted
        self._types = types
        self._name = name

    @property
    def escaped(self) -> int:
        """Number of cells that got an apostrophe, so that they are not formulas."""
        return 0

    def write(
        self, batch: Batch, replace: Values | None = None, append: Values | None = None
    ) -> None:
        """Write the rows of a batch, with a value for each row in each column.

        To replace: None leaves a cell unchanged, "" empties it. To append, the same
        columns for each batch: None gives an empty cell.
        """
        replace, append = replace or {}, append or {}
        if not self.takes_arrays:
            replace = {name: as_list(values) for name, values in replace.items()}
            append = {name: as_list(values) for name, values in append.items()}
        self._write(batch, replace, append)

    @abstractmethod
    def _write(self, batch: Batch, replace: Values, append: Values) -> None:
        """Write the rows of a batch."""

    @abstractmethod
    def finish(self) -> None:
        """Write the rest of the output."""

    def abandon(self) -> None:  # noqa: B027
        """Free the resources of an output that will not exist."""


def names_apart(columns: Sequence[str], name: str) -> tuple[list[str], list[Note]]:
    """Return names of columns that all differ, and notes; or raise an error.

    Spreadsheets write rows that end in commas: several columns without a name are named
    by their place. A single one keeps its empty name: such a column has the row names
    of R. Programs for surveys and tasks give several columns one name: they are
    numbered. A header without any name, or with numbers that repeat, is no header.
    `name` is that of the table.

    Examples
    --------
    >>> names_apart(["", "a"], "t")[0], names_apart(["a", "", ""], "t")[0]
    (['', 'a'], ['a', 'column 2', 'column 3'])
    >>> names_apart(["tag", "size", "tag"], "t")[0]
    ['tag (1)', 'size', 'tag (2)']
    """
    names = list(columns)
    if names.count("") > 1 and any(names):
        names = [each or f"column {i}" for i, each in enumerate(names, start=1)]
    counts, seen = Counter(names), Counter[str]()
    repeated = [each for each, n in counts.items() if n > 1 and not is_number(each)]
    for i, each in enumerate(names):
        if each and each in repeated:
            seen[each] += 1
            names[i] = f"{each} ({seen[each]})"
    refuse_duplicate_names(names, name)
    if not seen:
        return names, []
    each, n = max(seen.items(), key=lambda item: item[1])
    return names, [
        Note(
            f"Columns of one name were numbered, such as '{each} (1)' to '{each} "
            f"({n})'. A text output keeps the header."
        )
    ]


def refuse_duplicate_names(columns: Sequence[str], name: str) -> None:
    """Refuse a header in which two columns have the same name."""
    places: dict[str, list[str]] = {}
    for place, column in enumerate(columns, start=1):
        places.setdefault(column, []).append(str(place))
    for where in places.values():
        if len(where) > MAX_LISTED:
            where[MAX_LISTED - 1 :] = [f"{len(where) - MAX_LISTED + 1:,} more"]
    duplicates = [
        f"{repr(column) if column else 'an empty name'} (columns {listed(where)})"
        for column, where in places.items()
        if len(where) > 1
    ]
    if duplicates:
        n_more = len(duplicates) - MAX_LISTED
        more = f" and {n_more} more" if n_more > 0 else ""
        raise ReadError(
            f"{name} has duplicate column names: "
            f"{'; '.join(duplicates[:MAX_LISTED])}{more}. Give each column its own "
            f"name."
        )
