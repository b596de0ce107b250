r"""Target transforms: the identity and the logarithm.

Prices, counts and concentrations often vary by factors rather than by amounts. A fit g
to log(y + shift) is transformed back to exp(g) times the mean of exp(residual) over
held-out rows, minus the shift: the mean of an exponential is not the exponential of the
mean (Duan's smearing, 1983).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from halfmoon._rows import Array

__all__ = ["IDENTITY", "Logarithm", "TargetTransform"]

MIN_MEDIAN_SHARE = 0.05  # the smallest target is shifted to this share of the median
MOST_SMEARING = 2.0
MAX_RESIDUAL = 5.0  # log residuals are clipped here


class TargetTransform:
    """The identity, and the interface of target transforms."""

    #: Added to the name of a candidate.
    suffix = ""

    def forward(self, y: Array) -> Array:
        """Transform targets."""
        return y

    def inverse(self, values: Array, residuals: Array) -> Array:
        """Transform values back, given held-out residuals on the transformed scale."""
        return values

    def inverse_variance(self, values: Array, variance: Array) -> Array:
        """Return the variance on the original scale.

        Parameters
        ----------
        values : ndarray
            Predictions on the original scale.
        variance : ndarray
            Variance on the transformed scale.
        """
        return variance


IDENTITY = TargetTransform()


@dataclass(frozen=True)
class Logarithm(TargetTransform):
    """The logarithm of nonnegative targets.

    Attributes
    ----------
    shift : float
        Added before taking the logarithm.
    low, high : float
        Range of the transformed labels; values are clipped to twice that range.
    """

    shift: float
    low: float
    high: float

    suffix = ", log of y"

    @classmethod
    def of(cls, y: Array) -> Logarithm | None:
        """Return the transform for these targets, or None if they are not positive."""
        if y.shape[1] != 1 or y.min() < 0 or y.max() <= 0:
            return None
        typical = float(np.median(y)) or float(y.mean())
        shift = max(0.0, MIN_MEDIAN_SHARE * typical - float(y.min()))
        logs = np.log(y + shift)
        return cls(shift, float(logs.min()), float(logs.max()))

    def forward(self, y: Array) -> Array:
        """Return log(y + shift)."""
        return np.log(y + self.shift)

    def inverse(self, values: Array, residuals: Array) -> Array:
        """Return exp(g) times the smearing factor, minus the shift."""
        room = 0.5 * (self.high - self.low)
        held = np.clip(values, self.low - room, self.high + room)
        smearing = np.exp(np.clip(residuals, -MAX_RESIDUAL, MAX_RESIDUAL)).mean()
        return np.asarray(np.exp(held) * min(smearing, MOST_SMEARING) - self.shift)

    def inverse_variance(self, values: Array, variance: Array) -> Array:
        """Return the log-normal variance, (mean + shift)^2 (exp(variance) - 1)."""
        factor = np.expm1(np.minimum(variance, MAX_RESIDUAL))
        return np.asarray((values + self.shift) ** 2 * factor)
