r"""Encoder of a column of numbers.

.. math:: z = (x - m) / s

with m the median, which also replaces missing numbers, and s the standard deviation of
the column, or of all columns where they share one unit. Heavy tails are compressed by
:math:`asinh(z)`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from halfmoon._rows import Array
from halfmoon.table._columns.column_kinds import ColumnUse

__all__ = ["NumberEncoder", "common_unit"]

MIN_MISSING_ROWS = 2  # missing numbers before an indicator column is worth it
HEAVY_TAIL = 100.0  # quartile ranges from the median to the farthest number
MIN_UNIT_COLUMNS = 10  # columns that may share one unit
MAX_UNIT_RATIO = 2.0  # between the quartiles of the ranges of such columns
MAX_UNIT_VALUE = 1e100  # in such columns, so that their squares are finite
MAX_DEVIATIONS = 1e9  # z is clipped there


@dataclass
class NumberEncoder:
    """Encodes a column of numbers.

    Attributes
    ----------
    name : str
    middle, scale : float
        The median and the deviation.
    heavy : bool
        Whether heavy tails are compressed.
    indicator : bool
        Whether a second column is 1 where the number is missing.
    """

    name: str
    middle: float
    scale: float
    heavy: bool
    indicator: bool

    @classmethod
    def fit(cls, name: str, x: Array, *, linear: bool = False) -> NumberEncoder:
        """Learn the scale of a column.

        Parameters
        ----------
        name : str
        x : array-like of shape (n,)
            NaN where a number is missing.
        linear : bool
            Never compress the tails, because the model is linear in this column.
        """
        x = np.asarray(x, dtype=np.float64)
        present = x[~np.isnan(x)]
        if present.size == 0:
            return cls(name, 0.0, 1.0, False, False)
        middle = float(np.median(present))
        # Halves, because the difference of two floats may overflow.
        half = present / 2 - middle / 2
        low, high = np.quantile(half, [0.25, 0.75])
        farthest = float(np.abs(half).max()) or 1.0
        spread = float(high - low) or float(np.abs(half / farthest).mean()) * farthest
        heavy = not linear and farthest > HEAVY_TAIL * spread
        # Heavy tails distort the deviation, but not the quartiles.
        deviation = float(np.std(half / farthest)) * farthest
        scale = 2 * (spread if heavy else deviation)
        scale = min(max(scale, np.finfo(float).tiny), np.finfo(float).max)
        n_missing = x.size - present.size
        return cls(name, middle, scale, heavy, n_missing >= MIN_MISSING_ROWS)

    @property
    def names(self) -> list[str]:
        """Names of the output columns."""
        return [self.name, f"{self.name} is missing"][: 1 + self.indicator]

    def transform(self, x: Array) -> Array:
        """Return the output columns, shape (b, 1 or 2)."""
        x = np.asarray(x, dtype=np.float64)
        missing = np.isnan(x)
        half = np.where(missing, 0.0, x / 2 - self.middle / 2)
        with np.errstate(over="ignore"):
            z = half / (self.scale / 2)
        if self.heavy:
            z = np.arcsinh(np.clip(z, -1e300, 1e300))
        z = np.clip(z, -MAX_DEVIATIONS, MAX_DEVIATIONS)
        return np.column_stack([z, missing][: 1 + self.indicator])


def common_unit(frame: pd.DataFrame, uses: list[ColumnUse]) -> float | None:
    """Return one deviation for all columns if they share a unit, as pixels do; or None.

    Columns share a unit if there are many, all are numbers, and the ranges of the
    middle half of them differ by a factor of at most two. With one deviation, a column
    that varies little has little weight, as in the table. With a deviation for each
    column, the edges of a picture would count as much as its middle.
    """
    if len(uses) < MIN_UNIT_COLUMNS or any(
        use.kind != "number" or use.role == "known" for use in uses
    ):
        return None
    X = frame.to_numpy(dtype=np.float64)
    low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    varied = high > low
    if not varied.any() or max(-low.min(), high.max()) > MAX_UNIT_VALUE:
        return None
    first, third = np.quantile((high - low)[varied], [0.25, 0.75])
    if third > MAX_UNIT_RATIO * first:
        return None
    return float(np.sqrt(np.nanvar(X[:, varied], axis=0).mean()))
