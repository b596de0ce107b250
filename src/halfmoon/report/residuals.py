"""Residuals of left-out numbers: what was given less what was predicted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from halfmoon.rows import Array

__all__ = ["Residuals", "residuals"]


@dataclass(frozen=True, eq=False)
class Residuals:
    """Given less predicted, and a few numbers about it.

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
