"""What the page shows next to a row: how far labeling has come, and when to stop.

What 50 more labels would gain is forecast from the learning curve.

The page says "You can stop" if

- every row has a label; or
- the labels are classes, and the interval of the accuracy is above 90 %; or
- at least 10 random rows count, 50 more labels are expected to gain less than 1 point
  of accuracy (2 % of the error), and even the upper end of this forecast is less than
  half the width of the interval: the page could not see the difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from halfmoon._label.live_accuracy import (
    MIN_RANDOM_ROWS,
    LiveAccuracy,
    live_accuracy,
    measured_rows,
)
from halfmoon._number_format import count, percent
from halfmoon.queries import forecast_learning_curve
from halfmoon.table._models.table_model import TableModel

if TYPE_CHECKING:
    from halfmoon._label.session import Labeling
from halfmoon._rows import TINY

__all__ = [
    "MORE_LABELS",
    "SMALL_SHARE",
    "MoreLabelsGain",
    "describe_progress",
    "expected_gain",
]

MORE_LABELS = 50  # that the forecast is for
SMALL_POINTS, SMALL_SHARE = 0.01, 0.02  # gains too small to go on, of accuracy or error


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
    error = max(float(found.error), TINY)
    return MoreLabelsGain(gain / error, high / error, False)


ENOUGH_RANDOM_ROWS = 10  # to correct a forecast, and to stop
HIGH_ACCURACY = 0.9
RECENT_ANSWERS = 30  # for the pace


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
