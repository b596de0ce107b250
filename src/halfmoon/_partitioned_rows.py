"""Rows in partitions, which are read one at a time, where they are, and their engines.

A partition is an array or a data frame of any dtypes. It is read as an array with the
columns and the dtype of the whole table.

An engine applies a function to each partition and returns the results in the order of
the partitions. The functions are pure, so an engine may rerun a partition elsewhere if
a worker is lost. Results are added in order, so they are the same to the last bit
wherever and whenever they are computed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import methodcaller
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from halfmoon._rows import Rows

__all__ = [
    "Engine",
    "PartitionedRows",
    "Reader",
    "first_row",
    "in_order",
    "weighted",
]

Partition = tuple[Any, ...]  # the arguments of one call


class Engine(Protocol):
    """Runs a function on partitions."""

    @property
    def threads(self) -> int:
        """Number of partitions that run at once; used for forecasts only."""

    def map(
        self, function: Callable[..., Any], partitions: Sequence[Partition]
    ) -> Iterator[Any]:
        """Yield ``function(*partition)`` for each partition, in their order.

        A few results may be computed ahead, but not all: they may not fit in memory.
        """


def in_order(
    submit: Callable[[Any], Any],
    items: Iterable[Any],
    ahead: int,
    result: Callable[[Any], Any] = methodcaller("result"),
) -> Iterator[Any]:
    """Yield the results of futures, which `submit` returns, in the order of the items.

    At most `ahead` futures are held at once.
    """
    waiting: deque[Any] = deque()
    try:
        for item in items:
            waiting.append(submit(item))
            if len(waiting) >= ahead:
                yield result(waiting.popleft())
        while waiting:
            yield result(waiting.popleft())
    finally:  # after an error, or if the caller stops early
        for future in waiting:
            future.cancel()


@dataclass(frozen=True)
class Reader:
    """Reads a partition: its columns in the right order, as one dtype."""

    columns: tuple[Any, ...] | None  # names of the columns of data frames
    n_columns: int
    dtype: str  # "float64" or "float32"

    def read(self, part: Any, number: int | None = None) -> Rows:
        """Return the rows of a partition as an array, shape (n_i, d)."""
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
            if hasattr(values, "to_numpy"):  # nullable columns contain pd.NA
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

    def with_names(self, values: Any) -> Any:
        """Return rows as a data frame if partitions are data frames."""
        if self.columns is None:
            return values
        import pandas as pd

        return pd.DataFrame(values, columns=list(self.columns))

    def _in_order(self, name: str, part: Any) -> Any:
        """Return a data frame with the columns in order, found by name."""
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
    """A table of rows in partitions, for sums over rows (`Stream.sum`)."""

    #: For each partition its number, its rows and, if there are any, its weights, in
    #: the form that the engine needs.
    partitions: list[Partition]
    reader: Reader
    engine: Callable[[Any], Engine]  # of a client, which may be None
    n: int  # rows with a weight above 0
    example: Rows  # any row, (1, d)
    reading: float = 0.0  # seconds that reading all rows took

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n, self.reader.n_columns

    def map(self, function: Callable[[Rows], Any], client: Any = None) -> Iterator[Any]:
        """Yield ``function(rows)`` for each partition, in their order."""
        work = partial(_read_and_work, self.reader, function)
        return self.engine(client).map(work, self.partitions)


def first_row(X: Rows) -> Rows:
    """Return a row of a table, in partitions or not, shape (1, d)."""
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
    """Return which rows of a partition have a weight above 0."""
    w = np.asarray(weights, dtype=np.float64)
    if w.shape != (rows.shape[0],):
        raise ValueError(
            f"sample_weight has shape {w.shape}, but partition {number} of X has "
            f"{rows.shape[0]} rows; one number for each row is needed."
        )
    if not np.isfinite(w).all() or (w < 0).any():
        raise ValueError("sample_weight must be finite and not negative.")
    return np.asarray(w > 0)
