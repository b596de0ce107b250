r"""How good the answers are, with intervals, beside what a naive guess would get.

For k right of l, the interval of Wilson (1927) holds every share p that k does not
contradict:

.. math:: (k/l - p)^2 \le z^2 p (1 - p) / l

For numbers, with errors e_i and deviations d_i from the mean, R^2 = 1 - r where r is
the ratio of the means of e^2 and d^2. To first order log r varies as the mean of
(e_i^2 / r - d_i^2) / mean d^2, which gives an interval that never goes beyond 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm, t

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
    """

    value: float
    low: float
    high: float
    naive: float
    guess: str


def wilson_interval(
    right: int, total: int, level: float = LEVEL
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


def accuracy(given: Sequence[str], predicted: Sequence[str]) -> Score:
    """Share of rows that are right, beside that of the commonest class."""
    l = len(given)
    if l == 0:
        return Score(np.nan, 0.0, 1.0, np.nan, "")
    right = sum(one == other for one, other in zip(given, predicted, strict=True))
    guess, most = Counter(given).most_common(1)[0]
    return Score(right / l, *wilson_interval(right, l), most / l, guess)


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

    Examples
    --------
    >>> balanced_accuracy(per_class(["a", "a", "a", "b"], ["a", "a", "a", "a"]))
    0.5
    """
    shares = [each.found / each.labels for each in classes if each.labels]
    return float(np.mean(shares)) if shares else float("nan")


def r_squared(given: Array, predicted: Array) -> Score:
    """1 less the squared error beside that of the mean."""
    given, predicted = _known(given, predicted)
    l, guess = len(given), "the mean"
    squares, spread = (given - predicted) ** 2, (given - given.mean()) ** 2
    if l < 2 or not spread.mean() > 0:
        return Score(np.nan, np.nan, np.nan, 0.0, guess)
    ratio = squares.mean() / spread.mean()
    if ratio == 0:
        return Score(1.0, 1.0, 1.0, 0.0, guess)
    slope = (squares / ratio - spread) / spread.mean()
    half = _half_width(slope)
    low, high = 1 - ratio * np.exp(half), 1 - ratio * np.exp(-half)
    return Score(float(1 - ratio), float(low), float(high), 0.0, guess)


def mean_absolute_error(given: Array, predicted: Array) -> Score:
    """Mean size of the errors, beside that of the mean of the other rows."""
    given, predicted = _known(given, predicted)
    l, guess = len(given), "the mean"
    if l == 0:
        return Score(np.nan, np.nan, np.nan, np.nan, guess)
    size = np.abs(given - predicted)
    # The mean of the others is off by l / (l - 1) of what the mean of all is off by.
    naive = np.abs(given - given.mean()).mean() * l / max(1, l - 1)
    half = _half_width(size)
    low, high = max(0.0, float(size.mean() - half)), float(size.mean() + half)
    return Score(float(size.mean()), low, high, float(naive), guess)


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


def _half_width(values: Array) -> float:
    """Of the 95 % interval of a mean, by Student's t; infinite for one value."""
    l = len(values)
    if l < 2:
        return float("inf")
    error = float(values.std(ddof=1)) / np.sqrt(l)
    return float(t.ppf((1 + LEVEL) / 2, l - 1)) * error
