"""Encoder of a column of numbers: centered, scaled, with missing ones marked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from halfmoon._rows import Array

__all__ = ["MIN_MISSING_ROWS", "NumberEncoder"]

MIN_MISSING_ROWS = 2  # missing numbers before an indicator column is worth it
HEAVY_TAIL = 100.0  # quartile ranges from the median to the farthest number
MAX_DEVIATIONS = 1e9  # z is clipped there


@dataclass
class NumberEncoder:
    """Encodes a column of numbers."""

    name: str
    middle: float  # the median
    scale: float  # the deviation
    heavy: bool  # whether heavy tails are compressed
    indicator: bool  # whether a second column is 1 where the number is missing

    @classmethod
    def fit(cls, name: str, x: Array, *, linear: bool = False) -> NumberEncoder:
        """Learn the scale of a column, shape (n,), NaN where a number is missing.

        With `linear`, the model is linear in this column: tails are not compressed.
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
