"""Counts in bins, added up batch by batch, so that no table is too long for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halfmoon.rows import Array

__all__ = ["Histogram", "confidence_edges", "number_edges"]

CONFIDENCE_BINS = 20
MOST_BINS, FEWEST_BINS = 30, 6
ROOM = 0.25  # beyond the labels, beside their range; the estimators go no further


@dataclass(frozen=True, eq=False)
class Histogram:
    """Counts between edges; the outermost bins take what lies beyond them.

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
        """Of values, NaN left out."""
        values = np.asarray(values, dtype=np.float64)
        values = np.clip(values[~np.isnan(values)], edges[0], edges[-1])
        counts = np.histogram(values, edges)[0]
        return cls(np.asarray(edges), counts.astype(np.int64))

    def __add__(self, other: Histogram) -> Histogram:
        if not np.array_equal(self.edges, other.edges):
            raise ValueError("Histograms with other edges cannot be added up.")
        return Histogram(self.edges, self.counts + other.counts)


def confidence_edges() -> Array:
    """Edges of 20 equal bins from 0 to 1."""
    return np.linspace(0.0, 1.0, CONFIDENCE_BINS + 1)


def number_edges(given: Array) -> Array:
    """Edges that hold the given numbers and what may be predicted beyond them.

    2 l^(1/3) bins (Rice) over the range of the labels, and a quarter of it on either
    side, since answers leave that range by no more. Of equal numbers the range is 1.
    """
    given = np.asarray(given, dtype=np.float64)
    low, high = float(given.min()), float(given.max())
    if not high > low:
        low, high = low - 0.5, high + 0.5
    bins = int(np.clip(np.ceil(2 * len(given) ** (1 / 3)), FEWEST_BINS, MOST_BINS))
    width = (high - low) / bins
    extra = int(np.ceil(ROOM * bins))
    return np.asarray(low + width * np.arange(-extra, bins + extra + 1, dtype=float))
