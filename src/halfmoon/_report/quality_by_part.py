r"""Quality part by part: classes and their mix-ups, thirds of the numbers, confidences.

The expected calibration error is the mean distance between how sure predictions are
and how often they are right, over bins of confidence,

.. math:: ECE = \sum_b (l_b / l) \, |accuracy_b - confidence_b|

Few labels make it large by chance alone. So it is compared with its expectation if each
confidence were right: the labels of bin b that are predicted right would be binomial.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from halfmoon._number_format import natural
from halfmoon._report.findings import FilledClasses, Findings, LooClasses, LooNumbers
from halfmoon._report.quality_scores import ClassQuality, per_class, wilson_interval
from halfmoon._report.sentences import balanced
from halfmoon._rows import Array

__all__ = [
    "Confusion",
    "MixUp",
    "QualityInParts",
    "Reliability",
    "Third",
    "confusion",
    "errors_by_thirds",
    "mix_ups",
    "quality_in_parts",
    "reliability",
]

MAX_MATRIX_CLASSES = 12  # a larger matrix cannot be read on a phone
MAX_MIX_UPS = 10
OTHERS = "other classes"


@dataclass(frozen=True, eq=False)
class Confusion:
    """Counts of given and predicted classes.

    `counts[i, j]` rows of class i were predicted as class j. The last class may stand
    for `lumped` classes. Rows both given and predicted as one of these are left out of
    the counts, since some of them are right and some are wrong.
    """

    classes: tuple[str, ...]
    counts: NDArray[np.int64]  # (c, c)
    lumped: int
    lumped_right: int = 0  # rows that are left out
    lumped_wrong: int = 0

    @property
    def total(self) -> int:
        """Number of rows."""
        return int(self.counts.sum()) + self.lumped_right + self.lumped_wrong

    @property
    def wrong(self) -> int:
        """Number of rows predicted as another class than the given one."""
        return int(self.counts.sum() - np.trace(self.counts)) + self.lumped_wrong


class MixUp(NamedTuple):
    """How often one class was predicted as another."""

    given: str
    predicted: str
    times: int


def confusion(given: Sequence[str], predicted: Sequence[str]) -> Confusion:
    """Count given against predicted classes, in the order of `natural`.

    Of more than twelve, the classes with the most mix-ups, then the most common ones,
    keep their rows; the others share the last row.

    Examples
    --------
    >>> confusion(["a", "a", "b"], ["a", "b", "b"]).counts
    array([[1, 1],
           [0, 1]])
    """
    names = sorted({*given, *predicted}, key=natural)
    pairs = Counter(zip(given, predicted, strict=True))
    lumped = 0
    if len(names) > MAX_MATRIX_CLASSES:
        labels, mixed = Counter(given), Counter[str]()
        for (one, other), n in pairs.items():
            if one != other:
                mixed.update({one: n, other: n})
        names.sort(key=lambda name: (-mixed[name], -labels[name]))
        lumped = len(names) - (MAX_MATRIX_CLASSES - 1)
        names = [*sorted(names[:-lumped], key=natural), OTHERS]
    place = {name: i for i, name in enumerate(names[:-1] if lumped else names)}
    last = len(names) - 1
    counts = np.zeros((len(names), len(names)), dtype=np.int64)
    right = 0
    for (one, other), n in pairs.items():
        counts[place.get(one, last), place.get(other, last)] += n
        right += n * (one == other and one not in place)
    wrong = int(counts[last, last]) - right if lumped else 0
    counts[last, last] -= right + wrong
    return Confusion(tuple(names), counts, lumped, right, wrong)


def mix_ups(
    given: Sequence[str], predicted: Sequence[str], max_pairs: int = MAX_MIX_UPS
) -> list[MixUp]:
    """Return the pairs of classes that are mixed up, the most frequent first.

    Examples
    --------
    >>> mix_ups(["a", "a", "b"], ["b", "b", "b"])
    [MixUp(given='a', predicted='b', times=2)]
    """
    pairs = Counter(zip(given, predicted, strict=True))
    found = [MixUp(*pair, n) for pair, n in pairs.items() if pair[0] != pair[1]]
    found.sort(key=lambda x: (-x.times, natural(x.given), natural(x.predicted)))
    return found[:max_pairs]


MIN_THIRDS_LABELS = 9  # with fewer, a third says little


class Third(NamedTuple):
    """A third of the labels, by predicted number."""

    name: str  # "Lowest", "Middle" or "Highest"
    low: float  # range of the predictions
    high: float
    labels: int
    error: float  # mean size of the errors
    bias: float  # mean of given minus predicted
    held: float  # share of given numbers within their interval


def errors_by_thirds(loo: LooNumbers) -> list[Third]:
    """Return the errors where predictions are low, in the middle and high.

    The list is empty for fewer than nine labels.

    Examples
    --------
    >>> x = np.arange(9.0)
    >>> thirds = errors_by_thirds(LooNumbers(x + (x > 5), x, x - 0.5, x + 0.5, 0.9))
    >>> [(third.high, third.error, third.held) for third in thirds]
    [(2.0, 0.0, 1.0), (5.0, 0.0, 1.0), (8.0, 1.0, 0.0)]
    """
    given, predicted = loo.given, loo.predicted
    known = np.flatnonzero(np.isfinite(given) & np.isfinite(predicted))
    if len(known) < MIN_THIRDS_LABELS:
        return []
    order = known[np.argsort(predicted[known], kind="stable")]
    found = []
    names = ("Lowest", "Middle", "Highest")
    for name, rows in zip(names, np.array_split(order, 3), strict=True):
        y, values = given[rows], predicted[rows]
        ends = float(values[0]), float(values[-1])
        error, bias = float(np.abs(y - values).mean()), float((y - values).mean())
        held = float(((loo.low[rows] <= y) & (y <= loo.high[rows])).mean())
        found.append(Third(name, *ends, len(rows), error, bias, held))
    return found


MIN_BINS, MAX_BINS, ROWS_PER_BIN = 2, 10, 8


@dataclass(frozen=True, eq=False)
class Reliability:
    """Bins that are not empty, by rising confidence; all arrays have shape (b,)."""

    confidence: Array  # mean over the rows of a bin
    accuracy: Array
    low: Array  # Wilson's 95 % interval of the accuracy
    high: Array
    counts: NDArray[np.int64]  # rows of a bin

    @property
    def error(self) -> float:
        """Expected calibration error; NaN without rows."""
        return self.mean(np.abs(self.accuracy - self.confidence))

    @property
    def error_by_chance(self) -> float:
        """The same on average if each confidence were right; NaN without rows.

        Examples
        --------
        >>> one = np.ones(1)
        >>> Reliability(one / 2, one, one, one, np.array([2])).error_by_chance
        0.25
        """
        by_chance = np.zeros(len(self.counts))
        for i, (n, p) in enumerate(zip(self.counts, self.confidence, strict=True)):
            right = np.arange(n + 1)
            by_chance[i] = np.abs(right / n - p) @ binom.pmf(right, n, p)
        return self.mean(by_chance)

    def mean(self, values: Array) -> float:
        """Return the mean over all rows of a value for each bin; NaN without rows."""
        if len(values) == 0:
            return float("nan")
        return float(np.average(values, weights=self.counts))


def reliability(
    confidence: Array,  # (l,)
    right: NDArray[np.bool_],  # (l,)
    bins: int | None = None,
) -> Reliability:
    """Bin rows by equal steps of confidence from 0 to 1; NaN is ignored.

    By default there is one bin for 8 rows, 2 to 10.
    """
    known = ~np.isnan(confidence)
    confidence, right = confidence[known], right[known]
    if bins is None:
        bins = int(np.clip(len(right) // ROWS_PER_BIN, MIN_BINS, MAX_BINS))
    place = np.minimum((confidence * bins).astype(int), bins - 1)
    counts = np.bincount(place, minlength=bins)
    used = counts > 0
    counts = counts[used].astype(np.int64)
    hits, sums = (
        np.bincount(place, weights, bins)[used] for weights in (right, confidence)
    )
    ends = [wilson_interval(k, n) for k, n in zip(hits, counts, strict=True)]
    low, high = np.array(ends).reshape(-1, 2).T
    return Reliability(sums / counts, hits / counts, low, high, counts)


MAX_IN_ORDER = 12  # classes; more are listed with the worst first
MAX_LISTED_CLASSES = 200


@dataclass(frozen=True)
class QualityInParts:
    """What the report shows below the overall score."""

    classes: list[ClassQuality] = field(default_factory=list)
    more_classes: int = 0  # that are not listed
    worst_first: bool = False  # order of the classes; otherwise by name
    balanced: str = ""  # a sentence, if one class is very common
    mix_ups: list[MixUp] = field(default_factory=list)
    thirds: list[Third] = field(default_factory=list)  # of numbers

    @property
    def untested(self) -> bool:
        """Whether a class has a single label."""
        return any(each.labels == 1 for each in self.classes)


def quality_in_parts(findings: Findings) -> QualityInParts:
    """Break the quality down by class, or by thirds of the predicted numbers."""
    loo, filled = findings.loo, findings.filled
    if not isinstance(loo, LooClasses):
        return QualityInParts(thirds=errors_by_thirds(loo))
    classes = per_class(loo.given, loo.predicted)
    if isinstance(filled, FilledClasses):
        names = {each.name for each in classes}
        classes += [
            ClassQuality(x, 0, 0, 0) for x in filled.predicted if x not in names
        ]
        counts, sure = filled.predicted, filled.confidence_of
        classes = [
            replace(x, filled=counts.get(x.name, 0), confidence=sure.get(x.name))
            for x in classes
        ]
    classes.sort(key=lambda each: natural(each.name))
    worst_first = len(classes) > MAX_IN_ORDER
    if worst_first:
        classes.sort(key=lambda each: np.nan_to_num(each.share, nan=2.0))
    tested = loo.tested()
    return QualityInParts(
        classes[:MAX_LISTED_CLASSES],
        max(0, len(classes) - MAX_LISTED_CLASSES),
        worst_first,
        balanced(loo),
        mix_ups(tested.given, tested.predicted),
    )
