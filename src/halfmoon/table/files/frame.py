"""A data frame as a table: pandas, polars or pyarrow, read in batches like a file.

Columns of numbers are not copied. A column of pandas whose values are of several kinds
(text among numbers, periods, intervals) is read as text.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import IO, Any

import pyarrow as pa

from halfmoon.table.errors import ReadError
from halfmoon.table.files.batch import BATCH_ROWS, Batch, Table, refuse_doubled_names
from halfmoon.table.files.format import Format
from halfmoon.table.files.source import Source

__all__ = ["FrameTable", "as_rows", "column_names", "library_of"]

LIBRARIES = ("pandas", "polars", "pyarrow")


def library_of(given: Any) -> str | None:
    """Which library a data frame is of: "pandas", "polars" or "pyarrow"; else None.

    Examples
    --------
    >>> library_of(pa.table({"a": [1]})), library_of("flowers.csv")
    ('pyarrow', None)
    """
    kind = type(given)
    library = kind.__module__.split(".")[0]
    if library in LIBRARIES and kind.__name__ in ("DataFrame", "LazyFrame", "Table"):
        return library
    for base in kind.__mro__[1:]:  # a subclass, such as a GeoDataFrame
        if base.__module__.split(".")[0] == "pandas" and base.__name__ == "DataFrame":
            return "pandas"
    return None


def column_names(frame: Any) -> tuple[str, ...]:
    """Names of the columns of a data frame, as text."""
    if library_of(frame) == "pyarrow":
        return tuple(frame.column_names)
    if library_of(frame) == "pandas" and frame.columns.nlevels > 1:
        raise ReadError(
            f"The data frame has {frame.columns.nlevels} levels of column names; one "
            f"is needed. Join them, for example with df.columns.map('_'.join)."
        )
    return tuple(map(str, frame.columns))


def as_rows(rows: Any) -> Any:
    """A data frame as a table of pyarrow; what is one already comes back as it is.

    Parameters
    ----------
    rows : pyarrow.Table, pyarrow.RecordBatch or data frame of pandas or polars
    """
    library = library_of(rows)
    if library == "pandas":
        columns = [_of_pandas(rows.iloc[:, i]) for i in range(rows.shape[1])]
        names = list(column_names(rows))
        if not columns:  # of which Arrow would forget how many rows there are
            return pa.table({})
        return pa.table(columns, names=names)
    if library == "polars":
        return _of_polars(rows)
    return rows


class FrameTable(Table):
    """A data frame that is walked through in batches.

    Parameters
    ----------
    frame : data frame of pandas or polars, or pyarrow.Table
        It is never changed. The index of pandas is no column.
    batch_rows : int
    """

    first_row = 1  # there is no header above it

    def __init__(self, frame: Any, batch_rows: int = BATCH_ROWS) -> None:
        super().__init__(_FrameSource(self), batch_rows)
        if type(frame).__name__ == "LazyFrame":
            raise ReadError(
                "A lazy frame has no rows yet; give the frame itself: frame.collect()."
            )
        names = column_names(frame)
        if not names:
            raise ReadError("The data frame has no columns.")
        refuse_doubled_names(names, self.name)
        self.format = Format("parquet")  # what it is written as unless told
        # Columns of polars become Arrow's as they are read, a batch at a time.
        self._lazy = frame if library_of(frame) == "polars" else None
        self._rows = as_rows(frame if self._lazy is None else frame.head(0))
        self.schema = self._rows.schema
        self._n = len(frame)

    @property
    def nbytes(self) -> int:
        """Size of the data."""
        if self._lazy is not None:
            return int(self._lazy.estimated_size())
        return int(self._rows.nbytes)

    def _walk(self) -> Iterator[tuple[Batch, int]]:
        start = 0
        for rows in self._batches():
            yield Batch(start, rows), self.nbytes * start // max(self._n, 1)
            start += rows.num_rows

    def _batches(self) -> Iterator[Any]:
        if self._lazy is None:
            yield from self._rows.to_batches(max_chunksize=self.batch_rows)
            return
        for first in range(0, self._n, self.batch_rows):
            some = as_rows(self._lazy.slice(first, self.batch_rows)).combine_chunks()
            yield from some.cast(self.schema).to_batches()


class _FrameSource(Source):
    """A data frame in the place of a file."""

    def __init__(self, table: FrameTable) -> None:
        self.path = self.origin = None
        self.name = "the data frame"
        self._spool = None
        self._table = table

    @property
    def size(self) -> int:
        """Number of bytes, at least 1."""
        return max(1, self._table.nbytes)

    def open(self) -> IO[bytes]:
        """The rows as bytes, by which the same data can be told again."""
        return _Bytes(self._table._batches())  # type: ignore[return-value]

    def check(self) -> None:
        """Nobody writes to it but the caller."""


class _Bytes(io.RawIOBase):
    """Batches of rows as a stream of bytes, one after the other."""

    def __init__(self, batches: Iterator[Any]) -> None:
        self._batches = batches
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left:
            batch = next(self._batches, None)
            if batch is None:
                return 0
            self._left = memoryview(batch.serialize())
        n = min(len(buffer), len(self._left))
        buffer[:n] = self._left[:n]
        self._left = self._left[n:]
        return n


def _of_pandas(column: Any) -> Any:
    """A column of pandas as one array of Arrow; as text where it fits nowhere else."""
    if type(column.dtype).__name__ == "SparseDtype":
        column = column.sparse.to_dense()
    try:
        array = pa.array(column, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return _texts(column)
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    # Periods, and the intervals that pandas.cut gives.
    return _texts(column) if isinstance(kind, pa.BaseExtensionType) else array


def _texts(column: Any) -> Any:
    missing = column.isna().to_numpy()
    values = zip(column.astype(object), missing, strict=True)
    return pa.array([None if gone else str(v) for v, gone in values], pa.large_string())


def _of_polars(frame: Any) -> Any:
    import polars as pl

    odd = [name for name, kind in frame.schema.items() if kind == pl.Object]
    if odd:
        frame = frame.with_columns(_object_texts(frame[name], pl) for name in odd)
    # Not with views of strings, of which Arrow itself can take no rows.
    return frame.to_arrow(compat_level=pl.CompatLevel.oldest())


def _object_texts(column: Any, pl: Any) -> Any:
    values: Sequence[Any] = column.to_list()
    texts = [None if value is None else str(value) for value in values]
    return pl.Series(column.name, texts, dtype=pl.String)
