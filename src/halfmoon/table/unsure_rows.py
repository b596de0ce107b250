"""The least sure of the predicted rows, kept while batches go by, equal ones once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from halfmoon.report.picks import least_sure
from halfmoon.rows import Array
from halfmoon.table.predictions import Prediction
from halfmoon.table.row_keys import cell_keys
from halfmoon.table.sampling import joined

__all__ = ["Answer", "Unsure", "UnsureRows", "as_text", "unsure_of"]

MOST_ROWS = 1_000
MOST_BYTES = 16_000_000
FEWEST_ROWS = 20
OWN = ("number", "key", "doubt")  # columns of `state`, behind those of the rows


class Unsure(NamedTuple):
    """A row of which the prediction is not sure."""

    number: int  # in the table, from 0
    cells: dict[str, str]
    value: Any
    second: Any  # the next likely class, or None
    confidence: float | None
    low: float | None
    high: float | None


class Answer(NamedTuple):
    """What is predicted for a row."""

    value: Any
    second: Any
    confidence: float | None
    low: float | None
    high: float | None


@dataclass
class UnsureRows:
    """The rows of least confidence, or of widest interval, the least sure first.

    Rows that are equal in the columns that were learned from get the same prediction:
    the first of them stands for all.

    Parameters
    ----------
    features : sequence of str
        The columns that were learned from; none stands for all.
    most_rows, most_bytes : int
        What is kept at most.

    Attributes
    ----------
    doubt : ndarray of shape (m,)
        1 - confidence, or the width of the interval.
    """

    features: Sequence[str] = ()
    most_rows: int = MOST_ROWS
    most_bytes: int = MOST_BYTES

    doubt: Array = field(default_factory=lambda: np.empty(0))
    _parts: list[pa.Table] = field(default_factory=list)
    _numbers: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    _keys: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))
    _answers: list[Answer] = field(default_factory=list)
    _below: float = -np.inf  # rows with less doubt than this are not among them

    def __len__(self) -> int:
        return len(self.doubt)

    def offer(
        self, prediction: Prediction, rows: pa.RecordBatch, numbers: NDArray[np.int64]
    ) -> None:
        """Take a batch of predicted rows into account.

        Parameters
        ----------
        prediction : Prediction
        rows : RecordBatch
            All columns of the predicted rows.
        numbers : ndarray of int
            Where they stand in the table, from 0.
        """
        doubt = doubt_of(prediction)
        where = np.flatnonzero(doubt > self._below)  # not NaN
        if not len(where):
            return
        some = rows.take(pa.array(where))
        keys = cell_keys(some, self.features or some.schema.names)
        new = np.sort(np.unique(keys, return_index=True)[1])
        new = new[~np.isin(keys[new], self._keys)]
        if not len(new):
            return
        where = where[new]
        self._add(
            pa.Table.from_batches([some.take(pa.array(new))]),
            doubt[where],
            numbers[where],
            keys[new],
            [_answer(prediction, int(i)) for i in where],
        )

    def merge(self, other: UnsureRows) -> None:
        """Take the least sure rows of another part of the table into account."""
        those = ~np.isin(other._keys, self._keys) & (other.doubt > self._below)
        new = np.flatnonzero(those)
        if len(new):
            answers = [other._answers[i] for i in new]
            rows = other._parts[0].take(pa.array(new))
            self._add(
                rows, other.doubt[new], other._numbers[new], other._keys[new], answers
            )

    def _add(
        self,
        rows: pa.Table,
        doubt: Array,
        numbers: NDArray[np.int64],
        keys: NDArray[np.uint64],
        answers: list[Answer],
    ) -> None:
        """Add rows of which none is held yet, and let the surest go."""
        self._parts.append(rows)
        self._numbers = np.append(self._numbers, numbers)
        self._keys = np.append(self._keys, keys)
        self._answers += answers
        self.doubt = np.append(self.doubt, doubt)
        self._shrink()

    def state(self) -> tuple[pa.Table | None, list[Answer]]:
        """What is held: rows with their numbers, keys and doubts, and the answers."""
        if not self._parts:
            return None, []
        rows = self._parts[0]
        own = (self._numbers, self._keys, self.doubt)
        for name, values in zip(OWN, own, strict=True):
            rows = rows.append_column(name, pa.array(values))
        return rows, self._answers

    def restore(self, rows: pa.Table | None, answers: list[Answer]) -> None:
        """Hold what `state` gave, and nothing else."""
        if rows is None:
            return
        own = [rows.column(len(rows.schema) - 3 + i).to_numpy() for i in range(3)]
        names = rows.schema.names[:-3]
        self._parts = [rows.select(range(len(names)))]
        self._numbers, self._keys, self.doubt = own
        self._answers = list(answers)

    def table(self) -> pa.Table:
        """The rows, the least sure first; None if there are none."""
        return self._parts[0] if self._parts else None

    def rows_numbered(self, numbers: Sequence[int]) -> pa.Table:
        """Those of the rows that have these numbers in the table, in this order."""
        places = {int(number): i for i, number in enumerate(self._numbers)}
        return self._parts[0].take(pa.array([places[number] for number in numbers]))

    def row(self, i: int) -> Unsure:
        """The i-th of the rows."""
        return _unsure(self._parts[0], i, int(self._numbers[i]), self._answers[i])

    def _shrink(self) -> None:
        held = joined(self._parts)
        row_bytes = max(1.0, held.nbytes / len(held))
        capacity = max(FEWEST_ROWS, int(self.most_bytes / row_bytes))
        capacity = min(self.most_rows, capacity)
        order = least_sure(-self.doubt, capacity)
        if len(self.doubt) > len(order):
            self._below = float(self.doubt[order[-1]])
        self._parts = [held.take(pa.array(order))]
        self._numbers, self._keys = self._numbers[order], self._keys[order]
        self._answers = [self._answers[i] for i in order]
        self.doubt = self.doubt[order]


def unsure_of(rows: pa.Table, i: int, number: int, prediction: Prediction) -> Unsure:
    """The i-th of some rows, its number in the table, and what is predicted for it."""
    return _unsure(rows, i, number, _answer(prediction, i))


def _unsure(rows: pa.Table, i: int, number: int, answer: Answer) -> Unsure:
    cells = rows.slice(i, 1).to_pylist()[0]
    texts = {name: as_text(cell) for name, cell in cells.items()}
    return Unsure(number, texts, *answer)


def doubt_of(prediction: Prediction) -> Array:
    """How unsure predictions are: 1 - confidence, or the width of the interval."""
    if prediction.confidence is not None:
        return 1.0 - np.asarray(prediction.confidence, dtype=np.float64)
    return np.asarray(prediction.high) - np.asarray(prediction.low)


def as_text(cell: Any) -> str:
    """A cell for a person to read."""
    return "" if cell is None else str(cell)


def _answer(prediction: Prediction, i: int) -> Answer:
    return Answer(
        *(
            _at(values, i)
            for values in (
                prediction.values,
                prediction.second,
                prediction.confidence,
                prediction.low,
                prediction.high,
            )
        )
    )


def _at(values: Any, i: int) -> Any:
    if values is None:
        return None
    value = values[i]
    return value.item() if isinstance(value, np.generic) else value
