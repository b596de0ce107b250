r"""Scores that the filled rows should reach, with intervals and a naive baseline.

The m filled rows are judged by the leave-one-out predictions of n labels. These say
less than n independent trials, because they share their labels and because m is finite.
So the variance of a mean over the labels, v/n, is replaced by

.. math:: v (a/n + 1/m)

with a = 1.5 for classes and a = 2 for numbers (`SHARED`). If labels lie in clumps of
similar rows, n and m count clumps instead: they are multiplied by the share
`independent`. For k right of n, the interval is Wilson's (1927): it holds every share p
that k does not contradict,

.. math:: (k/n - p)^2 \le z^2 p (1 - p) (a/n + 1/m)

While a label is hidden, its class has one label less than the filled rows are predicted
from: one instead of two, where it matters most. If the errors of a class fall with the
number c of its labels like c^-g, a share of its missed labels,

.. math:: 1 - (1 - 1/c)^g

is due to that. For the upper end of the interval k counts these as right, and half a
trial more, because k comes in whole trials (the usual continuity correction). For the
accuracy itself and for the lower end n also counts the only labels of their classes, as
if they were missed: they cannot be tested, but the filled rows have such classes too.

The mean absolute error is multiplied by `choice_factor`, except for the lower end: the
factor is an average over tables, and some need none. The interval is Student's, for the
logarithm of the error, with v the squared coefficient of variation of the errors. It is
shrunk towards 0.75 with the weight of 10 labels: that is between its value for normal
errors (0.57) and for Laplace errors (1). A label far outside the range of the others
was moved to them before the fit, as if it were mistyped. It may be right, so the upper
end is at least that of the labels as given.

R^2 = 1 - r, where r is the ratio of the means of e^2 and d^2, of errors and of
deviations from the mean. To first order log r varies as the mean of
(e_i^2 / r - d_i^2) / mean d^2, which gives an interval that never goes beyond 1. The
mean of d^2 is that of independent rows, with n - 1 in its denominator. If predictions
hardly differ from the mean, e and d are nearly equal and their ratio seems to be known
exactly; it is not, because the filled rows have other means. So the variance of log r
is shrunk too, towards 2: for normal errors and deviations it is 4 R^2.

**Intervals of numbers** that end at the k-th smallest of n held-out errors hold the
number of a new row with a probability that is known before anything is measured: it
varies from draw to draw of the labels as Beta(k, n + 1 - k), whatever the errors are
(Vovk, 2012). Of errors that share labels, both parameters are divided by a. The share
of m rows varies more. So the share of the n labels within their own intervals, k/n or
more, is no test of them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import beta, norm, t

from halfmoon._estimators.intervals import SHARED, choice_factor
from halfmoon._rows import Array

__all__ = [
    "ClassQuality",
    "Expectation",
    "Score",
    "accuracy",
    "balanced_accuracy",
    "interval_coverage",
    "mean_absolute_error",
    "per_class",
    "r_squared",
    "wilson_interval",
]

MIN_ERRORS = 3  # of two, the spread is not known
LEVEL = 0.95
PRIOR_VARIATION, PRIOR_LABELS = 0.75, 10
PRIOR_R2_VARIANCE = 2.0
LEARNING_RATE = 1.0  # g above
HALF_A_TRIAL = 0.5
VAGUE = 0.6  # width of an interval of the accuracy


@dataclass(frozen=True)
class Score:
    """A score with its 95 % interval, and the score of a naive guess."""

    value: float  # NaN if unknown
    low: float
    high: float
    naive: float  # score of always guessing the most common class, or the mean
    tested: int = 0  # labels that were hidden and predicted
    right: int = 0  # classes: labels predicted right
    alone: int = 0  # classes: the only labels of their class, which cannot be tested
    guess: str = ""  # classes: the most common one
    guessed: int = 0  # classes: labels that are `guess`
    tied: bool = False  # classes: whether another one is as common
    is_vague: bool = False  # whether labels are so few that `value` means nothing


@dataclass(frozen=True)
class Expectation:
    """Leave-one-out accuracy and mean confidence; the headline must respect both."""

    score: Score  # its value is NaN if it cannot be measured
    confidence: float  # mean of the filled rows; NaN if none is filled

    @property
    def measured(self) -> bool:
        """Whether at least one label can be tested."""
        return bool(np.isfinite(self.score.value))

    @property
    def too_hopeful(self) -> bool:
        """Whether the confidence is below the interval: the filled rows differ."""
        return self.measured and self.confidence < self.score.low

    @property
    def too_sure(self) -> bool:
        """Whether the confidence is above the interval."""
        return self.measured and self.confidence > self.score.high

    @property
    def value(self) -> float:
        """The figure for the headline: the lower one if the two disagree."""
        return self.confidence if self.too_hopeful else self.score.value


def wilson_interval(right: float, total: float) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share, given `right` of `total` trials.

    Examples
    --------
    >>> low, high = wilson_interval(9, 10)
    >>> round(low, 3), round(high, 3)
    (0.596, 0.982)
    """
    if total == 0:
        return 0.0, 1.0
    z = float(norm.ppf((1 + LEVEL) / 2))
    share = right / total
    center = (share + z * z / (2 * total)) / (1 + z * z / total)
    spread = share * (1 - share) / total + z * z / (4 * total * total)
    half = z / (1 + z * z / total) * float(np.sqrt(spread))
    low = 0.0 if right == 0 else max(0.0, center - half)
    high = 1.0 if right == total else min(1.0, center + half)
    return low, high


