"""Counts over the predictions of a table, batch by batch."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from halfmoon._report.histogram import Histogram
from halfmoon.table._models.predictions import Prediction
from halfmoon.table._runs.least_sure_rows import UnsureRows

__all__ = ["RunningCounts"]


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
