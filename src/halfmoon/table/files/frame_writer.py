"""Write into a data frame: a new one, of the same library, with cells filled in."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from halfmoon.table.files.batch import Batch
from halfmoon.table.files.cells import value_text
from halfmoon.table.files.frame import library_of
from halfmoon.table.files.values import Values

__all__ = ["FrameWriter", "taken_rows", "with_columns"]


class FrameWriter:
    """Holds what is new in a table, until all of it is there.

    It is given to `new_table` in the place of a file. Of the rows themselves nothing
    is kept: `onto` lays what is new over the data frame that they came from.
    """

    escaped = 0  # a data frame has no formulas
    takes_arrays = False

    def __init__(self) -> None:
        self._replaced: dict[str, list[NDArray[Any]]] = {}
        self._added: dict[str, list[NDArray[Any]]] = {}

    def write(self, batch: Batch, replace: Values, append: Values) -> None:
        """Keep what is new in a batch."""
        for kept, new in ((self._replaced, replace), (self._added, append)):
            for column, values in new.items():
                kept.setdefault(column, []).append(_compact(values))

    def finish(self) -> None:
        """Nothing is left to be written."""

    def abandon(self) -> None:
        """Forget what was kept."""
        self._replaced.clear()
        self._added.clear()

    def onto(self, frame: Any) -> Any:
        """A new data frame with everything that was written."""
        replaced = {name: np.concatenate(v) for name, v in self._replaced.items()}
        added = {name: np.concatenate(v) for name, v in self._added.items()}
        return with_columns(frame, replaced, added)


def _compact(values: Sequence[object]) -> NDArray[Any]:
    """Values as floats, NaN for None, if all are; as objects otherwise."""
    if all(v is None or isinstance(v, float) for v in values):
        return np.array([np.nan if v is None else v for v in values], dtype=np.float64)
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects


def with_columns(
    frame: Any,
    replaced: Mapping[str, NDArray[Any]],
    added: Mapping[str, NDArray[Any]],
) -> Any:
    """A new data frame: some cells replaced, and columns added at the right.

    Parameters
    ----------
    frame : data frame of pandas or polars, or pyarrow.Table
    replaced : dict of str to ndarray of shape (n,)
        New values, None or NaN where the cell stays, "" where it is emptied.
    added : dict of str to ndarray of shape (n,)
        None and NaN are missing.
    """
    return _WITH[str(library_of(frame))](frame, replaced, added)


def taken_rows(frame: Any, positions: Sequence[int]) -> Any:
    """Some rows of a data frame, by position; of pandas with their index."""
    library = library_of(frame)
    if library == "pandas":
        return frame.iloc[list(positions)]
    if library == "polars":
        return frame[list(positions)]
    return frame.take(pa.array(positions, pa.int64()))


def _missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.array([v is None or v != v for v in values], dtype=bool)


def _given(values: NDArray[Any], stays: NDArray[np.bool_]) -> list[Any]:
    """New values, None where a cell stays and where it is emptied."""
    pairs = zip(values, stays, strict=True)
    return [None if stay else _or_none(v) for v, stay in pairs]


def _or_none(value: Any) -> Any:
    return None if isinstance(value, str) and not value else value


def _of_pandas(frame: Any, replaced: Any, added: Any) -> Any:
    new = frame.copy(deep=False)
    names = {str(name): name for name in frame.columns}
    for name, values in replaced.items():
        where = np.flatnonzero(~_missing(values))
        some = np.array([_or_none(v) for v in values[where]], dtype=object)
        new[names[name]] = _filled_series(frame[names[name]], where, some)
    for name, values in added.items():
        new[name] = values
    return new


def _filled_series(column: Any, where: NDArray[np.intp], values: NDArray[Any]) -> Any:
    """A column with new values, of its type if they fit, else of one that holds all."""
    if not len(where):
        return column
    known = [v for v in values if v is not None]
    numbers = all(isinstance(v, (int, float)) for v in known)
    if str(column.dtype) == "object":
        values = _as_they_were(column, values)
    kinds = [column.dtype]
    if numbers:
        nullable = str(column.dtype)[:1] in "IU"  # Int64, UInt8 and the like
        kinds.append("Float64" if nullable else "float64")
    elif isinstance(known[0], str):
        kinds.append("str")
    for kind in [*kinds, object]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # older versions change types with one
                filled = column.astype(kind).copy()
                filled.iloc[where] = _missing_as(filled, values.tolist(), numbers)
                return filled
        except (TypeError, ValueError, Warning):
            continue
    raise TypeError(f"The column {column.name!r} of {column.dtype} cannot be filled.")


def _missing_as(column: Any, values: list[Any], numbers: bool) -> list[Any]:
    """Values with what stands for a missing one in a column of their type."""
    if numbers and str(column.dtype).startswith("float"):
        return [np.nan if v is None else v for v in values]
    return values


def _as_they_were(column: Any, values: NDArray[Any]) -> NDArray[Any]:
    """Labels of an object column that were read as text, as the objects they are."""
    known = {str(label).strip(): label for label in column.dropna().unique()}
    objects = np.empty(len(values), dtype=object)
    objects[:] = [known.get(v, v) if isinstance(v, str) else v for v in values]
    return objects


def _of_polars(frame: Any, replaced: Any, added: Any) -> Any:
    import polars as pl

    new = frame
    for name, values in replaced.items():
        column, stays = frame[name], _missing(values)
        given = _given(values, stays)
        if column.dtype == pl.String:
            given = [None if v is None else _as_text(v) for v in given]
        labels = pl.Series(name, given, strict=False)
        if column.dtype.is_integer() and labels.dtype.is_float():
            column = column.cast(pl.Float64)
        labels = labels.cast(column.dtype)
        new = new.with_columns(column.zip_with(pl.Series(stays), labels).alias(name))
    return new.with_columns(
        pl.Series(
            name,
            [None if gone else v for v, gone in zip(v, _missing(v), strict=True)],
            dtype=pl.Float64 if v.dtype == np.float64 else pl.String,
        )
        for name, v in added.items()
    )


def _of_pyarrow(frame: Any, replaced: Any, added: Any) -> Any:
    new = frame
    for name, values in replaced.items():
        place = frame.schema.get_field_index(name)
        column, stays = frame.column(place), _missing(values)
        given = _given(values, stays)
        plain = pa.types.is_dictionary(column.type)
        kind = column.type.value_type if plain else column.type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            given = [None if v is None else _as_text(v) for v in given]
        labels = pa.array(given)
        if pa.types.is_integer(kind) and pa.types.is_floating(labels.type):
            kind = pa.float64()
        filled = pc.if_else(pa.array(stays), column.cast(kind), labels.cast(kind))
        if plain:
            filled = filled.dictionary_encode()
        new = new.set_column(place, name, filled)
    for name, values in added.items():
        new = new.append_column(name, pa.array(values, from_pandas=True))
    return new


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else value_text(value)


_WITH = {"pandas": _of_pandas, "polars": _of_polars, "pyarrow": _of_pyarrow}
