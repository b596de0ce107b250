"""Counts over the predictions of a table, batch by batch, and the least sure rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from halfmoon._report.findings import Histogram
from halfmoon._report.rows_to_review import least_sure
from halfmoon._rows import Array
from halfmoon.table._cells.cell_values import as_column, row_texts
from halfmoon.table._columns.column_kinds import Columns
from halfmoon.table._files.arrow_types import column_text
from halfmoon.table._models.predictions import Prediction, RowPrediction, Unsure
from halfmoon.table._runs.first_pass import joined_rows

__all__ = ["RunningCounts", "UnsureRows", "cell_keys", "value_keys"]

MAX_KEPT_ROWS = 1_000
MAX_KEPT_BYTES = 16_000_000
MIN_KEPT_ROWS = 20
FIELDS = ("number", "key", "doubt")  # what is kept about each row
KEPT = np.dtype(list(zip(FIELDS, ("i8", "u8", "f8"), strict=True)))
MIXER = np.uint64(0x9E3779B97F4A7C15)  # odd: multiplying by it loses no bit


@dataclass
class UnsureRows:
    """The rows of least confidence, or of widest interval, the least sure first.

    Rows with equal features get the same prediction, so only the first is kept.
    """

    features: Sequence[str] = ()  # columns that were learned from; empty for all
    max_rows: int = MAX_KEPT_ROWS
    max_bytes: int = MAX_KEPT_BYTES

    _rows: pa.Table | None = None
    _kept: NDArray[Any] = field(default_factory=lambda: np.empty(0, KEPT))
    _predictions: list[RowPrediction] = field(default_factory=list)
    _min_doubt: float = -np.inf  # rows with less doubt cannot enter

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def numbers(self) -> NDArray[np.int64]:
        """Positions of the rows in the table, from 0, shape (m,)."""
        return np.asarray(self._kept["number"])

    @property
    def doubt(self) -> Array:
        """1 - confidence, or the width of the interval, shape (m,)."""
        return np.asarray(self._kept["doubt"])

    def offer(
        self,
        prediction: Prediction,
        rows: pa.RecordBatch,  # all columns
        numbers: NDArray[np.int64],  # (b,), positions in the table
    ) -> None:
        """Consider a batch of predicted rows, the least sure first."""
        doubt = prediction.doubt
        where = np.flatnonzero(doubt > self._min_doubt)  # not NaN
        where = where[np.argsort(-doubt[where], kind="stable")]
        for first in range(0, len(where), 2 * self.max_rows):
            part = np.sort(where[first : first + 2 * self.max_rows])
            part = part[doubt[part] > self._min_doubt]  # which rises with each part
            if not len(part):
                return
            taken = rows.take(pa.array(part))
            kept = np.empty(len(part), KEPT)
            kept["number"], kept["doubt"] = numbers[part], doubt[part]
            kept["key"] = cell_keys(taken, self.features or taken.schema.names)
            predictions = [prediction.at(i) for i in part.tolist()]
            self._add(pa.Table.from_batches([taken]), kept, predictions)

    def merge(self, other: UnsureRows) -> None:
        """Consider the least sure rows of another part of the table."""
        if len(other):
            self._add(other.table(), other._kept, other._predictions)

    def _add(
        self, rows: pa.Table, kept: NDArray[Any], predictions: list[RowPrediction]
    ) -> None:
        """Add rows with new keys and drop the surest."""
        new = np.sort(np.unique(kept["key"], return_index=True)[1])
        is_old = np.isin(kept["key"][new], self._kept["key"])
        new = new[~is_old & (kept["doubt"][new] > self._min_doubt)]
        if not len(new):
            return
        rows = rows.take(pa.array(new))
        rows = rows if self._rows is None else joined_rows([self._rows, rows])
        kept = np.append(self._kept, kept[new])
        predictions = self._predictions + [predictions[i] for i in new]
        row_bytes = max(1.0, rows.nbytes / len(rows))
        capacity = max(MIN_KEPT_ROWS, int(self.max_bytes / row_bytes))
        order = least_sure(-kept["doubt"], min(self.max_rows, capacity))
        if len(kept) > len(order):
            self._min_doubt = float(kept["doubt"][order[-1]])
        self._rows, self._kept = rows.take(pa.array(order)), kept[order]
        self._predictions = [predictions[i] for i in order]

    def state(self) -> tuple[pa.Table | None, list[RowPrediction]]:
        """Return the rows with what is kept about them, and the predictions."""
        if self._rows is None:
            return None, []
        rows = self._rows
        for name in FIELDS:
            rows = rows.append_column(name, pa.array(self._kept[name]))
        return rows, self._predictions

    def restore(self, rows: pa.Table | None, predictions: list[RowPrediction]) -> None:
        """Restore what `state` returned."""
        if rows is None:
            return
        n = rows.num_columns - len(FIELDS)
        self._rows, self._predictions = rows.select(range(n)), list(predictions)
        self._kept = np.empty(len(rows), KEPT)
        for i, name in enumerate(FIELDS, start=n):
            self._kept[name] = rows.column(i).to_numpy()

    def table(self) -> pa.Table:
        """Return the rows, the least sure first; None if there are none."""
        return self._rows

    def row(self, i: int) -> Unsure:
        """Return row i of `table`, with its prediction."""
        (cells,) = row_texts(self.table().slice(i, 1))
        return Unsure(int(self.numbers[i]), cells, self._predictions[i])


@dataclass
class RunningCounts:
    """Counts over the predicted rows, and the least sure of these rows."""

    edges: NDArray[np.float64]  # of the histogram
    unsure: UnsureRows = field(default_factory=UnsureRows)
    n: int = 0  # predicted rows
    n_within: int = 0  # predicted rows that had a partial label
    classes: Counter[Any] = field(default_factory=Counter)  # predicted rows of each
    total: float = 0.0  # of confidences, or widths, of rows without a partial label
    confidences: Counter[Any] = field(default_factory=Counter)  # sum for each class

    def __post_init__(self) -> None:
        self.histogram = Histogram.of([], self.edges)

    @property
    def mean(self) -> float:
        """Mean confidence, or mean width of intervals, without partial labels."""
        free = self.n - self.n_within
        return self.total / free if free else float("nan")

    def mean_of_classes(self) -> dict[Any, float]:
        """Return the mean confidence of the rows predicted as each class."""
        return {name: self.confidences[name] / n for name, n in self.classes.items()}

    def add(
        self,
        prediction: Prediction,
        rows: pa.RecordBatch,  # all columns
        numbers: NDArray[np.int64],  # (b,), positions in the table
        within: NDArray[np.bool_] | None = None,  # (b,), rows with a partial label
    ) -> None:
        """Count a batch of predicted rows."""
        self.n += len(numbers)
        free = np.ones(len(numbers), dtype=bool) if within is None else ~within
        self.n_within += int((~free).sum())
        if prediction.confidence is not None:
            measured = prediction.confidence
            self.classes.update(list(prediction.values))
            self.total += float(measured[free].sum())
            by_class = pd.Series(measured).groupby(list(prediction.values), sort=False)
            self.confidences.update(by_class.sum().to_dict())
        else:
            measured = np.asarray(prediction.values, dtype=np.float64)
            self.total += float(prediction.doubt[free].sum())
        self.histogram += Histogram.of(measured, self.edges)
        self.unsure.offer(prediction, rows, numbers)

    def merge(self, other: RunningCounts) -> None:
        """Add the counts of later rows."""
        self.n += other.n
        self.n_within += other.n_within
        self.total += other.total
        self.classes.update(other.classes)
        self.confidences.update(other.confidences)
        self.histogram += other.histogram
        self.unsure.merge(other.unsure)


def cell_keys(
    rows: pa.RecordBatch | pa.Table, columns: Sequence[str]
) -> NDArray[np.uint64]:
    """Return keys that are equal if the cells of some columns are equal as text.

    The number 1.5 equals the text "1.5".
    """
    texts = [
        text.strip()
        for name in columns
        for text in column_text(as_column(rows.column(name)))
    ]
    # One call for all cells: the batches of a long table offer a few rows each.
    hashes = pd.util.hash_array(np.array(texts, dtype=object))
    keys = np.zeros(rows.num_rows, dtype=np.uint64)
    for each in hashes.reshape(len(columns), rows.num_rows):
        keys = (keys ^ each) * MIXER
    return keys


def value_keys(rows: pa.RecordBatch | pa.Table, columns: Columns) -> NDArray[np.uint64]:
    """Return keys that are equal if the used columns hold equal values, as 21, 21.0."""
    # A copy, because reading counts unreadable cells.
    frame = Columns(columns.uses).read(rows)
    return np.asarray(pd.util.hash_pandas_object(frame, index=False))
