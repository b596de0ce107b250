r"""How far labeling has come: the accuracy, what more labels would gain, when to stop.

The accuracy comes from rows drawn at random, each predicted by a model that did not
know the answer, and labeled by a person who saw no proposal. Other rows do not count:
chosen rows are harder than most, and answers next to a proposal agree with it more
often. Predictions of models with fewer than half of today's labels do not count either,
because the model is better now.

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

The page says "You can stop" if

- every row has a label; or
- the labels are classes, and the interval of the accuracy is above 90 %; or
- at least 10 random rows count, 50 more labels are expected to gain less than 1 point
  of accuracy (2 % of the error), and even the upper end of this forecast is less than
  half the width of the interval: the page could not see the difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import median
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtrit

from halfmoon._label.answers import Answer
from halfmoon._report.number_format import (
    count,
    format_aligned,
    percent,
    percent_range,
)
from halfmoon._report.quality_scores import LEVEL, wilson_interval
from halfmoon._rows import Array
from halfmoon.queries import forecast_learning_curve
from halfmoon.table._models.table_model import TableModel

if TYPE_CHECKING:
    from halfmoon._label.session import Labeling

__all__ = [
    "LiveAccuracy",
    "MoreLabelsGain",
    "describe_progress",
    "expected_gain",
    "live_accuracy",
    "mean_error",
]

MIN_RANDOM_ROWS = 5  # for an accuracy
MIN_LABELS_SHARE = 0.5  # share of today's labels that a model must have had
SKEWNESS = 0.75  # how far the upper end of an error is moved; see above
MORE_LABELS = 50  # that the forecast is for
SMALL_POINTS, SMALL_SHARE = 0.01, 0.02  # gains too small to go on, of accuracy or error
ENOUGH_RANDOM_ROWS = 10  # to correct a forecast, and to stop
HIGH_ACCURACY = 0.9
RECENT_ANSWERS = 30  # for the pace


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


@dataclass(frozen=True)
class MoreLabelsGain:
    """What `MORE_LABELS` labels would gain.

    For classes it is the share of rows that would become right; for numbers, the share
    by which the error would shrink.
    """

    gain: float
    high: float  # upper end of its interval
    is_share: bool  # whether the labels are classes
    error: float = 0.0  # of classes, that the forecast starts from; 0 if unknown

    def measured(self, found: LiveAccuracy | None) -> MoreLabelsGain:
        """Return the same part of the error that random rows show.

        The forecast starts from the error on all labeled rows. Chosen rows are harder
        than most, so that error is too large, and so is the gain.

        Examples
        --------
        >>> half = MoreLabelsGain(0.1, 0.15, True, error=0.2)
        >>> half.measured(LiveAccuracy(0.96, 0.9, 0.98, 50, True)).gain.__round__(3)
        0.02
        """
        if found is None or not self.is_share or not self.error:
            return self
        part, most = (min(x / self.error, 1.0) for x in (self.gain, self.high))
        high = min(self.high, most * (1.0 - found.low))
        return replace(self, gain=min(part * (1.0 - found.value), high), high=high)

    @property
    def sentence(self) -> str:
        """The gain in words.

        Examples
        --------
        >>> MoreLabelsGain(0.021, 0.04, True).sentence
        '50 more labels would gain about 2 points of accuracy.'
        >>> MoreLabelsGain(0.002, 0.004, False).sentence.replace("\u00a0", " ")
        '50 more labels would make the error less than 1 % smaller.'
        """
        about = "less than" if self.gain < 0.01 else "about"
        gain = max(self.gain, 0.01)
        if self.is_share:
            points = count(round(100 * gain), "point")
            return f"{MORE_LABELS} more labels would gain {about} {points} of accuracy."
        smaller = f"{about} {percent(gain)} smaller"
        return f"{MORE_LABELS} more labels would make the error {smaller}."

    def is_small(self, found: LiveAccuracy) -> bool:
        """Whether more labels gain so little that nobody could see it."""
        half = (found.high - found.low) / 2
        if self.is_share:
            return self.gain < SMALL_POINTS and self.high < half
        return self.gain < SMALL_SHARE and self.high * found.value <= half


def expected_gain(
    model: TableModel, X: Any, labels: Sequence[Any]
) -> MoreLabelsGain | None:
    """Forecast the gain of more labels; None if that is not possible.

    `X` are the rows of the model, and `labels` is None for unlabeled ones.
    """
    is_share = model.kind == "classes"
    y: Any = np.empty(len(labels), dtype=object)
    y[:] = labels
    if not is_share:
        y = np.array([np.nan if label is None else label for label in labels])
    try:
        found = forecast_learning_curve(model.estimator_, X, y, MORE_LABELS)
    except (ValueError, MemoryError):  # too few labels
        return None
    gain, high = max(float(found.gain[0]), 0.0), max(float(found.gain_high[0]), 0.0)
    if is_share:
        return MoreLabelsGain(gain, high, True, float(found.error))
    error = max(float(found.error), np.finfo(float).tiny)
    return MoreLabelsGain(gain / error, high / error, False)


def describe_progress(labeling: Labeling, who: str) -> dict[str, Any]:
    """Return what the page of a person shows next to the row; the session is locked."""
    answers, sample = labeling.answers, labeling.sample
    refit, is_share = labeling.questions.refit, sample.kind == "classes"
    labels = answers.labels()
    given = sample.scan.n_labeled - sum(map(sample.has_label, labels))
    rows = sample.scan.n_rows - sample.scan.n_ignored
    blank = rows - given - len(labels)
    mine = [x for x in answers.of_person(who) if x.value is not None]
    found = live_accuracy(answers.every.values(), refit.labels, is_share)
    enough = found is not None and found.n >= ENOUGH_RANDOM_ROWS
    gain = refit.gain and refit.gain.measured(found if enough else None)
    several, same = answers.agreement()
    agreement = ""
    if several:
        agreement = (
            f"{count(several, 'row')} labeled by several people: "
            f"{percent(same / several)} agree."
        )
    return {
        "answered": len(labels),
        "labels": given + len(labels),
        "blank": blank,
        "rows": rows,
        "classes": labeling.classes if is_share else [],
        "kind": sample.kind,
        "learning": labeling.is_learning,
        "refits": labeling.refits,
        "accuracy": None if found is None else asdict(found),
        "quality": _quality(labeling, found),
        "forecast": "" if gain is None else gain.sentence,
        "pace": _pace([x.seconds for x in mine if x.seconds > 0][-RECENT_ANSWERS:]),
        "stop": _stop(gain if enough else None, found, blank),
        "agreement": agreement,
    }


def _quality(labeling: Labeling, found: LiveAccuracy | None) -> str:
    refit = labeling.questions.refit
    if found is not None:
        return found.sentence
    if refit.has_model:
        is_share = labeling.sample.kind == "classes"
        answers = labeling.answers.every.values()
        n = len(measured_rows(answers, refit.labels, is_share))
        return (
            f"After {MIN_RANDOM_ROWS} random rows you see how well halfmoon does; "
            f"{n} so far."
        )
    if labeling.refits and refit.why_not:
        answered = map(str, labeling.answers.labels().values())
        different = {*labeling.sample.given_classes(), *answered}
        few = "halfmoon needs at least two different labels to learn from."
        return few if len(different) < 2 else refit.why_not
    return "halfmoon starts to learn after a few labels."


def _pace(seconds: list[float]) -> str:
    if len(seconds) < 3:
        return ""
    middle = median(seconds)
    return f"{middle:.{0 if middle >= 2 else 1}f} seconds per row"


def _stop(gain: MoreLabelsGain | None, found: LiveAccuracy | None, blank: int) -> str:
    """Say that the labels are enough, if they are: the rule is above."""
    if blank <= 0:
        return "Every row has a label. You can stop."
    if found is None:
        return ""
    if found.is_share and found.low >= max(HIGH_ACCURACY, found.naive):
        most = percent(HIGH_ACCURACY)
        return f"You can stop: at least {most} of the predictions should be right."
    if gain is None or not gain.is_small(found):
        return ""
    what = f"make the error less than {percent(SMALL_SHARE)} smaller"
    if found.is_share:
        what = "gain less than 1 point of accuracy"
    return f"You can stop: {MORE_LABELS} more labels would {what}."
