"""Errors of leave-one-out predictions of numbers: given minus predicted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from halfmoon.rows import Array

__all__ = ["Residuals", "Third", "errors_by_thirds", "residuals"]

FEWEST = 9  # numbers, of which a third tells something


@dataclass(frozen=True, eq=False)
class Residuals:
    """Given minus predicted, and a few numbers about it.

    Attributes
    ----------
    values : ndarray of shape (m,)
        Of rows of which something is known without their own label.
    bias : float
        Mean: above 0 where predictions are too low.
    median_size, ninth_decile : float
        Half of the errors, and nine of ten, are no larger than this.
    root_mean_square : float
    """

    values: Array
    bias: float
    median_size: float
    ninth_decile: float
    root_mean_square: float


def residuals(given: Array, predicted: Array) -> Residuals:
    """Summary of the errors.

    Examples
    --------
    >>> found = residuals(np.array([1.0, 2.0, 4.0]), np.array([1.0, 1.0, 2.0]))
    >>> found.bias, found.median_size
    (1.0, 1.0)
    """
    values = given - predicted
    values = values[np.isfinite(values)]
    if len(values) == 0:
        return Residuals(values, np.nan, np.nan, np.nan, np.nan)
    size = np.abs(values)
    return Residuals(
        values,
        float(values.mean()),
        float(np.median(size)),
        float(np.quantile(size, 0.9)),
        float(np.sqrt((values**2).mean())),
    )


@dataclass(frozen=True)
class Third:
    """A third of the labels, by predicted number.

    Attributes
    ----------
    name : str
        "Lowest", "Middle" or "Highest".
    low, high : float
        The predictions in it.
    labels : int
    error : float
        Mean size of the errors.
    bias : float
        Mean of given minus predicted.
    held : float
        Share of given numbers within their interval.
    """

    name: str
    low: float
    high: float
    labels: int
    error: float
    bias: float
    held: float


def errors_by_thirds(
    given: Array,  # (l,)
    predicted: Array,  # (l,)
    low: Array,  # (l,)
    high: Array,  # (l,)
) -> list[Third]:
    """Errors where the predictions are low, in the middle and high.

    Nothing for fewer than nine numbers.

    Examples
    --------
    >>> x = np.arange(9.0)
    >>> thirds = errors_by_thirds(x + (x > 5), x, x - 0.5, x + 0.5)
    >>> [(third.high, third.error, third.held) for third in thirds]
    [(2.0, 0.0, 1.0), (5.0, 0.0, 1.0), (8.0, 1.0, 0.0)]
    """
    known = np.flatnonzero(np.isfinite(given) & np.isfinite(predicted))
    if len(known) < FEWEST:
        return []
    order = known[np.argsort(predicted[known], kind="stable")]
    found = []
    names = ("Lowest", "Middle", "Highest")
    for name, rows in zip(names, np.array_split(order, 3), strict=True):
        r = given[rows] - predicted[rows]
        inside = (low[rows] <= given[rows]) & (given[rows] <= high[rows])
        found.append(
            Third(
                name,
                *(float(predicted[rows[0]]), float(predicted[rows[-1]]), len(rows)),
                error=float(np.abs(r).mean()),
                bias=float(r.mean()),
                held=float(inside.mean()),
            )
        )
    return found
