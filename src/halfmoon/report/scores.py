r"""How good the answers will be, with intervals, beside what a naive guess would get.

n labels, each predicted without itself, tell of the m rows that are filled. What holds
of these rows is known less well than n independent trials would tell, because the
leave-one-out predictions share their labels, and because m is finite. So the variance
of a mean over the labels, v/n, is replaced by

.. math:: v (a/n + 1/m)

with a = 1.5 for classes and a = 2 for numbers. For k right of n, the interval is
Wilson's (1927): it holds every share p that k does not contradict,

.. math:: (k/n - p)^2 \le z^2 p (1 - p) (a/n + 1/m)

The mean absolute error is larger by `choice_factor` (`halfmoon.optimism`). Its interval
is Student's, on the scale of the logarithm, with v the squared coefficient of variation
of the errors; this is drawn towards 0.75, which is between that of normal errors (0.57)
and of Laplace's (1), by as much as 10 labels weigh.

R^2 = 1 - r, where r is the ratio of the means of e^2 and d^2, of errors and of
deviations from the mean. To first order log r varies as the mean of
(e_i^2 / r - d_i^2) / mean d^2, which gives an interval that never goes beyond 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm, t

from halfmoon.optimism import choice_factor
from halfmoon.rows import Array

__all__ = [
    "ClassQuality",
    "Score",
    "accuracy",
    "balanced_accuracy",
    "coverage",
    "mean_absolute_error",
    "per_class",
    "r_squared",
    "wilson_interval",
]

LEVEL = 0.95
SHARED = {"classes": 1.5, "numbers": 2.0}  # a above
USUAL_VARIATION, USUAL_LABELS = 0.75, 10


@dataclass(frozen=True)
class Score:
    """A number, the interval that holds it with 95 %, and that of a naive guess.

    Attributes
    ----------
    value, low, high : float
        NaN where nothing can be said.
    naive : float
        Of the commonest class, or of the mean.
    guess : str
        What the naive guess is.
    tested, right, alone : int
        Of classes: the labels that count, those of them that were right, and the labels
        that are the only ones of their class, which cannot be tested.
    """

    value: float
    low: float
    high: float
    naive: float
    guess: str
    tested: int = 0
    right: int = 0
    alone: int = 0


def wilson_interval(
    right: float, total: float, level: float = LEVEL
) -> tuple[float, float]:
    """Low and high of a share of which `right` of `total` were seen.

    Examples
    --------
    >>> low, high = wilson_interval(9, 10)
    >>> round(low, 3), round(high, 3)
    (0.596, 0.982)
    """
    if total == 0:
        return 0.0, 1.0
    z = float(norm.ppf((1 + level) / 2))
    share = right / total
    center = (share + z * z / (2 * total)) / (1 + z * z / total)
    spread = share * (1 - share) / total + z * z / (4 * total * total)
    half = z / (1 + z * z / total) * float(np.sqrt(spread))
    low = 0.0 if right == 0 else max(0.0, center - half)
    high = 1.0 if right == total else min(1.0, center + half)
    return low, high


def accuracy(
    given: Sequence[str], predicted: Sequence[str], filled: float = np.inf
) -> Score:
    """Share of the filled rows to be right, beside that of the commonest class.

    A label that is the only one of its class does not count: without it nobody knows
    that the class is there, which says nothing of other rows.

    Parameters
    ----------
    given, predicted : sequences of str, shape (l,)
        Labels, and what was predicted without them.
    filled : float
        How many rows are filled.
    """
    labels = Counter(given)
    pairs = list(zip(given, predicted, strict=True))
    tested = [(one, other) for one, other in pairs if labels[one] > 1]
    n, alone = len(tested), len(pairs) - len(tested)
    if n == 0:
        return Score(np.nan, 0.0, 1.0, np.nan, "", alone=alone)
    right = sum(one == other for one, other in tested)
    guess, most = labels.most_common(1)[0]
    told = 1 / _variance_of_mean("classes", n, filled)  # as of independent trials
    low, high = wilson_interval(right / n * told, told)
    return Score(right / n, low, high, most / n, guess, n, right, alone)


@dataclass(frozen=True)
class ClassQuality:
    """How well one class is found when each label is hidden in turn.

    Attributes
    ----------
    name : str
    labels : int
        Rows given this class.
    found : int
        Those that were predicted to be of it: recall is found / labels.
    predicted : int
        Rows predicted to be of this class.
    false_alarms : int
        Those that were given another.
    """

    name: str
    labels: int
    found: int
    predicted: int
    false_alarms: int


def per_class(given: Sequence[str], predicted: Sequence[str]) -> list[ClassQuality]:
    """Every class that was given or predicted, the commonest first.

    Examples
    --------
    >>> per_class(["a", "a", "b"], ["a", "b", "b"])[1]
    ClassQuality(name='b', labels=1, found=1, predicted=2, false_alarms=1)
    """
    labels, answers = Counter(given), Counter(predicted)
    pairs = zip(given, predicted, strict=True)
    found = Counter(one for one, other in pairs if one == other)
    names = sorted({*labels, *answers}, key=lambda name: (-labels[name], name))
    return [
        ClassQuality(
            *(name, labels[name], found[name], answers[name]),
            false_alarms=answers[name] - found[name],
        )
        for name in names
    ]


def balanced_accuracy(classes: Sequence[ClassQuality]) -> float:
    """Mean share of each class that was found; a constant guess has 1 / c.

    Classes with one label are left out, as by `accuracy`.

    Examples
    --------
    >>> balanced_accuracy(per_class("aaabb", "aaaaa"))
    0.5
    """
    shares = [each.found / each.labels for each in classes if each.labels > 1]
    return float(np.mean(shares)) if shares else float("nan")


def r_squared(given: Array, predicted: Array, filled: float = np.inf) -> Score:
    """1 minus the expected squared error beside that of the mean."""
    given, predicted = _known(given, predicted)
    l, guess = len(given), "the mean"
    squares = (given - predicted) ** 2
    spread = (given - given.mean()) ** 2 if l > 1 else np.zeros(1)
    if not spread.mean() > 0:
        return Score(np.nan, np.nan, np.nan, 0.0, guess, l)
    ratio = squares.mean() / spread.mean()
    if ratio == 0:
        return Score(1.0, 1.0, 1.0, 0.0, guess, l)
    slope = (squares / ratio - spread) / spread.mean()
    half = _half_width(float(slope.var(ddof=1)), l, filled)
    ratio *= choice_factor(l) ** 2
    low, high = 1 - ratio * np.exp(half), 1 - ratio * np.exp(-half)
    return Score(float(1 - ratio), float(low), float(high), 0.0, guess, l)


def mean_absolute_error(
    given: Array, predicted: Array, filled: float = np.inf
) -> Score:
    """Mean size of the errors to expect, beside that of the mean of the other rows.

    Parameters
    ----------
    given, predicted : ndarrays of shape (l,)
        Labels, and what was predicted without them.
    filled : float
        How many rows are filled.
    """
    given, predicted = _known(given, predicted)
    l, guess = len(given), "the mean"
    if l == 0:
        return Score(np.nan, np.nan, np.nan, np.nan, guess)
    size = np.abs(given - predicted)
    # The mean of the others is off by l / (l - 1) of what the mean of all is off by.
    naive = float(np.abs(given - given.mean()).mean() * l / max(1, l - 1))
    expected = float(size.mean()) * choice_factor(l)
    if expected == 0:
        return Score(0.0, 0.0, 0.0, naive, guess, l)
    variation = float(size.var() / size.mean() ** 2) * l / max(1, l - 1)
    weighed = l * variation + USUAL_LABELS * USUAL_VARIATION
    half = _half_width(weighed / (l + USUAL_LABELS), l, filled)
    low, high = expected * np.exp(-half), expected * np.exp(half)
    return Score(expected, float(low), float(high), naive, guess, l)


def coverage(given: Array, low: Array, high: Array, level: float) -> Score:
    """Share of values within their intervals; `naive` is the share that was meant."""
    known = np.isfinite(given) & ~np.isnan(low) & ~np.isnan(high)
    inside = (low <= given)[known] & (given <= high)[known]
    total, held = int(known.sum()), int(inside.sum())
    share = held / total if total else np.nan
    return Score(share, *wilson_interval(held, total), level, "meant")


def _known(given: Array, predicted: Array) -> tuple[Array, Array]:
    """Rows of which something is known without their own label."""
    known = np.isfinite(given) & np.isfinite(predicted)
    return given[known], predicted[known]


def _variance_of_mean(kind: str, labels: int, filled: float) -> float:
    """Beside that of one row: a/n + 1/m, and a/n where nothing is filled."""
    return SHARED[kind] / labels + (1 / filled if filled else 0.0)


def _half_width(variance: float, labels: int, filled: float) -> float:
    """Of the 95 % interval of a mean over filled rows; infinite for one label."""
    if labels < 2:
        return float("inf")
    error = np.sqrt(variance * _variance_of_mean("numbers", labels, filled))
    return float(t.ppf((1 + LEVEL) / 2, labels - 1) * error)
