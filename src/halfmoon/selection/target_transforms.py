r"""Scales of the targets: as given, or their logarithm.

Prices, counts and concentrations often vary by factors rather than by amounts. A fit to
log(y + shift) is brought back by exp(g) - shift, times the mean of exp(residual) over
left-out rows, because the mean of what is exponentiated is not the exponential of the
mean (Duan's smearing, 1983).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from halfmoon.rows import Array

__all__ = ["AS_GIVEN", "Logarithm", "Target"]

LEAST = 0.05  # of the typical target: what the least one is shifted to
MOST_SMEARING = 2.0
FAR = 5.0  # residuals beyond this are no news of a mean


class Target:
    """Targets as they are."""

    #: Added to the name of a candidate.
    suffix = ""

    def forward(self, y: Array) -> Array:
        """On this scale."""
        return y

    def back(self, values: Array, residuals: Array) -> Array:
        """On the user's scale, given residuals of left-out rows on this one."""
        return values

    def variance_back(self, values: Array, variance: Array) -> Array:
        """Variance on the user's scale, given that on this one and values on his."""
        return variance


AS_GIVEN = Target()


@dataclass(frozen=True)
class Logarithm(Target):
    """The logarithm of targets that are not negative.

    Attributes
    ----------
    shift : float
        Added before.
    low, high : float
        Of the labels, on this scale: values are held to twice that range.
    """

    shift: float
    low: float
    high: float

    suffix = ", log of y"

    @classmethod
    def of(cls, y: Array) -> Logarithm | None:
        """The scale for these targets; None if they are not for logarithms."""
        if y.shape[1] != 1 or y.min() < 0 or y.max() <= 0:
            return None
        typical = float(np.median(y)) or float(y.mean())
        shift = max(0.0, LEAST * typical - float(y.min()))
        logs = np.log(y + shift)
        return cls(shift, float(logs.min()), float(logs.max()))

    def forward(self, y: Array) -> Array:
        """log(y + shift)."""
        return np.log(y + self.shift)

    def back(self, values: Array, residuals: Array) -> Array:
        """exp(g) times the smearing factor, less the shift."""
        room = 0.5 * (self.high - self.low)
        held = np.clip(values, self.low - room, self.high + room)
        smearing = np.exp(np.clip(residuals, -FAR, FAR)).mean()
        return np.asarray(np.exp(held) * min(smearing, MOST_SMEARING) - self.shift)

    def variance_back(self, values: Array, variance: Array) -> Array:
        """That of a log-normal variable: (mean + shift)^2 (exp(variance) - 1)."""
        factor = np.expm1(np.minimum(variance, FAR))
        return np.asarray((values + self.shift) ** 2 * factor)
