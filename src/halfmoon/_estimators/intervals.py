r"""Prediction intervals from leave-one-out errors.

With leave-one-out residuals :math:`r_i = y_i - g_i` of n labeled rows, the interval

.. math:: g(x) \pm q s(g(x)), \quad q = \sqrt{1 + c/n} \times \text{the }
    \lceil (n + 1) level \rceil \text{-th smallest of } |r_i| / s(g_i)

contains a new label about as often as `level` says: the jackknife of conformal
prediction (Barber, Candes, Ramdas, Tibshirani, 2021). Here s is the typical error at a
predicted value, for prices of expensive houses have larger errors than those of cheap
ones: a straight line through the :math:`|r_i|` over the range of the labels, shrunk
towards a constant.

The factor with c = 6 corrects leave-one-out errors for the choices that a search made:
it compares candidates, and weights columns, on the same labels that then measure its
error. Cross-fitted weights (`_selection.search`) remove most of this bias. The rest is
corrected like a few extra parameters; c was chosen on some tables
(`benchmarks/coverage.py` names them) and confirmed on others. At a level of 90 % and
with 10, 20, 35 and 60 labels, the intervals contain 89, 87, 91 and 91 % of the labels;
without the factor 83, 83, 89 and 90 %.

With weights of labels, the residuals have that share of the weight, and n is (sum of
w)^2 / (sum of w^2).

If n is so small that there is no such residual, q is the quantile of Student's
distribution with n - 1 degrees of freedom times :math:`\sqrt{(1 + 1/n) mean(r^2/s^2)}`,
which assumes normal errors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from halfmoon._rows import TINY, Array

__all__ = ["SHARED", "Intervals", "choice_factor", "interval_ratios"]

SHRINKAGE_ROWS = 30.0  # weight of the constant error, in rows
EXTRA_PARAMETERS = 6.0  # c
#: Leave-one-out errors share their labels: the variance of their mean is that of so
#: many times independent ones.
SHARED = {"classes": 1.5, "numbers": 2.0}
MIN_SHARE = 0.3  # of the mean error: the line does not go below
ROUNDING = 1e-12  # of sums of weights


@dataclass
class Intervals:
    """Prediction intervals, as a function of the predicted values."""

    level: float  # share of the labels that the intervals should contain
    quantile: float  # q above
    low: float  # of the range of the labels
    high: float
    at_low: float  # s at the ends of the range
    at_high: float
    least: float  # lower bound of s

    @classmethod
    def of(
        cls, y: Array, predicted: Array, level: float, w: Array | None = None
    ) -> Intervals:
        """Return the intervals for labels and their leave-one-out predictions, (n,).

        A prediction is NaN where a row could not be predicted. Without weights w, all
        labels count the same.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> intervals = Intervals.of(rng.normal(size=100), np.zeros(100), 0.9)
        >>> low, high = intervals(np.array([5.0]))
        >>> low.round(1), high.round(1)
        (array([3.4]), array([6.6]))
        """
        known = np.isfinite(predicted)
        y, predicted = y[known], predicted[known]
        if len(y) == 0:
            return cls(level, math.inf, 0.0, 1.0, 1.0, 1.0, 1.0)
        w = np.ones(len(y)) if w is None else w[known]
        w = w * (w.sum() / (w @ w))  # so many labels of equal weight tell as much
        r, low, high = np.abs(y - predicted), float(y.min()), float(y.max())
        mean = float(np.average(r, weights=w)) or TINY
        u = _place(predicted, low, high)
        middle = float(np.average(u, weights=w))
        # Least squares of |r| on mean + b (u - mean u), with b shrunk towards 0.
        v = u - middle
        spread = float(w @ v**2) or 1.0
        slope = float((w * v) @ r) / (spread * (1 + SHRINKAGE_ROWS / float(w.sum())))
        start = mean - slope * middle
        found = cls(level, 1.0, low, high, start, start + slope, MIN_SHARE * mean)
        found.quantile = _quantile(r / found.scale(predicted), w, level)
        return found

    def scale(self, values: Array) -> Array:
        """Return s above, in the shape of the values."""
        u = _place(values, self.low, self.high)
        line = (1 - u) * self.at_low + u * self.at_high
        return np.asarray(np.maximum(line, self.least))

    def __call__(self, values: Array) -> tuple[Array, Array]:
        """Return the low and high ends, each in the shape of the values."""
        radius = self.quantile * self.scale(values)
        return values - radius, values + radius


def interval_ratios(given: Array, predicted: Array, low: Array, high: Array) -> Array:
    """Return errors as multiples of the distance to the end of the interval.

    The end on the side of the given number counts, and the sign is that of given minus
    predicted. NaN if the prediction is unknown.

    Examples
    --------
    >>> at, low, high = np.zeros(2), np.full(2, -1.0), np.full(2, 2.0)
    >>> interval_ratios(np.array([4.0, -4.0]), at, low, high)
    array([ 2., -4.])
    """
    r = given - predicted
    reach = np.where(r >= 0, high - predicted, predicted - low)
    known = np.isfinite(r) & np.isfinite(reach)
    ratio = np.full(r.shape, np.nan)
    with np.errstate(over="ignore"):  # an interval of width 0
        ratio[known] = r[known] / np.maximum(reach[known], TINY)
    return np.clip(ratio, -1e300, 1e300)


def _place(values: Array, low: float, high: float) -> Array:
    """Return the positions of values in a range, from 0 to 1."""
    span = high - low
    return np.clip((values - low) / (span if span > 0 else 1.0), 0.0, 1.0)


def _quantile(r: Array, w: Array, level: float) -> float:  # (n,), (n,)
    order = np.argsort(r)
    upto = np.cumsum(w[order])
    n = float(upto[-1])
    needed = (n + 1) * level * (1 - ROUNDING)
    if needed <= n:
        return choice_factor(n) * float(r[order][np.searchsorted(upto, needed)])
    spread = math.sqrt(float(np.average(r * r, weights=w)) * (1 + 1 / n))
    tail = float(student.ppf((1 + level) / 2, max(1, n - 1)))
    return choice_factor(n) * spread * tail


def choice_factor(n: float) -> float:
    """Return the ratio of errors on new rows to leave-one-out errors of n labels.

    Examples
    --------
    >>> choice_factor(2), round(choice_factor(600), 3)
    (2.0, 1.005)
    """
    return math.sqrt(1 + EXTRA_PARAMETERS / max(1, n))