def accuracy(
    given: Sequence[str],
    predicted: Sequence[str],
    filled: float = np.inf,
    independent: float = 1.0,
) -> Score:
    """Return the share of filled rows expected to be right.

    It comes from labels and their leave-one-out predictions; `filled` is the number of
    filled rows, and `independent` the number of clumps of labels as a share of the
    labels. A label that is the only one of its class counts as missed: while it is
    hidden, the class is unknown, so it cannot be predicted.
    """
    labels = Counter(given)
    pairs = list(zip(given, predicted, strict=True))
    tested = [(one, other) for one, other in pairs if labels[one] > 1]
    n, alone = len(tested), len(pairs) - len(tested)
    if n == 0:
        return Score(np.nan, 0.0, 1.0, np.nan, alone=alone)
    right = sum(one == other for one, other in tested)
    (guess, most), *others = labels.most_common(2)
    tied = any(count == most for _, count in others)
    # Independent ones.
    trials, with_alone = (
        independent / _variance_of_mean("classes", labels, filled)
        for labels in (n, n + alone)
    )
    one_less = sum(
        1 - (1 - 1 / labels[one]) ** LEARNING_RATE
        for one, other in tested
        if one != other
    )
    low, _ = wilson_interval(right / (n + alone) * with_alone, with_alone)
    upper = (right + one_less) / n * trials + HALF_A_TRIAL
    _, high = wilson_interval(min(upper, trials), trials)
    vague = high - low > VAGUE and filled >= n
    value, naive = right / (n + alone), most / (n + alone)
    counts = n, right, alone, guess, most
    return Score(value, low, high, naive, *counts, tied, vague)


@dataclass(frozen=True)
class ClassQuality:
    """How well one class is recovered when each label is hidden in turn."""

    name: str
    labels: int
    found: int  # labels predicted right
    false_alarms: int  # labels of other classes predicted as this one
    filled: int = 0  # blanks filled with this class
    confidence: float | None = None  # mean confidence of those blanks

    @property
    def share(self) -> float:
        """Share of the labels that was found; NaN for a single label."""
        return self.found / self.labels if self.labels > 1 else float("nan")


def per_class(given: Sequence[str], predicted: Sequence[str]) -> list[ClassQuality]:
    """Return every given or predicted class, the most common first.

    A label that is the only one of its class is no false alarm for another class: while
    it is hidden, no prediction can be right.

    Examples
    --------
    >>> print(per_class(["a", "a", "b"], ["a", "b", "b"])[1])
    ... # doctest: +NORMALIZE_WHITESPACE
    ClassQuality(name='b', labels=1, found=1, false_alarms=1, filled=0,
    confidence=None)
    """
    labels, found, alarms = Counter(given), Counter[str](), Counter[str]()
    for one, other in zip(given, predicted, strict=True):
        if one == other:
            found[one] += 1
        elif labels[one] > 1:
            alarms[other] += 1
    names = sorted({*given, *predicted}, key=lambda name: (-labels[name], name))
    return [
        ClassQuality(name, labels[name], found[name], alarms[name]) for name in names
    ]


def balanced_accuracy(classes: Sequence[ClassQuality]) -> float:
    """Return the mean share of each class that was found; a constant guess has 1 / c.

    Classes with one label do not count, as in `accuracy`.

    Examples
    --------
    >>> balanced_accuracy(per_class("aaabb", "aaaaa"))
    0.5
    """
    shares = [each.share for each in classes if each.labels > 1]
    return float(np.mean(shares)) if shares else float("nan")


