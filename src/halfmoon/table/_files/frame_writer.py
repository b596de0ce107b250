"""Write into a data frame: a new one of the same library, with filled cells."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from halfmoon.table._files.arrow_types import Values, is_text, value_text
from halfmoon.table._files.frame_table import library_of
from halfmoon.table._files.table_interface import Batch, Table, TableOutput

__all__ = ["FrameWriter", "taken_rows", "with_columns"]


class FrameWriter(TableOutput):
    """Collects new cells and columns, to be put into a data frame.

    Pass it to `new_table` in place of a path. Existing cells are not collected: `onto`
    takes them from the data frame.
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
        """Do nothing: `onto` makes the data frame."""

    def abandon(self) -> None:
        """Forget what was collected."""
        self._replaced.clear()
        self._added.clear()

    def columns(self) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]]]:
        """Return the replaced cells and the new columns, by name."""
        replaced = {name: np.concatenate(v) for name, v in self._replaced.items()}
        added = {name: np.concatenate(v) for name, v in self._added.items()}
        return replaced, added

    def onto(self, frame: Any) -> Any:
        """Return a new data frame with everything that was written."""
        return with_columns(frame, *self.columns())


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
    replaced: Mapping[str, NDArray[Any]],
    added: Mapping[str, NDArray[Any]],
) -> Any:
    """Return a new data frame with replaced cells, and new columns at the right.

    Parameters
    ----------
    frame : data frame of pandas or polars, or pyarrow.Table
    replaced : dict of str to ndarray of shape (n,)
        New values. None and NaN leave a cell unchanged, "" empties it.
    added : dict of str to ndarray of shape (n,)
        None and NaN are missing.
    """
    return _WITH_COLUMNS[str(library_of(frame))](frame, replaced, added)


def taken_rows(frame: Any, positions: Sequence[int]) -> Any:
    """Return some rows of a data frame by position; pandas rows keep their index."""
    library = library_of(frame)
    if library == "pandas":
        return frame.iloc[list(positions)]
    if library == "polars":
        return frame[list(positions)]
    return frame.take(pa.array(positions, pa.int64()))


def _missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.array([v is None or v != v for v in values], dtype=bool)


def _new_values(values: NDArray[Any], unchanged: NDArray[np.bool_]) -> list[Any]:
    """Return new values, with None where a cell is unchanged or emptied."""
    pairs = zip(values, unchanged, strict=True)
    return [None if same else _none_if_empty(v) for v, same in pairs]


def _none_if_empty(value: Any) -> Any:
    return None if isinstance(value, str) and not value else value


def _as_texts(values: Sequence[Any]) -> list[str | None]:
    return [v if v is None or isinstance(v, str) else value_text(v) for v in values]


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
    if str(column.dtype) == "object":  # labels were read as text; restore the objects
        labels = {str(label).strip(): label for label in column.dropna().unique()}
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
        if column.dtype == pl.String:
            cells = _as_texts(cells)
        labels = pl.Series(name, cells, strict=False)
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
        is_dictionary = pa.types.is_dictionary(column.type)
        kind = column.type.value_type if is_dictionary else column.type
        labels = pa.array(_as_texts(cells) if is_text(kind) else cells)
        if pa.types.is_integer(kind) and pa.types.is_floating(labels.type):
            kind = pa.float64()
        filled = pc.if_else(pa.array(unchanged), column.cast(kind), labels.cast(kind))
        if is_dictionary:
            filled = filled.dictionary_encode()
        new = new.set_column(place, name, filled)
    for name, values in added.items():
        new = new.append_column(name, pa.array(values, from_pandas=True))
    return new


_WITH_COLUMNS = {
    "pandas": _pandas_with_columns,
    "polars": _polars_with_columns,
    "pyarrow": _arrow_with_columns,
}
