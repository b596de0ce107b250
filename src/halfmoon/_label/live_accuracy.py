r"""The accuracy so far, from rows drawn at random.

Each of them was predicted by a model that did not know the answer, and labeled by a
person who saw no proposal. Other rows do not count: chosen rows are harder than most,
and answers next to a proposal agree with it more often. Predictions of models with
fewer than half of today's labels do not count either, because the model is better now.

For classes the 95 % interval is Wilson's. For numbers, let e be the mean absolute error
of n rows, v the squared coefficient of variation of the errors, and t Student's
quantile with n - 1 degrees of freedom. The interval of the mean error is

.. math:: e \exp(-h), \; e \exp(h + \tfrac34 h \min(h, 1)), \quad h = t \sqrt{v / n}

Few rows seldom include the largest errors, so the mean of a few is more often too small
than too large. To second order, a skewness g moves the upper end of the interval of a
mean by :math:`(g / (3 \sqrt v) - 1/2) h^2` on the scale of logarithms (Hall, "On the
removal of skewness by transformation", 1992). The factor is 3/4 for lognormal errors
with v = 3/4, which is between normal errors (0.57) and Laplace errors (1). The lower
end is not moved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from types import NoneType
from typing import Any

import numpy as np
from scipy.special import stdtrit

from halfmoon._label.answers import Answer
from halfmoon._number_format import count, format_aligned, percent, percent_range
from halfmoon._report.quality_scores import LEVEL, wilson_interval
from halfmoon._rows import Array

__all__ = [
    "MIN_RANDOM_ROWS",
    "LiveAccuracy",
    "live_accuracy",
    "mean_error",
    "measured_rows",
]

MIN_RANDOM_ROWS = 5  # for an accuracy
MIN_LABELS_SHARE = 0.5  # share of today's labels that a model must have had
SKEWNESS = 0.75  # how far the upper end of an error is moved; see above


@dataclass(frozen=True)
class LiveAccuracy:
    """A share of right rows, or a mean absolute error, with its interval."""

    value: float
    low: float
    high: float
    n: int
    is_share: bool  # whether the labels are classes
    naive: float = 0.0  # what always guessing the most common class would get

    @property
    def sentence(self) -> str:
        """The accuracy in words.

        Examples
        --------
        >>> LiveAccuracy(0.9, 0.7, 0.97, 20, True).sentence.replace("\u00a0", " ")
        'About 90 % right (70–97 %), from 20 random rows.'
        """
        rows = count(self.n, "random row")
        if self.is_share:
            span = percent_range(self.low, self.high)
            if self.value in (0.0, 1.0):  # "about 100 %" would promise too much
                return f"{span} right, from {rows}."
            return f"About {percent(self.value)} right ({span}), from {rows}."
        value, low, high = format_aligned(self.value, self.low, self.high)
        return f"Off by {value} on average ({low}–{high}), from {rows}."


def live_accuracy(
    answers: Iterable[Answer], labels: int, is_share: bool
) -> LiveAccuracy | None:
    """Measure the accuracy on random rows; None if there are too few.

    `labels` is the number of labels that the latest model was fitted to.
    """
    rows = measured_rows(answers, labels, is_share)
    n = len(rows)
    if n < MIN_RANDOM_ROWS:
        return None
    if is_share:
        right = sum(str(x.value) == str(x.predicted) for x in rows)
        common = max(Counter(str(x.value) for x in rows).values()) / n
        return LiveAccuracy(right / n, *wilson_interval(right, n), n, True, common)
    pairs: Any = [(x.value, x.predicted) for x in rows]
    errors = np.abs(np.diff(np.array(pairs, dtype=float))).ravel()
    return LiveAccuracy(*mean_error(errors), n, False)


def measured_rows(
    answers: Iterable[Answer], labels: int, is_share: bool
) -> list[Answer]:
    """Return the answers that measure the accuracy: the first for each random row."""
    rows: dict[object, Answer] = {}
    for x in answers:
        is_random = x.why == "random" and not x.shown
        kinds = {type(x.value), type(x.predicted)}
        is_known = NoneType not in kinds and (is_share or str not in kinds)
        if is_random and is_known and x.labels >= MIN_LABELS_SHARE * labels:
            rows.setdefault(x.place, x)
    return list(rows.values())


def mean_error(errors: Array) -> tuple[float, float, float]:
    """Return the mean of absolute errors and the ends of its interval, as above."""
    n, mean = len(errors), float(errors.mean())
    if mean == 0.0:
        return 0.0, 0.0, 0.0
    half = stdtrit(n - 1, (1 + LEVEL) / 2) * errors.std(ddof=1) / mean / np.sqrt(n)
    above = half + SKEWNESS * half * min(half, 1.0)
    return mean, float(mean * np.exp(-half)), float(mean * np.exp(above))
