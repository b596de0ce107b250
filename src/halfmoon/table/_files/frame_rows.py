"""Data frames of each library, and their rows as Arrow data.

Columns of numbers are not copied. A pandas column with values of several kinds (text
among numbers, periods, intervals) is read as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from halfmoon.table._table_errors import ReadError

__all__ = [
    "as_rows",
    "column_names",
    "how_to_convert",
    "library_of",
    "taken_rows",
    "type_name",
]

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
        names = list(column_names(rows))
        try:
            columns = [_from_pandas(rows.iloc[:, i]) for i in range(rows.shape[1])]
            return pa.table(columns, names=names)
        except UnicodeEncodeError as error:
            half = error.object[error.start]
            raise ReadError(
                f"The data frame holds half a character, {half!a}, in a name or a "
                f"cell. Check how it was read."
            ) from error
    if library == "polars" and type(rows).__name__ == "DataFrame":
        return _from_polars(rows)
    if not isinstance(rows, (pa.Table, pa.RecordBatch)):
        raise ReadError(
            f"The rows are of type {type_name(rows)}, but must be a data frame of "
            f"pandas or polars, or a table of pyarrow.{how_to_convert(rows)}"
        )
    return rows


def type_name(given: Any) -> str:
    """Return the type of an object, with the library that it comes from."""
    kind = type(given)
    library = kind.__module__.split(".")[0]
    return kind.__name__ if library == "builtins" else f"{library}.{kind.__name__}"


def how_to_convert(given: Any) -> str:
    """Return a sentence about how an object becomes a data frame, if it can."""
    for method in ("compute", "collect"):  # of Dask, and of lazy frames
        if library_of(given) is not None and hasattr(given, method):
            return f" Use frame.{method}()."
    # narwhals, DuckDB, record batches and others; a column of text has `str`.
    is_table = hasattr(given, "__arrow_c_stream__") and not hasattr(given, "str")
    return " Use pyarrow.table(frame)." if is_table else ""


def taken_rows(frame: Any, positions: Sequence[int]) -> Any:
    """Return some rows of a data frame by position; pandas rows keep their index."""
    library = library_of(frame)
    if library == "pandas":
        return frame.iloc[list(positions)]
    if library == "polars":
        return frame[list(positions)]
    # Arrow cannot take rows from columns of every type.
    rows = [frame.slice(position, 1) for position in positions]
    return pa.concat_tables(rows) if rows else frame.slice(0, 0)


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

    # Arrow has neither objects nor integers of 128 bits.
    others = ("Object", "Int128", "UInt128")
    as_text = [name for name, kind in frame.schema.items() if str(kind) in others]
    for name in as_text:
        texts = [None if value is None else str(value) for value in frame[name]]
        frame = frame.with_columns(pl.Series(name, texts, dtype=pl.String))
    # Without string views, which Arrow cannot take rows from
    return frame.to_arrow(compat_level=pl.CompatLevel.oldest())
