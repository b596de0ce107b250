"""What the page shows next to a row: how far labeling has come, and when to stop.

The page says "You can stop" if

- every row has a label; or
- the labels are classes, and the interval of the accuracy is above 90 %; or
- at least 10 random rows count, 50 more labels are expected to gain less than 1 point
  of accuracy (2 % of the error), and even the upper end of this forecast is less than
  half the width of the interval: the page could not see the difference.
"""

from __future__ import annotations

from dataclasses import asdict
from statistics import median
from typing import TYPE_CHECKING, Any

from halfmoon._label.live_accuracy import (
    MIN_RANDOM_ROWS,
    LiveAccuracy,
    live_accuracy,
    measured_rows,
)
from halfmoon._label.more_labels_gain import MORE_LABELS, SMALL_SHARE, MoreLabelsGain
from halfmoon._number_format import count, percent

if TYPE_CHECKING:
    from halfmoon._label.session import Labeling

__all__ = ["describe_progress"]

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
