r"""What is fitted in place of the labels: logarithms, and outlying labels moved.

**Logarithms.** Prices, counts and concentrations often vary by factors rather than by
amounts. A fit g to log(y + shift) is transformed back to exp(g) times the mean of
exp(residual) over held-out rows, minus the shift: the mean of an exponential is not the
exponential of the mean (Duan's smearing, 1983).

**Outlying labels** of numbers are far outside the range of the others. A single
mistyped label, such as 15000 for 150, would decide a fit by squared errors. So a label
beyond the limit

.. math:: m + 3 (q - m)

counts as the largest label below it. Here m is the median and q the 95 % quantile,
without interpolation: the largest of 20 labels is above it. The lower limit is the same
for -y. With normal labels the limit is five standard deviations from the mean. Labels
that are all positive are often skewed; their upper limit is the larger one of this and
of the same rule for their logarithms. So is the lower limit of negative labels.

Nothing is changed on a side on which more than one label in 50 is beyond the limit, or
on which the median equals the quartile: that is how these labels are. Weights of labels
do not matter here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from halfmoon._rows import Array

__all__ = ["IDENTITY", "Logarithm", "TargetTransform", "within_limits"]

MIN_MEDIAN_SHARE = 0.05  # the smallest target is shifted to this share of the median
MOST_SMEARING = 2.0
MAX_RESIDUAL = 5.0  # log residuals are clipped here
LEAST_LABELS = 15  # fewer do not show what is usual
REACH = 3.0  # distance of the limit from the median, in distances of the quantile
FEW = 50  # at most one label in 50 is moved, or one


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
        """Return the variance on the original scale, where `values` are predictions."""
        return variance


IDENTITY = TargetTransform()


@dataclass(frozen=True)
class Logarithm(TargetTransform):
    """The logarithm of nonnegative targets."""

    shift: float  # added before taking the logarithm
    low: float  # of the range of the transformed labels; values are clipped to twice it
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


def within_limits(
    y: Array,  # (l, t)
) -> Array:  # (l, t)
    """Return targets with the outlying ones moved to the others, or y itself."""
    if len(y) < LEAST_LABELS:
        return y
    columns = [
        np.clip(values, -_largest_usual(-values), _largest_usual(values))
        for values in y.T
    ]
    moved = np.array(columns).T
    return y if np.array_equal(moved, y) else moved


def _largest_usual(values: Array) -> float:
    """Return the largest value that is not outlying, or infinity if none is."""
    ordered = np.sort(values)
    l = len(ordered)
    median = float(np.median(ordered))
    usual, high = (float(ordered[int(part * (l - 1))]) for part in (0.75, 0.95))
    if not median < usual:
        return np.inf
    limit = median + REACH * (high - median)
    if ordered[0] > 0:
        limit = max(limit, median * (high / median) ** REACH)
    within = ordered[ordered <= limit]
    return float(within[-1]) if l - len(within) <= max(1, l // FEW) else np.inf
