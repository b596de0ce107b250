"""Which rows a reader should look at: the least sure, and labels that look wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from halfmoon.queries.suspicious import interval_ratios
from halfmoon.rows import Array

__all__ = ["SHOWN", "least_sure", "suspect_classes", "suspect_numbers"]

SHOWN = 20
DOUBTFUL = 0.1  # a given class this unlikely, or less, may be a slip
FAR = 3.5  # robust deviations (Iglewicz and Hoaglin's bound)
OUTSIDE = 1.2  # times as far from the prediction as the end of the interval
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
    given: Sequence[str], predicted: Sequence[str], given_probability: Array
) -> NDArray[np.intp]:
    """Rows whose given class is another than the predicted one and at most 10 % likely.

    The least likely first. None of this says that a label is wrong: only that the other
    rows speak against it. A label that is the only one of its class is never among
    them: without it nothing is known of the class.

    Examples
    --------
    >>> p = np.array([0.9, 0.02, 0.05, 0.01])
    >>> suspect_classes(["a", "a", "b", "c"], ["a", "b", "b", "a"], p)
    array([1])
    """
    alone = Counter(given)
    doubted = [
        one != other and alone[one] > 1
        for one, other in zip(given, predicted, strict=True)
    ]
    chosen = np.flatnonzero(
        np.array(doubted, dtype=bool) & (given_probability <= DOUBTFUL)
    )
    return chosen[np.argsort(given_probability[chosen], kind="stable")]


def suspect_numbers(
    given: Array,  # (m,)
    predicted: Array,  # (m,)
    low: Array,  # (m,)
    high: Array,  # (m,)
) -> NDArray[np.intp]:
    """Rows whose given number is far outside of its own interval.

    With t the residual as a multiple of the distance from the prediction to the end of
    the interval on its side, these are the rows with abs(t) above 1.2 and with
    0.6745 abs(t - m) above 3.5 MAD, where m is the median of t and MAD the median of
    abs(t - m). So each row is judged by the errors that are usual for such rows, and a
    few wild labels do not hide each other, as they would with a standard deviation. The
    farthest comes first.
    """
    t = interval_ratios(given, predicted, low, high)
    known = np.isfinite(t)
    if known.sum() < 3:
        return np.empty(0, dtype=np.intp)
    t = np.where(known, t, 0.0)
    distance = np.where(known, np.abs(t - np.median(t[known])), 0.0)
    spread = float(np.median(distance[known])) / MAD
    # Where most residuals are equal there is no spread to measure others by.
    far = (distance > FAR * spread) & (np.abs(t) > OUTSIDE) & (spread > 0)
    chosen = np.flatnonzero(far)
    return chosen[np.argsort(-np.abs(t[chosen]), kind="stable")]
