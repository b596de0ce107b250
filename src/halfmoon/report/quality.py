"""Quality in parts: class by class, and numbers by the size of the prediction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from halfmoon.report.confusion import MixUp, mix_ups, natural
from halfmoon.report.findings import FilledClasses, Findings, LeftOutClasses
from halfmoon.report.residuals import Third, errors_by_thirds
from halfmoon.report.scores import accuracy, balanced_accuracy, per_class
from halfmoon.report.wording import RULES, percent

__all__ = ["ClassLine", "QualityInParts", "quality_in_parts"]

IN_ORDER = 12  # classes; more are listed with the worst first
MOST_CLASSES = 200


@dataclass(frozen=True)
class ClassLine:
    """A line of the table of classes.

    Attributes
    ----------
    name : str
    labels : int
        Labels that were hidden in turn.
    found : int
        Those that were predicted right.
    false_alarms : int
        Labels of other classes that were predicted to be of this one.
    filled : int
        Blanks that were filled with it.
    confidence : float or None
        Mean confidence of those; None where it is not known.
    """

    name: str
    labels: int
    found: int
    false_alarms: int
    filled: int
    confidence: float | None = None

    @property
    def share(self) -> float:
        """Share of its labels that was found; NaN if that cannot be tested."""
        return self.found / self.labels if self.labels > 1 else float("nan")


@dataclass(frozen=True)
class QualityInParts:
    """What stands below the overall score.

    Attributes
    ----------
    classes : list of ClassLine
        Empty for numbers.
    more_classes : int
        Not listed.
    worst_first : bool
        Their order; otherwise that of their names.
    balanced : str
        A sentence where one class is very common; may be empty.
    mix_ups : list of MixUp
    thirds : list of Third
        Empty for classes.
    """

    classes: list[ClassLine]
    more_classes: int
    worst_first: bool
    balanced: str
    mix_ups: list[MixUp]
    thirds: list[Third]

    @property
    def untested(self) -> bool:
        """Some class has one label."""
        return any(line.labels == 1 for line in self.classes)


def quality_in_parts(findings: Findings) -> QualityInParts:
    """Class by class, or by thirds of the predicted numbers."""
    left_out, filled = findings.left_out, findings.filled
    if not isinstance(left_out, LeftOutClasses):
        thirds = errors_by_thirds(
            left_out.given, left_out.predicted, left_out.low, left_out.high
        )
        return QualityInParts([], 0, False, "", [], thirds)
    answers: Mapping[str, int] = {}
    sure: Mapping[str, float] = {}
    if isinstance(filled, FilledClasses):
        answers, sure = filled.predicted, filled.confidence_of
    quality = per_class(left_out.given, left_out.predicted)
    tested = left_out.tested()
    lines = [
        ClassLine(
            *(each.name, each.labels, each.found, each.false_alarms),
            filled=answers.get(each.name, 0),
            confidence=sure.get(each.name),
        )
        for each in quality
    ]
    seen = {line.name for line in lines}
    lines += [
        ClassLine(name, 0, 0, 0, answers[name], sure.get(name))
        for name in {*answers} - seen
    ]
    lines.sort(key=lambda line: natural(line.name))
    worst_first = len(lines) > IN_ORDER
    if worst_first:
        lines.sort(key=lambda line: 2.0 if np.isnan(line.share) else line.share)
    score = accuracy(left_out.given, left_out.predicted)
    balanced = ""
    if score.naive > RULES and len(quality) > 1:
        mean, guess = balanced_accuracy(quality), 1 / sum(q.labels > 1 for q in quality)
        balanced = (
            f"One class is very common, so accuracy says little. On average "
            f"{percent(mean)} of each class was found (balanced accuracy); always "
            f"guessing the most common class would find {percent(guess)}."
        )
    return QualityInParts(
        lines[:MOST_CLASSES],
        max(0, len(lines) - MOST_CLASSES),
        worst_first,
        balanced,
        mix_ups(tested.given, tested.predicted),
        [],
    )
