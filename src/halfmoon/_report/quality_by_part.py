"""Quality class by class, and of numbers by the size of the prediction."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from halfmoon._report.error_tables import (
    MixUp,
    Third,
    errors_by_thirds,
    mix_ups,
    natural,
)
from halfmoon._report.findings import FilledClasses, Findings, LooClasses
from halfmoon._report.quality_scores import ClassQuality, per_class
from halfmoon._report.sentences import balanced

__all__ = ["QualityInParts", "quality_in_parts"]

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
        ends = loo.low, loo.high
        thirds = errors_by_thirds(loo.given, loo.predicted, *ends)
        return QualityInParts(thirds=thirds)
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
