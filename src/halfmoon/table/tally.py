"""What the predictions of a whole table add up to, batch by batch."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from halfmoon.report.histogram import Histogram
from halfmoon.report.picks import SHOWN, least_sure
from halfmoon.table.model import Prediction

__all__ = ["Tally", "Unsure"]


class Unsure(NamedTuple):
    """A row of which the prediction is not sure."""

    number: int  # in the table, from 0
    cells: dict[str, str]
    value: Any
    second: Any  # the next likely class, or None
    confidence: float | None
    low: float | None
    high: float | None


@dataclass
class Tally:
    """Counts over the predicted rows, and the least sure of them.

    Attributes
    ----------
    edges : ndarray
        Of the histogram of confidences, or of predicted numbers.
    n : int
        Predicted rows.
    classes : Counter
        How often each class was predicted.
    histogram : Histogram
        Of confidences, or of predicted numbers.
    total : float
        Sum of confidences, or of the widths of intervals.
    unsure : list of Unsure
        The least sure row first.
    """

    edges: NDArray[np.float64]
    n: int = 0
    classes: Counter[Any] = field(default_factory=Counter)
    total: float = 0.0
    unsure: list[Unsure] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.histogram = Histogram.of([], self.edges)
        self._sureness = np.empty(0)

    @property
    def mean(self) -> float:
        """Mean confidence, or mean width of the intervals; NaN of nothing."""
        return self.total / self.n if self.n else float("nan")

    def add(
        self,
        prediction: Prediction,
        rows: pa.RecordBatch,
        numbers: NDArray[np.int64],
    ) -> None:
        """Count a batch of predicted rows.

        Parameters
        ----------
        prediction : Prediction
        rows : RecordBatch
            All columns of the predicted rows.
        numbers : ndarray of int
            Where they stand in the table.
        """
        self.n += len(numbers)
        if prediction.confidence is not None:
            measured, sureness = prediction.confidence, prediction.confidence
            self.classes.update(list(prediction.values))
            self.total += float(measured.sum())
        else:
            measured = np.asarray(prediction.values, dtype=np.float64)
            width = np.asarray(prediction.high) - np.asarray(prediction.low)
            sureness = -width
            self.total += float(width.sum())
        self.histogram += Histogram.of(measured, self.edges)
        self._keep_least_sure(sureness, prediction, rows, numbers)

    def _keep_least_sure(
        self,
        sureness: NDArray[np.float64],
        prediction: Prediction,
        rows: pa.RecordBatch,
        numbers: NDArray[np.int64],
    ) -> None:
        for i in least_sure(sureness):
            if len(self.unsure) >= SHOWN and sureness[i] >= self._sureness[SHOWN - 1]:
                break
            cells = rows.slice(int(i), 1).to_pylist()[0]
            self.unsure.append(
                Unsure(
                    int(numbers[i]),
                    {name: as_text(cell) for name, cell in cells.items()},
                    _at(prediction.values, i),
                    _at(prediction.second, i),
                    _at(prediction.confidence, i),
                    _at(prediction.low, i),
                    _at(prediction.high, i),
                )
            )
            self._sureness = np.append(self._sureness, sureness[i])
        order = least_sure(self._sureness)
        self.unsure = [self.unsure[i] for i in order]
        self._sureness = self._sureness[order]


def as_text(cell: Any) -> str:
    """A cell for a person to read."""
    return "" if cell is None else str(cell)


def _at(values: Any, i: int) -> Any:
    if values is None:
        return None
    value = values[i]
    return value.item() if isinstance(value, np.generic) else value
