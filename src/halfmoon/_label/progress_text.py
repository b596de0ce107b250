"""The progress of labeling in words, for the page."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

from halfmoon._label.live_quality import (
    MORE_LABELS,
    LiveAccuracy,
    MoreLabelsGain,
    live_accuracy,
)
from halfmoon._report.number_format import count, percent

if TYPE_CHECKING:
    from halfmoon._label.session import Labeling

__all__ = ["describe_progress"]

RECENT_ANSWERS = 30  # for the pace
HIGH_ACCURACY = 0.99  # lower end of the interval above which nobody needs more labels


def describe_progress(labeling: Labeling, who: str) -> dict[str, Any]:
    """Return what the page of a person shows next to the row; the session is locked."""
    answers, sample = labeling.answers, labeling.sample
    refit, is_share = labeling.questions.refit, sample.kind == "classes"
    people, labels = answers.by_row(), answers.labels()
    given = sample.scan.n_labeled - sum(map(sample.has_label, labels))
    rows = sample.scan.n_rows - sample.scan.n_ignored
    blank = rows - given - len(labels)
    mine = [x for x in answers.of_person(who) if x.value is not None]
    found = live_accuracy(answers.every.values(), refit.labels, is_share)
    gain = None if refit.gain is None else refit.gain.measured(found)
    accuracy, agreement = None, ""
    if found is not None:
        accuracy = {
            name: getattr(found, name) for name in ("value", "low", "high", "n")
        }
    several, same = answers.agreement()
    if several:
        agreement = (
            f"{count(several, 'row')} labeled by several people: "
            f"{percent(same / several)} agree."
        )
    return {
        "answered": len(labels),
        "own": len(mine),
        "skipped": sum(
            all(x.value is None for x in each.values()) for each in people.values()
        ),
        "labels": given + len(labels),
        "blank": blank,
        "rows": rows,
        "classes": labeling.classes if is_share else [],
        "kind": sample.kind,
        "learning": labeling.is_learning,
        "refits": labeling.refits,
        "accuracy": accuracy,
        "quality": _quality(labeling, found),
        "forecast": "" if gain is None else gain.sentence,
        "pace": _pace([x.seconds for x in mine if x.seconds > 0][-RECENT_ANSWERS:]),
        "stop": _stop(gain, found, blank),
        "agreement": agreement,
        "people": sorted({x.who for x in answers.every.values() if x.who}),
    }


def _quality(labeling: Labeling, found: LiveAccuracy | None) -> str:
    refit = labeling.questions.refit
    if found is not None:
        return found.sentence
    if refit.has_model:
        return "Label some more rows to see how well halfmoon does."
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
    """Say that the labels are enough, if they are."""
    if blank <= 0:
        return "Every row has a label. You can stop."
    if found is None:
        return ""
    if found.is_share and found.low >= HIGH_ACCURACY:
        return "You can stop: nearly all predictions are right."
    if gain is not None and gain.is_small:
        what = (
            "1 point of accuracy" if found.is_share else f"{percent(0.01)} of the error"
        )
        return f"You can stop: {MORE_LABELS} more labels would gain less than {what}."
    return ""
