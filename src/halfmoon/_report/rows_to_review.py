"""Rows that deserve a check: unsure predictions, and labels that look wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from halfmoon._estimators.intervals import interval_ratios
from halfmoon._rows import Array

__all__ = ["MAX_REVIEW_ROWS", "least_sure", "suspect_classes", "suspect_numbers"]

MAX_REVIEW_ROWS = 20
MAX_PROBABILITY = 0.15  # of a given class that looks wrong
MAX_OF_SHARE = 0.3  # the same, as a multiple of the share of labels of its class
MIN_DEVIATIONS = 3.5  # robust ones (Iglewicz and Hoaglin's bound)
MIN_RATIO = 1.2  # of the error to the distance of the end of the interval
MIN_ERROR = 0.1  # share of the usual deviation of a label, or of an amount
MADS_PER_DEVIATION = 0.6745  # median absolute deviation of a standard normal variable


def least_sure(
    sureness: Array, count: int = MAX_REVIEW_ROWS
) -> NDArray[np.intp]:  # rows, least sure first
    """Return the rows of least confidence; for intervals, pass minus their widths.

    Ties keep their order, and NaN is ignored. The least sure rows of a long table are
    among the least sure rows of its batches, so batches can be processed one by one.

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
    """Return rows whose given class is not predicted and unlikely.

    It is at most 15 % likely, and at most 0.3 times as likely as among all labels: to a
    model that knows little more than how common the classes are, every label of a rare
    class, or of one of many classes, is unlikely. The row itself has to speak against
    its label. Where a tenth of the labels is wrong, no confidence is much above 90 %,
    so a bound of 10 % would find next to none of them.

    The least likely comes first. Such a label need not be wrong: the other rows only
    suggest another one. A label that is the only one of its class is never suspected,
    because nothing else is known about the class.

    Examples
    --------
    >>> p = np.array([0.9, 0.02, 0.05, 0.01])
    >>> suspect_classes(["a", "a", "b", "c"], ["a", "b", "b", "a"], p)
    array([1])
    """
    labels = Counter(given)
    pairs = zip(given, predicted, strict=True)
    differs = np.array([a != b and labels[a] > 1 for a, b in pairs], dtype=bool)
    shares = np.array([labels[each] / len(given) for each in given])
    bound = np.minimum(MAX_PROBABILITY, MAX_OF_SHARE * shares)
    chosen = np.flatnonzero(differs & (given_probability <= bound))
    return chosen[np.argsort(given_probability[chosen], kind="stable")]


def suspect_numbers(
    given: Array,  # (m,)
    predicted: Array,  # (m,)
    low: Array,  # (m,)
    high: Array,  # (m,)
) -> NDArray[np.intp]:
    """Return rows whose given number is far outside of its own interval.

    With t the residual as a multiple of the distance from the prediction to the end of
    the interval on its side, these are the rows with abs(t) above 1.2 and with
    0.6745 abs(t - m) above 3.5 MAD, where m is the median of t and MAD the median of
    abs(t - m). So each row is judged by the errors that are usual for such rows, and a
    few extreme labels do not hide each other, as they would with a standard deviation.
    Where nearly every label is predicted exactly, small errors are not suspected: those
    below a tenth of the robust deviation of the labels, and for amounts (labels above
    0) below a tenth of the label. The farthest comes first.
    """
    t = interval_ratios(given, predicted, low, high)
    known = np.isfinite(t)
    if known.sum() < 3:
        return np.empty(0, dtype=np.intp)
    t = np.where(known, t, 0.0)
    distance = np.where(known, np.abs(t - np.median(t[known])), 0.0)
    spread = float(np.median(distance[known])) / MADS_PER_DEVIATION
    # Where most residuals are equal there is no spread to compare others with.
    is_far = (distance > MIN_DEVIATIONS * spread) & (spread > 0)
    deviations = np.abs(given[known] - np.median(given[known]))
    usual = np.full(len(given), np.median(deviations) / MADS_PER_DEVIATION)
    if (given[known] > 0).all():
        usual = np.minimum(usual, given)
    is_large = np.abs(given - predicted) > MIN_ERROR * usual
    far = is_far & is_large & (np.abs(t) > MIN_RATIO)
    chosen = np.flatnonzero(far)
    return chosen[np.argsort(-np.abs(t[chosen]), kind="stable")]
