"""What the predictions of a whole table add up to, batch by batch."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from halfmoon.report.histogram import Histogram
from halfmoon.table.predictions import Prediction
from halfmoon.table.unsure_rows import UnsureRows

__all__ = ["Tally"]


@dataclass
class Tally:
    """Counts over the predicted rows, and the least sure of them.

    Attributes
    ----------
    edges : ndarray
        Of the histogram of confidences, or of predicted numbers.
    unsure : UnsureRows
        The least sure of them.
    n : int
        Predicted rows.
    classes : Counter
        How often each class was predicted.
    histogram : Histogram
        Of confidences, or of predicted numbers.
    n_within : int
        Rows of which something was known, within which the prediction stayed.
    total : float
        Sum of confidences, or of the widths of intervals.
    confidences : Counter
        Sum of confidences of each class.
    """

    edges: NDArray[np.float64]
    unsure: UnsureRows = field(default_factory=UnsureRows)
    n: int = 0
    n_within: int = 0
    classes: Counter[Any] = field(default_factory=Counter)
    total: float = 0.0
    confidences: Counter[Any] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.histogram = Histogram.of([], self.edges)

    @property
    def mean(self) -> float:
        """Mean confidence, or mean width of the intervals; NaN of nothing.

        Of rows of which nothing was known: the others are surer.
        """
        free = self.n - self.n_within
        return self.total / free if free else float("nan")

    def mean_of_classes(self) -> dict[Any, float]:
        """Mean confidence of the rows that were predicted to be of each class."""
        return {name: self.confidences[name] / n for name, n in self.classes.items()}

    def add(
        self,
        prediction: Prediction,
        rows: pa.RecordBatch,
        numbers: NDArray[np.int64],
        within: NDArray[np.bool_] | None = None,
    ) -> None:
        """Count a batch of predicted rows.

        Parameters
        ----------
        prediction : Prediction
        rows : RecordBatch
            All columns of the predicted rows.
        numbers : ndarray of int
            Where they stand in the table.
        within : ndarray of bool or None
            Rows of which something was known; None is none of them.
        """
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
            width = np.asarray(prediction.high) - np.asarray(prediction.low)
            self.total += float(width[free].sum())
        self.histogram += Histogram.of(measured, self.edges)
        self.unsure.offer(prediction, rows, numbers)

    def merge(self, other: Tally) -> None:
        """Count what another tally has counted, of rows behind these."""
        self.n += other.n
        self.n_within += other.n_within
        self.total += other.total
        self.classes.update(other.classes)
        self.confidences.update(other.confidences)
        self.histogram += other.histogram
        self.unsure.merge(other.unsure)
