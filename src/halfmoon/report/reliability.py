r"""Is confidence earned? Rows binned by confidence, each bin beside its accuracy.

The expected calibration error is the mean distance of the two,

.. math:: ECE = \sum_b (l_b / l) \, |accuracy_b - confidence_b|
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halfmoon.report.scores import wilson_interval
from halfmoon.rows import Array

__all__ = ["Reliability", "reliability"]

MOST_BINS, ROWS_PER_BIN = 10, 8


@dataclass(frozen=True, eq=False)
class Reliability:
    """Bins that are not empty, by rising confidence.

    Attributes
    ----------
    confidence, accuracy : ndarrays of shape (b,)
        Means over the rows of a bin.
    low, high : ndarrays of shape (b,)
        Wilson's 95 % interval of the accuracy.
    counts : ndarray of shape (b,)
    error : float
        The expected calibration error; NaN without rows.
    mean_confidence, mean_accuracy : float
        Over all rows.
    """

    confidence: Array
    accuracy: Array
    low: Array
    high: Array
    counts: NDArray[np.int64]
    error: float
    mean_confidence: float
    mean_accuracy: float


def reliability(
    confidence: Array,  # (l,)
    right: NDArray[np.bool_],  # (l,)
    bins: int | None = None,
) -> Reliability:
    """Bin rows by equal steps of confidence from 0 to 1.

    Parameters
    ----------
    confidence : ndarray of shape (l,)
        NaN, of rows of which nothing is known, does not count.
    right : ndarray of bool of shape (l,)
    bins : int or None
        None is one for 8 rows, 2 to 10.
    """
    known = ~np.isnan(confidence)
    confidence, right = confidence[known], right[known]
    l = len(confidence)
    if l == 0:
        none = np.empty(0)
        counts = np.empty(0, np.int64)
        return Reliability(*(none,) * 4, counts, np.nan, np.nan, np.nan)
    if bins is None:
        bins = int(np.clip(l // ROWS_PER_BIN, 2, MOST_BINS))
    place = np.clip((confidence * bins).astype(int), 0, bins - 1)
    counts = np.bincount(place, minlength=bins)
    used = counts > 0
    hits = np.bincount(place, weights=right, minlength=bins)[used]
    total = np.bincount(place, weights=confidence, minlength=bins)[used]
    counts = counts[used]
    ends = [wilson_interval(int(k), int(m)) for k, m in zip(hits, counts, strict=True)]
    low, high = np.array(ends).T
    gaps = np.abs(hits - total)
    return Reliability(
        *(total / counts, hits / counts, low, high, counts.astype(np.int64)),
        error=float(gaps.sum() / l),
        mean_confidence=float(confidence.mean()),
        mean_accuracy=float(right.mean()),
    )
