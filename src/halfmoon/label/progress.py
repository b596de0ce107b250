"""How far labeling has come, in words for the page."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

from halfmoon.label.learning_curve import MORE
from halfmoon.label.live_accuracy import LiveAccuracy, live_accuracy
from halfmoon.report.wording import count, percent

if TYPE_CHECKING:
    from halfmoon.label.labeling import Labeling

__all__ = ["told_progress"]

RECENT = 30  # answers that the pace is taken from
CERTAIN = 0.99  # lower end of the accuracy, from which more labels are not needed


def told_progress(labeling: Labeling, who: str) -> dict[str, Any]:
    """What the page says beside the row.

    Parameters
    ----------
    labeling : Labeling
        Locked.
    who : str
        Whose page it is.
    """
    answers, kept = labeling.answers, labeling.kept
    learned = labeling.questions.learned
    people = answers.of_people(labeling.rows)
    labels = answers.labels(labeling.rows)
    given = labeling.n_cells - sum(number in labeling.with_cell for number in labels)
    own = [x for x in answers.every.values() if x.who == who and x.value is not None]
    blank = kept.scan.n_rows - kept.scan.n_ignored - given - len(labels)
    told = live_accuracy(answers.every.values(), learned.labels, kept.kind == "classes")
    both, same = answers.agreement(labeling.rows)
    return {
        "answered": len(labels),
        "own": len(own),
        "skipped": sum(
            all(x.value is None for x in each.values()) for each in people.values()
        ),
        "labels": given + len(labels),
        "blank": blank,
        "rows": kept.scan.n_rows - kept.scan.n_ignored,
        "classes": labeling.classes if kept.kind == "classes" else [],
        "kind": kept.kind,
        "learning": labeling.is_learning,
        "refits": labeling.refits,
        "accuracy": None
        if told is None
        else {"value": told.value, "low": told.low, "high": told.high, "n": told.n},
        "quality": _quality(labeling, told),
        "forecast": "" if learned.gain is None else learned.gain.sentence,
        "pace": _pace([x.seconds for x in own if x.seconds > 0][-RECENT:]),
        "stop": _stop(labeling, told, blank),
        "agreement": ""
        if not both
        else f"{count(both, 'row')} labeled by several people: {percent(same / both)} "
        f"agree.",
        "people": sorted({x.who for x in answers.every.values() if x.who}),
    }


def _quality(labeling: Labeling, told: LiveAccuracy | None) -> str:
    learned = labeling.questions.learned
    if told is not None:
        return told.sentence
    if learned.has_model:
        return "Label some more rows to see how well halfmoon does."
    if labeling.refits and learned.why_not:
        return "At least two different labels are needed before halfmoon can learn."
    return "halfmoon learns as soon as there are a few labels."


def _pace(seconds: list[float]) -> str:
    if len(seconds) < 3:
        return ""
    middle = median(seconds)
    return (
        f"{middle:.0f} seconds a row" if middle >= 2 else f"{middle:.1f} seconds a row"
    )


def _stop(labeling: Labeling, told: LiveAccuracy | None, blank: int) -> str:
    """That it is enough, if it is."""
    learned = labeling.questions.learned
    if blank <= 0:
        return "Every row has a label. You can stop."
    if told is not None and told.is_share and told.low >= CERTAIN:
        return "You can stop: nearly every row is right."
    if told is not None and learned.gain is not None and learned.gain.is_little:
        what = "1 point" if told.is_share else f"{percent(0.01)} of the error"
        return f"You can stop: {MORE} more labels would gain less than {what}."
    return ""
