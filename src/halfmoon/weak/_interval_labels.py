"""Interval labels: the low and high end of each row's label."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import DataConversionWarning

from halfmoon._labels import as_labels, is_missing, refuse_extreme_targets
from halfmoon._rows import Array

__all__ = ["as_ends", "distance", "middles", "narrowed"]


def as_ends(y: Any, n: int) -> Array:  # (n, 2)
    """Return the low and high end of each row; -inf and inf for open ends.

    Parameters
    ----------
    y : array-like of shape (n, 2), or (n,) for plain labels
        NaN and None are open ends.
    n : int
        Number of rows.

    Examples
    --------
    >>> as_ends([[0, 1], [2, np.nan]], 2)
    array([[ 0.,  1.],
           [ 2., inf]])
    >>> as_ends([3.0, np.nan], 2)
    array([[  3.,   3.],
           [-inf,  inf]])
    """
    labels = as_labels(y, n)
    plain = labels.ndim == 1
    if labels.ndim == 2 and labels.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Its values are "
            "used as plain labels; give low and high in two columns for intervals.",
            DataConversionWarning,
            stacklevel=3,
        )
        plain = True
    if not plain and (labels.ndim != 2 or labels.shape[1] != 2):
        raise ValueError(
            f"y has shape {labels.shape}; two columns, low and high, are needed, or "
            f"one for plain labels."
        )
    if labels.dtype.kind == "c":
        raise ValueError("Complex data not supported: y must be real.")
    missing = is_missing(labels)
    try:
        values = np.where(missing, np.nan, labels).astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"y cannot be read as numbers ({error}); ends of intervals are numbers, "
            f"-inf or inf where an end is open."
        ) from error
    if plain:
        values = values.reshape(n, 1)
        if np.isinf(values).any():
            raise ValueError(
                "y contains infinity; a plain label is finite, or NaN. For open ends "
                "give two columns, low and high."
            )
        values = np.repeat(values, 2, axis=1)
    refuse_extreme_targets(values[np.isfinite(values)])
    ends = np.where(np.isnan(values), [-np.inf, np.inf], values)
    _check(ends)
    return ends


def _check(ends: Array) -> None:
    low, high = ends.T
    crossed = low > high
    if crossed.any():
        row = int(crossed.argmax())
        raise ValueError(
            f"low is above high in {int(crossed.sum())} row(s), the first being row "
            f"{row}: [{low[row]:g}, {high[row]:g}]. Swap them, or check the columns."
        )
    empty = (low == np.inf) | (high == -np.inf)
    if empty.any():
        row = int(empty.argmax())
        raise ValueError(
            f"Row {row} has the ends [{low[row]:g}, {high[row]:g}], with no number "
            f"between them; use -inf for an open low end, inf for an open high end."
        )


def distance(values: Array, low: Array, high: Array) -> Array:
    """Return the distances of values from their intervals; 0 inside."""
    return np.asarray(np.maximum(np.maximum(low - values, values - high), 0.0))


def middles(low: Array, high: Array) -> Array:
    """Return the middle of each interval; one end if the other is open.

    Examples
    --------
    >>> middles(np.array([0.0, 2.0]), np.array([1.0, np.inf]))
    array([0.5, 2. ])
    """
    closed = np.isfinite(low) & np.isfinite(high)
    middle = np.where(closed, low, 0.0) / 2 + np.where(closed, high, 0.0) / 2
    return np.where(closed, middle, np.where(np.isfinite(low), low, high))


def narrowed(low: Array, high: Array, margin: float) -> tuple[Array, Array]:
    """Return intervals with both ends moved inwards, at most to their middle.

    Examples
    --------
    >>> narrowed(np.array([0.0, 0.0]), np.array([1.0, np.inf]), 0.7)
    (array([0.5, 0.7]), array([0.5, inf]))
    """
    closed = np.isfinite(low) & np.isfinite(high)
    middle = middles(low, high)
    return (
        np.where(closed, np.minimum(low + margin, middle), low + margin),
        np.where(closed, np.maximum(high - margin, middle), high - margin),
    )
