"""Errors of leave-one-out predictions of numbers: given minus predicted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from halfmoon._rows import Array

__all__ = ["Residuals", "Third", "errors_by_thirds", "residuals"]

MIN_THIRDS_LABELS = 9  # with fewer, a third says little


class Residuals(NamedTuple):
    """Given minus predicted, where the prediction is known, and a summary."""

    values: Array  # (m,)
    bias: float  # the mean: above 0 where predictions are too low
    median_size: float  # half of the errors are no larger
    ninth_decile: float  # nine out of ten are no larger


def residuals(given: Array, predicted: Array) -> Residuals:
    """Summarize the errors.

    Examples
    --------
    >>> found = residuals(np.array([1.0, 2.0, 4.0]), np.array([1.0, 1.0, 2.0]))
    >>> found.bias, found.median_size
    (1.0, 1.0)
    """
    values = given - predicted
    values = values[np.isfinite(values)]
    if len(values) == 0:
        return Residuals(values, np.nan, np.nan, np.nan)
    half, most = np.quantile(np.abs(values), [0.5, 0.9])
    return Residuals(values, float(values.mean()), float(half), float(most))


class Third(NamedTuple):
    """A third of the labels, by predicted number."""

    name: str  # "Lowest", "Middle" or "Highest"
    low: float  # range of the predictions
    high: float
    labels: int
    error: float  # mean size of the errors
    bias: float  # mean of given minus predicted
    held: float  # share of given numbers within their interval


def errors_by_thirds(
    given: Array,  # (l,)
    predicted: Array,  # (l,)
    low: Array,  # (l,)
    high: Array,  # (l,)
) -> list[Third]:
    """Return the errors where predictions are low, in the middle and high.

    The list is empty for fewer than nine labels.

    Examples
    --------
    >>> x = np.arange(9.0)
    >>> thirds = errors_by_thirds(x + (x > 5), x, x - 0.5, x + 0.5)
    >>> [(third.high, third.error, third.held) for third in thirds]
    [(2.0, 0.0, 1.0), (5.0, 0.0, 1.0), (8.0, 1.0, 0.0)]
    """
    known = np.flatnonzero(np.isfinite(given) & np.isfinite(predicted))
    if len(known) < MIN_THIRDS_LABELS:
        return []
    order = known[np.argsort(predicted[known], kind="stable")]
    found = []
    names = ("Lowest", "Middle", "Highest")
    for name, rows in zip(names, np.array_split(order, 3), strict=True):
        y, values = given[rows], predicted[rows]
        ends = float(values[0]), float(values[-1])
        error, bias = float(np.abs(y - values).mean()), float((y - values).mean())
        held = float(((low[rows] <= y) & (y <= high[rows])).mean())
        found.append(Third(name, *ends, len(rows), error, bias, held))
    return found
