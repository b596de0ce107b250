"""A data frame as a table: pandas, polars or pyarrow, read in batches like a file.

Columns of numbers are not copied. A pandas column with values of several kinds (text
among numbers, periods, intervals) is read as text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any, cast

import pyarrow as pa

from halfmoon.table._files.byte_source import PiecewiseStream, Source
from halfmoon.table._files.formats import Format
from halfmoon.table._files.table_interface import (
    BATCH_ROWS,
    Batch,
    Table,
    refuse_duplicate_names,
)
from halfmoon.table._table_errors import ReadError

__all__ = ["FrameSource", "FrameTable", "as_rows", "column_names", "library_of"]

LIBRARIES = ("pandas", "polars", "pyarrow", "dask")


def library_of(given: Any) -> str | None:
    """Return the library of a data frame; None for other objects.

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
    """Return the column names of a data frame as text."""
    if library_of(frame) == "pyarrow":
        return tuple(frame.column_names)
    if library_of(frame) == "pandas" and frame.columns.nlevels > 1:
        raise ReadError(
            f"The data frame has {frame.columns.nlevels} levels of column names; one "
            f"is needed. Join them, for example with df.columns.map('_'.join)."
        )
    return tuple(map(str, frame.columns))


def as_rows(rows: Any) -> Any:
    """Convert a data frame to a pyarrow table; Arrow data are returned unchanged."""
    library = library_of(rows)
    if library == "pandas":
        columns = [_from_pandas(rows.iloc[:, i]) for i in range(rows.shape[1])]
        return pa.table(columns, names=list(column_names(rows)))
    return _from_polars(rows) if library == "polars" else rows


class FrameTable(Table):
    """A data frame that is read in batches; the index of pandas is not a column."""

    first_row = 0  # as Python counts them

    def __init__(self, frame: Any, batch_rows: int = BATCH_ROWS) -> None:
        super().__init__(FrameSource(self), batch_rows)
        if type(frame).__name__ == "LazyFrame":
            raise ReadError(
                "A lazy frame has no rows yet; give the frame itself: frame.collect()."
            )
        names = column_names(frame)
        if not names:
            raise ReadError("The data frame has no columns.")
        refuse_duplicate_names(names, self.name)
        self.format = Format("parquet")  # the default format of its output
        # polars columns are converted to Arrow a batch at a time.
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

    def arrow_batches(self) -> Iterator[Any]:
        """Yield the rows as record batches."""
        if self._lazy is None:
            yield from self._rows.to_batches(max_chunksize=self.batch_rows)
            return
        for first in range(0, self._n, self.batch_rows):
            rows = as_rows(self._lazy.slice(first, self.batch_rows)).combine_chunks()
            yield from rows.cast(self.schema).to_batches()

    def _read_batches(self) -> Iterator[tuple[Batch, int]]:
        start = 0
        for rows in self.arrow_batches():
            yield Batch(start, rows), self.nbytes * start // max(self._n, 1)
            start += rows.num_rows


class FrameSource(Source):
    """A data frame in place of a file."""

    def __init__(self, table: Any) -> None:
        self.path = self.origin = None
        self.name = "the data frame"
        self._spool = None
        self._table = table

    @property
    def size(self) -> int:
        """Number of bytes, at least 1."""
        return max(1, self._table.nbytes)

    def open(self) -> IO[bytes]:
        """Return the rows as bytes, to compute a digest of the data."""
        pieces = (batch.serialize() for batch in self._table.arrow_batches())
        return cast(IO[bytes], PiecewiseStream(pieces))

    def check(self) -> None:
        """Do nothing: only the caller can change the data frame."""


def _from_pandas(column: Any) -> Any:
    """Convert a pandas column to an Arrow array, of text if no other type fits."""
    if type(column.dtype).__name__ == "SparseDtype":
        column = column.sparse.to_dense()
    try:
        array = pa.array(column, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return _texts(column)
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    # Periods, and the intervals of pandas.cut
    return _texts(column) if isinstance(kind, pa.BaseExtensionType) else array


def _texts(column: Any) -> Any:
    pairs = zip(column.astype(object), column.isna().to_numpy(), strict=True)
    texts = [None if missing else str(value) for value, missing in pairs]
    return pa.array(texts, pa.large_string())


def _from_polars(frame: Any) -> Any:
    import polars as pl

    objects = [name for name, kind in frame.schema.items() if kind == pl.Object]
    for name in objects:
        texts = [None if value is None else str(value) for value in frame[name]]
        frame = frame.with_columns(pl.Series(name, texts, dtype=pl.String))
    # Without string views, which Arrow cannot take rows from
    return frame.to_arrow(compat_level=pl.CompatLevel.oldest())
