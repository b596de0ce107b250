"""Histograms that add up batch by batch, for tables of any length."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halfmoon._rows import Array
from halfmoon._selection.criteria import RANGE_MARGIN

__all__ = ["Histogram", "confidence_edges", "number_edges"]

CONFIDENCE_BINS = 20
MIN_BINS, MAX_BINS = 6, 30


@dataclass(frozen=True, eq=False)
class Histogram:
    """Counts between edges; the outermost bins include what lies beyond them.

    Examples
    --------
    >>> edges = np.array([0.0, 1.0, 2.0])
    >>> one, two = (Histogram.of(x, edges) for x in ([0.5, 1.0, 9.0], [-3.0]))
    >>> (one + two).counts
    array([2, 2])
    """

    edges: Array  # (b + 1,)
    counts: NDArray[np.int64]  # (b,)

    @classmethod
    def of(cls, values: object, edges: Array) -> Histogram:
        """Count values; NaN is ignored."""
        values = np.asarray(values, dtype=np.float64)
        values = np.clip(values[~np.isnan(values)], edges[0], edges[-1])
        counts = np.histogram(values, edges)[0]
        return cls(np.asarray(edges), counts.astype(np.int64))

    def __add__(self, other: Histogram) -> Histogram:
        if not np.array_equal(self.edges, other.edges):
            raise ValueError("Only histograms with the same edges can be added.")
        return Histogram(self.edges, self.counts + other.counts)

    @property
    def shares(self) -> Array:
        """Percentage of the values in each bin."""
        return np.asarray(100 * self.counts / max(1, self.counts.sum()))

    @property
    def mean(self) -> float:
        """Mean of the values, each taken for the middle of its bin."""
        middle = (self.edges[1:] + self.edges[:-1]) / 2
        return float(middle @ self.shares) / 100


def without_empty_ends(*several: Histogram) -> list[Histogram]:
    """Cut off the first and last bins that are empty in each of the histograms.

    Examples
    --------
    >>> one = Histogram.of([1.5, 2.5], np.arange(6.0))
    >>> other = Histogram.of([2.5, 3.5], np.arange(6.0))
    >>> [each.counts.tolist() for each in without_empty_ends(one, other)]
    [[1, 1, 0], [0, 1, 1]]
    """
    full = np.flatnonzero(np.sum([each.counts for each in several], axis=0))
    if not len(full):
        return list(several)
    first, last = int(full[0]), int(full[-1]) + 1
    return [
        Histogram(each.edges[first : last + 1], each.counts[first:last])
        for each in several
    ]


def confidence_edges() -> Array:
    """Return the edges of 20 equal bins from 0 to 1."""
    return np.linspace(0.0, 1.0, CONFIDENCE_BINS + 1)


def number_edges(given: Array) -> Array:
    """Return edges that hold the labels and all that may be predicted from them.

    There are 2 l^(1/3) bins (Rice's rule) over the range of the labels, and bins for a
    quarter of that range on either side. If all labels are equal, the range is 1.
    """
    given = np.asarray(given, dtype=np.float64)
    low, high = float(given.min()), float(given.max())
    if not high > low:
        low, high = low - 0.5, high + 0.5
    bins = int(np.clip(np.ceil(2 * len(given) ** (1 / 3)), MIN_BINS, MAX_BINS))
    extra = int(np.ceil(RANGE_MARGIN * bins))
    steps = np.arange(-extra, bins + extra + 1, dtype=float)
    return np.asarray(low + (high - low) / bins * steps)
