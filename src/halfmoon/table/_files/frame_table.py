"""A data frame as a table: pandas, polars or pyarrow, read in batches like a file.

The result is a new data frame of the same library, with filled cells.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from halfmoon.table._files.arrow_types import (
    Values,
    array_of,
    decoded_array,
    encoded_as,
    encoded_with,
)
from halfmoon.table._files.byte_source import Source
from halfmoon.table._files.formats import Format
from halfmoon.table._files.frame_rows import as_rows, column_names, library_of
from halfmoon.table._files.table_interface import (
    BATCH_ROWS,
    Batch,
    Table,
    TableOutput,
    refuse_duplicate_names,
)
from halfmoon.table._table_errors import ReadError

__all__ = [
    "FrameTable",
    "FrameWriter",
    "with_columns",
]


class FrameTable(Table):
    """A data frame that is read in batches; the index of pandas is not a column."""

    first_row = 0  # as Python counts them

    def __init__(self, frame: Any, batch_rows: int = BATCH_ROWS) -> None:
        # The format is the default one of its output.
        super().__init__(FrameSource(self), Format("parquet"), batch_rows)
        if type(frame).__name__ == "LazyFrame":
            raise ReadError(
                "A lazy frame has no rows yet; give the frame itself: frame.collect()."
            )
        names = column_names(frame)
        if not names:
            raise ReadError("The data frame has no columns.")
        refuse_duplicate_names(names, "The data frame")
        self.frame = frame
        self._begin()

    def _begin(self) -> None:
        """Find the schema, and the size of the data."""
        self._n = len(self.frame)
        # polars columns are converted to Arrow a batch at a time.
        self._is_lazy = library_of(self.frame) == "polars"
        self._rows = as_rows(self.frame.head(0) if self._is_lazy else self.frame)
        self.schema = self._rows.schema
        held = self.frame.estimated_size() if self._is_lazy else self._rows.nbytes
        self.size = max(1, int(held))  # progress counts bytes

    def filled(
        self, replaced: Mapping[str, NDArray[Any]], added: Mapping[str, NDArray[Any]]
    ) -> Any:
        """Return a new data frame with new cells and columns, as in `with_columns`."""
        return with_columns(self.frame, replaced, added)

    def arrow_batches(self) -> Iterator[tuple[Any, int]]:
        """Yield record batches, and how much of `size` precedes each of them."""
        if not self._is_lazy:
            parts: Iterable[Any] = self._rows.to_batches(max_chunksize=self.batch_rows)
        else:
            parts = chain.from_iterable(
                as_rows(rows).combine_chunks().cast(self.schema).to_batches()
                for rows in self.frame.iter_slices(self.batch_rows)
            )
        start = 0
        for batch in parts:
            yield batch, self.size * start // max(self._n, 1)
            start += batch.num_rows

    def _read_batches(self) -> Iterator[tuple[Batch, int]]:
        start = 0
        for rows, done in self.arrow_batches():
            yield Batch(start, rows), done
            start += rows.num_rows


class FrameSource(Source):
    """A data frame in place of a file."""

    name = "the data frame"

    def __init__(self, table: FrameTable) -> None:
        self._table = table

    @property
    def size(self) -> int:
        """Number of bytes, or of partitions."""
        return self._table.size

    def pieces(self) -> Iterator[Any]:
        """Yield the rows as bytes, batch by batch."""
        for batch, _ in self._table.arrow_batches():
            yield batch.serialize()

    def check(self) -> None:
        """Do nothing: only the caller can change the data frame."""


class FrameWriter(TableOutput):
    """Collects new cells and columns, to be put into a data frame.

    Pass it to `new_table` in place of a path. Existing cells are not collected: they
    are taken from the data frame (`FrameTable.filled`).
    """

    def __init__(self) -> None:
        self._replaced: dict[str, list[NDArray[Any]]] = {}
        self._added: dict[str, list[NDArray[Any]]] = {}

    def begin(self, like: Table) -> None:
        """Begin to write a table."""
        self._like, self.format = like, like.format

    def _write(self, batch: Batch, replace: Values, append: Values) -> None:
        for collected, new in ((self._replaced, replace), (self._added, append)):
            for column, values in new.items():
                collected.setdefault(column, []).append(_compact(values))

    def finish(self) -> None:
        """Do nothing: `FrameTable.filled` makes the data frame."""

    def abandon(self) -> None:
        """Forget what was collected."""
        self._replaced.clear()
        self._added.clear()

    def columns(self) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]]]:
        """Return the replaced cells and the new columns, by name."""
        replaced = {name: np.concatenate(v) for name, v in self._replaced.items()}
        added = {name: np.concatenate(v) for name, v in self._added.items()}
        return replaced, added


def _compact(values: Sequence[object]) -> NDArray[Any]:
    """Return values as floats, with NaN for None, if possible; else as objects."""
    if all(v is None or isinstance(v, float) for v in values):
        return np.array([np.nan if v is None else v for v in values], dtype=np.float64)
    return _objects(values)


def _objects(values: Sequence[object]) -> NDArray[Any]:
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects


def with_columns(
    frame: Any,
    replaced: Mapping[str, NDArray[Any]],  # (n,) each
    added: Mapping[str, NDArray[Any]],  # (n,) each
) -> Any:
    """Return a new data frame with replaced cells, and new columns at the right.

    To replace: None and NaN leave a cell unchanged, "" empties it. To add: None and NaN
    are missing.
    """
    return _WITH_COLUMNS[str(library_of(frame))](frame, replaced, added)


def _missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.array([v is None or v != v for v in values], dtype=bool)


def _new_values(values: NDArray[Any], unchanged: NDArray[np.bool_]) -> list[Any]:
    """Return new values, with None where a cell is unchanged or emptied."""
    pairs = zip(values, unchanged, strict=True)
    return [None if same else _none_if_empty(v) for v, same in pairs]


def _none_if_empty(value: Any) -> Any:
    return None if isinstance(value, str) and not value else value


def _pandas_with_columns(frame: Any, replaced: Any, added: Any) -> Any:
    new = frame.copy(deep=False)
    names = {str(name): name for name in frame.columns}
    for name, values in replaced.items():
        rows = np.flatnonzero(~_missing(values))
        filled = np.array([_none_if_empty(v) for v in values[rows]], dtype=object)
        new[names[name]] = _filled_series(frame[names[name]], rows, filled)
    for name, values in added.items():
        new[name] = values
    return new


def _filled_series(column: Any, rows: NDArray[np.intp], values: NDArray[Any]) -> Any:
    """Fill a column, in its type if the values fit, else in one that holds all."""
    if not len(rows):
        return column
    known = [v for v in values if v is not None]
    are_numbers = all(isinstance(v, (int, float)) for v in known)
    if type(column.dtype).__name__ == "SparseDtype":
        filled = _filled_series(column.sparse.to_dense(), rows, values)
        fits = filled.dtype == column.dtype.subtype
        return filled.astype(column.dtype) if fits else filled
    if str(column.dtype) not in ("str", "string"):
        # Labels were read as text: restore the objects, categories or intervals.
        is_category = type(column.dtype).__name__ == "CategoricalDtype"
        given = column.cat.categories if is_category else column.dropna().unique()
        labels = {str(label).strip(): label for label in given}
        values = _objects(
            [labels.get(v, v) if isinstance(v, str) else v for v in values]
        )
    kinds = [column.dtype]
    if are_numbers:
        nullable = str(column.dtype)[:1] in "IU"  # Int64, UInt8 and the like
        kinds.append("Float64" if nullable else "float64")
    elif isinstance(known[0], str):
        kinds.append("str")
    for kind in [*kinds, object]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # older versions only warn
                filled = column.astype(kind).copy()
                cells = values.tolist()
                if are_numbers and str(filled.dtype).startswith("float"):
                    cells = [np.nan if v is None else v for v in cells]
                filled.iloc[rows] = cells
                return filled
        except (TypeError, ValueError, Warning):
            continue
    raise TypeError(f"The column {column.name!r} of {column.dtype} cannot be filled.")


def _polars_with_columns(frame: Any, replaced: Any, added: Any) -> Any:
    import polars as pl

    new = frame
    for name, values in replaced.items():
        column, unchanged = frame[name], _missing(values)
        cells = _new_values(values, unchanged)
        as_text = column.dtype.is_temporal() or column.dtype == pl.String
        new_type = column.head(0).to_arrow().type if as_text else None
        labels = pl.Series(
            name, array_of(cells, new_type) if as_text else cells, strict=False
        )
        if column.dtype.is_integer() and labels.dtype.is_float():
            column = column.cast(pl.Float64)
        filled = column.zip_with(pl.Series(unchanged), labels.cast(column.dtype))
        new = new.with_columns(filled.alias(name))
    return new.with_columns(
        pl.Series(
            name,
            [None if v is None or v != v else v for v in values],
            dtype=pl.Float64 if values.dtype == np.float64 else pl.String,
        )
        for name, values in added.items()
    )


def _arrow_with_columns(frame: Any, replaced: Any, added: Any) -> Any:
    new = frame
    for name, values in replaced.items():
        place = frame.schema.get_field_index(name)
        column, unchanged = frame.column(place), _missing(values)
        cells = _new_values(values, unchanged)
        filled = _filled_array(column.combine_chunks(), pa.array(unchanged), cells)
        new = new.set_column(place, name, filled)
    for name, values in added.items():
        new = new.append_column(name, pa.array(values, from_pandas=True))
    return new


def _filled_array(column: Any, unchanged: Any, cells: Sequence[Any]) -> Any:
    """Fill a column in its type; whole numbers may become numbers with decimals."""
    kind, is_dictionary = column.type, pa.types.is_dictionary(column.type)
    plain = decoded_array(column.dictionary_decode() if is_dictionary else column)
    new = plain.type
    if pa.types.is_integer(new) and any(isinstance(v, float) for v in cells):
        new = kind = pa.float64()
    filled = pc.if_else(unchanged, plain.cast(new), array_of(cells, new))
    if is_dictionary and kind == column.type:
        return encoded_with(filled, column.dictionary, kind)
    return filled.dictionary_encode() if is_dictionary else encoded_as(filled, kind)


_WITH_COLUMNS = {
    "pandas": _pandas_with_columns,
    "polars": _polars_with_columns,
    "pyarrow": _arrow_with_columns,
}