def r_squared(
    given: Array, predicted: Array, filled: float = np.inf, independent: float = 1.0
) -> Score:
    """Return 1 minus the ratio of the expected squared error to that of the mean.

    `filled` and `independent` are as in `accuracy`.
    """
    given, predicted = _known(given, predicted)
    l = len(given)
    squares = (given - predicted) ** 2
    spread = (given - given.mean()) ** 2 * l / (l - 1) if l > 1 else np.zeros(1)
    if l < MIN_ERRORS or not spread.mean() > 0:
        return Score(np.nan, np.nan, np.nan, 0.0, l)
    ratio = squares.mean() / spread.mean()
    if ratio == 0:
        return Score(1.0, 1.0, 1.0, 0.0, l)
    slope = (squares / ratio - spread) / spread.mean()
    n, m = independent * l, independent * filled
    half = _half_width(_shrunk(float(slope.var(ddof=1)), PRIOR_R2_VARIANCE, n), n, m)
    high = 1 - ratio * np.exp(-half)
    ratio *= choice_factor(l) ** 2
    low = 1 - ratio * np.exp(half)
    return Score(float(1 - ratio), float(low), float(high), 0.0, l)


def mean_absolute_error(
    given: Array, predicted: Array, filled: float = np.inf, independent: float = 1.0
) -> Score:
    """Return the mean absolute error to expect; the naive guess is the mean.

    `filled` and `independent` are as in `accuracy`.
    """
    given, predicted = _known(given, predicted)
    l = len(given)
    if l == 0:
        return Score(np.nan, np.nan, np.nan, np.nan)
    size = np.abs(given - predicted)
    # The error of the mean of the others is l / (l - 1) times that of the mean of all.
    naive = float(np.abs(given - given.mean()).mean() * l / max(1, l - 1))
    mean = float(size.mean())
    expected = mean * choice_factor(l)
    if expected == 0:
        return Score(0.0, 0.0, 0.0, naive, l)
    variation = float(size.var() / mean**2) * l / max(1, l - 1)
    n, m = independent * l, independent * filled
    shrunk = _shrunk(variation, PRIOR_VARIATION, n)
    half = _half_width(shrunk, n, m) if l >= MIN_ERRORS else np.inf
    low, high = mean * np.exp(-half), expected * np.exp(half)
    return Score(expected, float(low), float(high), naive, l)


def _known(given: Array, predicted: Array) -> tuple[Array, Array]:
    """Select the rows whose leave-one-out prediction is known."""
    known = np.isfinite(given) & np.isfinite(predicted)
    return given[known], predicted[known]


def interval_coverage(
    labels: float, level: float, filled: float = np.inf
) -> tuple[float, float]:
    """Return the share of filled rows that intervals at this level should hold.

    It is a 95 % interval, for intervals made from the errors of so many independent
    labels; NaN if these are too few for the level.

    Examples
    --------
    >>> low, high = interval_coverage(40, 0.9)
    >>> round(low, 3), round(high, 3)
    (0.746, 0.987)
    """
    n = math.floor(labels)
    k = math.ceil((n + 1) * level)
    if k > n or not filled:
        return np.nan, np.nan
    share, total = k / (n + 1), (n + 1) / SHARED["numbers"]
    if np.isfinite(filled):  # the mean and the variance of the beta-binomial one
        total = filled * (total + 1) / (total + filled) - 1
    if total <= 0:  # a single row
        return 0.0, 1.0
    low, high = beta.ppf(
        [(1 - LEVEL) / 2, (1 + LEVEL) / 2],
        *(total * each for each in (share, 1 - share)),
    )
    return float(low), float(high)


def _shrunk(variance: float, prior: float, labels: float) -> float:
    """Return a variance, shrunk towards another with the weight of `PRIOR_LABELS`."""
    return (labels * variance + PRIOR_LABELS * prior) / (labels + PRIOR_LABELS)


def _variance_of_mean(kind: str, labels: float, filled: float) -> float:
    """Return a/n + 1/m, the factor of the variance of one row; a/n if m is 0."""
    return SHARED[kind] / labels + (1 / filled if filled else 0.0)


def _half_width(variance: float, labels: float, filled: float) -> float:
    """Return half the width of the 95 % interval of a mean over the filled rows."""
    if labels < 2:
        return float("inf")
    error = np.sqrt(variance * _variance_of_mean("numbers", labels, filled))
    return float(t.ppf((1 + LEVEL) / 2, labels - 1) * error)
