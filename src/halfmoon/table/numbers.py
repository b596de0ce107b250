r"""Columns of numbers as vectors.

.. math:: z = (x - m) / s

with m the median, which also stands for a missing number, and s the deviation of the
column, or of all columns where they are in one unit. Heavy tails are drawn in by asinh.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from halfmoon.rows import Array
from halfmoon.table.columns import ColumnUse

__all__ = ["NumberVectors", "common_unit"]

MISSING_ROWS = 2  # rows without a number before that is worth a column
HEAVY = 100.0  # quartile ranges from the median beyond which tails are heavy
UNIT_COLUMNS = 10  # at least, that may be in one unit
UNIT_RATIO = 2.0  # between the quartiles of the ranges of such columns
UNIT_LARGEST = 1e100  # value of such columns
FARTHEST = 1e9  # deviations; farther values are held there


@dataclass
class NumberVectors:
    """A column of numbers.

    Attributes
    ----------
    name : str
    middle, scale : float
        The median, also where a number is missing, and the deviation.
    heavy : bool
        Heavy tails are drawn in.
    indicator : bool
        A column tells where the number is missing.
    """

    name: str
    middle: float
    scale: float
    heavy: bool
    indicator: bool

    @classmethod
    def of(cls, name: str, x: Array, *, linear: bool = False) -> NumberVectors:
        """Learn a column.

        Parameters
        ----------
        name : str
        x : ndarray of shape (n,)
            NaN where it is missing.
        linear : bool
            Keep it linear, whatever its tails: it is to be followed wherever it leads.
        """
        known = x[~np.isnan(x)]
        if known.size == 0:
            return cls(name, 0.0, 1.0, False, False)
        middle = float(np.median(known))
        # Halves, because the difference of two numbers may be too large for a number.
        half = known / 2 - middle / 2
        low, high = np.quantile(half, [0.25, 0.75])
        farthest = float(np.abs(half).max()) or 1.0
        spread = float(high - low) or float(np.abs(half / farthest).mean()) * farthest
        heavy = not linear and farthest > HEAVY * spread
        # An ordinary column gets a unit deviation; quartiles stand firm in heavy tails.
        deviation = float(np.std(half / farthest)) * farthest
        scale = 2 * (spread if heavy else deviation)
        scale = min(max(scale, np.finfo(float).tiny), np.finfo(float).max)
        missing = x.size - known.size
        return cls(name, middle, scale, heavy, missing >= MISSING_ROWS)

    @property
    def names(self) -> list[str]:
        """Of the columns that it becomes."""
        return [self.name, f"{self.name} is missing"][: 1 + self.indicator]

    def __call__(self, x: Array) -> Array:
        """The columns, shape (b, 1 or 2)."""
        missing = np.isnan(x)
        half = np.where(missing, 0.0, x / 2 - self.middle / 2)
        with np.errstate(over="ignore"):
            z = half / (self.scale / 2)
        if self.heavy:
            z = np.arcsinh(np.clip(z, -1e300, 1e300))
        z = np.clip(z, -FARTHEST, FARTHEST)
        return np.column_stack([z, missing][: 1 + self.indicator])


def common_unit(frame: pd.DataFrame, uses: list[ColumnUse]) -> float | None:
    """Deviation of a value where all columns are in one unit, as pixels are; or None.

    They are taken to be where they are many, all numbers, and the ranges of the middle
    half of them are within a factor of two. What varies little is then of little
    weight, as it is in the table; each column on a scale of its own would let the
    edges of a picture count as much as its middle.
    """
    if len(uses) < UNIT_COLUMNS or any(
        use.kind != "number" or use.role == "known" for use in uses
    ):
        return None
    X = frame.to_numpy(dtype=np.float64)
    low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    varied = high > low
    if not varied.any() or max(-low.min(), high.max()) > UNIT_LARGEST:
        return None
    first, third = np.quantile((high - low)[varied], [0.25, 0.75])
    if third > UNIT_RATIO * first:
        return None
    return float(np.sqrt(np.nanvar(X[:, varied], axis=0).mean()))
