"""Rows in partitions: read where they are, one partition at a time.

What comes as a partition is an array, or a data frame, of whatever types it has; what
is worked on is an array of the columns and of the type that the whole table has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from halfmoon.partitions.engines import Engine, Partition
from halfmoon.rows import Rows

__all__ = [
    "PartitionedRows",
    "Reader",
    "behind",
    "first_row",
    "is_in_partitions",
    "rows_behind",
    "weighted",
]


_behind: ContextVar[tuple[Any, Any]] = ContextVar("halfmoon_rows", default=(None, None))


@dataclass(frozen=True)
class Reader:
    """How a partition is read: which columns, in which order, as which type.

    Parameters
    ----------
    columns : tuple or None
        Names of the columns, where partitions are data frames.
    n_columns : int
    dtype : str
        "float64" or "float32".
    """

    columns: tuple[Any, ...] | None
    n_columns: int
    dtype: str

    def read(self, part: Any, number: int | None = None) -> Rows:
        """The rows of a partition as an array, shape (n_i, d)."""
        name = "A partition of X" if number is None else f"Partition {number} of X"
        if sp.issparse(part):
            raise TypeError(
                f"{name} is sparse ({type(part).__name__}); arrays of "
                f"numbers, or data frames, are needed. Make it dense, or fit rows in "
                f"memory."
            )
        values = part
        if self.columns is not None and hasattr(part, "columns"):
            values = self._in_order(name, part)
        try:
            if hasattr(values, "to_numpy"):  # nullable columns have a NA of their own
                values = values.to_numpy(dtype=self.dtype, na_value=np.nan)
            values = np.asarray(values, dtype=self.dtype)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{name} cannot be read as numbers ({error}). Encode "
                f"text and categories as numbers first."
            ) from None
        if values.ndim != 2 or values.shape[1] != self.n_columns:
            raise ValueError(
                f"{name} has shape {values.shape}; {self.n_columns} "
                f"columns are needed, as in the rest of the table."
            )
        return values

    def _in_order(self, name: str, part: Any) -> Any:
        """The columns of a data frame, found by their names."""
        assert self.columns is not None
        found = list(part.columns)
        if found == list(self.columns):
            return part
        missing = [column for column in self.columns if column not in found]
        if missing or len(found) != len(self.columns):
            raise ValueError(
                f"{name} has the columns {found!r}; those of the rest "
                f"of the table, {list(self.columns)!r}, are needed."
            )
        return part[list(self.columns)]


@dataclass(frozen=True)
class PartitionedRows:
    """A table whose rows are in partitions, and stay there.

    It stands where a table stands in a sum over rows (`Stream.sum`).

    Parameters
    ----------
    partitions : list of tuples
        Of each partition its number and its rows, then its weights if there are some,
        as the engine has them.
    reader : Reader
    engine : callable
        Gives the engine for a client, which may be None.
    n : int
        Number of rows; those of weight 0 do not count.
    example : array of shape (1, d)
        Any row.
    reading : float
        Seconds that it took to read all rows.
    """

    partitions: list[Partition]
    reader: Reader
    engine: Callable[[Any], Engine]
    n: int
    example: Rows
    reading: float = 0.0

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n, self.reader.n_columns

    def map(self, function: Callable[[Rows], Any], client: Any = None) -> Iterator[Any]:
        """``function(rows)`` of each partition, in the order of the partitions."""
        work = partial(_read_and_work, self.reader, function)
        return self.engine(client).map(work, self.partitions)


@contextmanager
def behind(model: Any, rows: PartitionedRows | None) -> Iterator[None]:
    """A context in which the table that a model is fitted to is a part of `rows`."""
    token = _behind.set((model, rows))
    try:
        yield
    finally:
        _behind.reset(token)


def rows_behind(model: Any) -> PartitionedRows | None:
    """All rows, where the table that a model is being fitted to is a part of them."""
    owner, rows = _behind.get()
    return rows if owner is model else None


def is_in_partitions(X: Any) -> bool:
    """A collection of Dask, told without importing Dask."""
    return type(X).__module__.partition(".")[0] == "dask" and hasattr(X, "to_delayed")


def first_row(X: Rows) -> Rows:
    """A row of a table, in partitions or not, shape (1, d)."""
    return X.example if isinstance(X, PartitionedRows) else X[:1]


def _read_and_work(
    reader: Reader,
    function: Callable[[Rows], Any],
    number: int,
    part: Any,
    weights: Any = None,
) -> Any:
    rows = reader.read(part, number)
    return function(rows if weights is None else rows[weighted(number, rows, weights)])


def weighted(number: int, rows: Rows, weights: Any) -> NDArray[np.bool_]:
    """Which rows of a partition have a weight above 0."""
    w = np.asarray(weights, dtype=np.float64)
    if w.shape != (rows.shape[0],):
        raise ValueError(
            f"sample_weight has shape {w.shape} beside {rows.shape[0]} rows in "
            f"partition {number} of X; one number for each row is needed."
        )
    if not np.isfinite(w).all() or (w < 0).any():
        raise ValueError("sample_weight must be finite and not negative.")
    return np.asarray(w > 0)
