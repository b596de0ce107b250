r"""Labels of numbers that are far outside the range of the others.

A single mistyped label, such as 15000 for 150, would decide a fit by squared errors. So
a label beyond the limit

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

import numpy as np

from halfmoon._rows import Array

__all__ = ["within_limits"]

LEAST_LABELS = 15  # fewer do not show what is usual
REACH = 3.0  # distance of the limit from the median, in distances of the quantile
FEW = 50  # at most one label in 50 is moved, or one


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
