r"""Reliability of confidences: in bins of confidence, how often is a prediction right?

The expected calibration error is the mean distance between the two,

.. math:: ECE = \sum_b (l_b / l) \, |accuracy_b - confidence_b|
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halfmoon._report.quality_scores import wilson_interval
from halfmoon._rows import Array

__all__ = ["Reliability", "reliability"]

MIN_BINS, MAX_BINS, ROWS_PER_BIN = 2, 10, 8


@dataclass(frozen=True, eq=False)
class Reliability:
    """Bins that are not empty, by rising confidence; all arrays have shape (b,)."""

    confidence: Array  # mean over the rows of a bin
    accuracy: Array
    low: Array  # Wilson's 95 % interval of the accuracy
    high: Array
    counts: NDArray[np.int64]  # rows of a bin

    @property
    def error(self) -> float:
        """Expected calibration error; NaN without rows."""
        return self._mean(np.abs(self.accuracy - self.confidence))

    @property
    def mean_confidence(self) -> float:
        """Mean confidence of all rows."""
        return self._mean(self.confidence)

    @property
    def mean_accuracy(self) -> float:
        """Share of all rows that are right."""
        return self._mean(self.accuracy)

    def _mean(self, values: Array) -> float:
        if len(values) == 0:
            return float("nan")
        return float(np.average(values, weights=self.counts))


def reliability(
    confidence: Array,  # (l,)
    right: NDArray[np.bool_],  # (l,)
    bins: int | None = None,
) -> Reliability:
    """Bin rows by equal steps of confidence from 0 to 1.

    Parameters
    ----------
    confidence : ndarray of shape (l,)
        Rows with NaN are ignored.
    right : ndarray of bool of shape (l,)
    bins : int or None
        None means one bin for 8 rows, 2 to 10.
    """
    known = ~np.isnan(confidence)
    confidence, right = confidence[known], right[known]
    if bins is None:
        bins = int(np.clip(len(right) // ROWS_PER_BIN, MIN_BINS, MAX_BINS))
    place = np.minimum((confidence * bins).astype(int), bins - 1)
    counts = np.bincount(place, minlength=bins)
    used = counts > 0
    counts = counts[used].astype(np.int64)
    hits, sums = (
        np.bincount(place, weights, bins)[used] for weights in (right, confidence)
    )
    ends = [wilson_interval(k, n) for k, n in zip(hits, counts, strict=True)]
    low, high = np.array(ends).reshape(-1, 2).T
    return Reliability(sums / counts, hits / counts, low, high, counts)
