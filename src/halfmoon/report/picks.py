"""Which rows a reader should look at: the least sure, and labels that look wrong."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from halfmoon.rows import Array

__all__ = ["least_sure", "suspect_classes", "suspect_numbers"]

SHOWN = 20
DOUBTFUL = 0.1  # a given class this unlikely, or less, may be a slip
FAR = 3.5  # robust deviations (Iglewicz and Hoaglin's bound)
MAD = 0.6745  # a normal deviation has this median size


def least_sure(
    sureness: Array, count: int = SHOWN
) -> NDArray[np.intp]:  # rows, least sure first
    """The rows of least confidence, or, given minus the widths, of widest interval.

    Rows that tie keep their order, and NaN is left out. The least sure of a long table
    are among the least sure of its batches, so that batches can be taken one by one.

    Examples
    --------
    >>> least_sure(np.array([0.9, 0.4, 0.6]), 2)
    array([1, 2])
    """
    order = np.argsort(sureness, kind="stable")  # NaN come last
    return order[: min(count, int((~np.isnan(sureness)).sum()))]


def suspect_classes(
    given: Sequence[str],
    predicted: Sequence[str],
    given_probability: Array,
    count: int = SHOWN,
) -> NDArray[np.intp]:
    """Rows whose given class is another than the predicted one and at most 10 % likely.

    The least likely first. None of this says that a label is wrong: only that the other
    rows speak against it.
    """
    differs = np.array(
        [one != other for one, other in zip(given, predicted, strict=True)], dtype=bool
    )
    chosen = np.flatnonzero(differs & (given_probability <= DOUBTFUL))
    order = np.argsort(given_probability[chosen], kind="stable")
    return chosen[order[:count]]


def suspect_numbers(
    given: Array, predicted: Array, count: int = SHOWN
) -> NDArray[np.intp]:
    """Rows whose residual is beyond 3.5 robust deviations from the median residual.

    With m the median and MAD the median of abs(r - m), those with 0.6745 abs(r - m)
    above 3.5 MAD; the farthest first. A few wild labels do not hide each other, as they
    would with a standard deviation.
    """
    r = given - predicted
    known = np.isfinite(r)
    if known.sum() < 3:
        return np.empty(0, dtype=np.intp)
    distance = np.where(known, np.abs(r - np.median(r[known])), 0.0)
    spread = float(np.median(distance[known])) / MAD
    # Where most residuals are equal there is no spread to measure others by.
    chosen = np.flatnonzero((distance > FAR * spread) & (spread > 0))
    order = np.argsort(-distance[chosen], kind="stable")
    return chosen[order[:count]]
