"""Which pictures a report has, and how each is to be read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from halfmoon.report.confusion import confusion
from halfmoon.report.drawing import Picture
from halfmoon.report.findings import (
    FilledClasses,
    FilledNumbers,
    Findings,
    LeftOutClasses,
    LeftOutNumbers,
)
from halfmoon.report.pictures import bars
from halfmoon.report.pictures_classes import (
    class_counts,
    confusion_matrix,
    reliability_diagram,
)
from halfmoon.report.pictures_columns import column_importance, distribution
from halfmoon.report.pictures_map import map_by_doubt, map_by_label
from halfmoon.report.pictures_numbers import predicted_beside_given, residual_histogram
from halfmoon.report.reliability import reliability
from halfmoon.report.residuals import residuals
from halfmoon.report.wording import PERCENT, count, number, percent

__all__ = [
    "Illustration",
    "of_columns",
    "of_distributions",
    "of_filled",
    "of_map",
    "of_quality",
]


MOST_DISTRIBUTIONS = 9


class Illustration(NamedTuple):
    """A picture with its caption."""

    picture: Picture
    caption: str


def of_filled(findings: Findings) -> list[Illustration]:
    """What was filled in."""
    filled = findings.filled
    if isinstance(filled, FilledNumbers):
        caption = "Bars: the predictions. Line: the given labels."
        return [Illustration(_numbers(filled), caption)]
    return [
        Illustration(
            class_counts(filled.given, filled.predicted),
            "Rows of each class: given labels, and predictions after them.",
        ),
        Illustration(
            _confidence(filled),
            "How sure the predictions are. Confidence is the probability that the "
            "predicted class is right. The line is the mean.",
        ),
    ]


def of_quality(findings: Findings) -> list[Illustration]:
    """How well hidden labels were predicted."""
    left_out = findings.left_out
    if isinstance(left_out, LeftOutNumbers):
        return _numbers_left_out(left_out) if len(left_out.given) else []
    tested = left_out.tested()
    return _classes_left_out(tested) if tested.given else []


def of_columns(findings: Findings) -> list[Illustration]:
    """Which columns mattered; nothing where it was not measured."""
    if all(column.importance is None for column in findings.columns):
        return []
    of_classes = findings.kind == "classes"
    caption = (
        "How much worse the leave-one-out predictions get when a column is shuffled, "
        + (
            "in percentage points of accuracy."
            if of_classes
            else "as the mean error that this adds, in the unit of the target."
        )
        + " A bar near 0 means that the predictions do not need this column, perhaps "
        "because other columns hold the same information. A bar to the left means "
        "that they may be better without it."
    )
    picture = column_importance(findings.columns, as_percent=of_classes)
    return [Illustration(picture, caption)]


def of_distributions(findings: Findings) -> list[Picture]:
    """Labeled and unlabeled rows, column by column."""
    return [distribution(each) for each in findings.distributions[:MOST_DISTRIBUTIONS]]


def of_map(findings: Findings) -> list[Illustration]:
    """Where the rows lie."""
    found = findings.map
    if found is None or len(found.points) == 0:
        return []
    if findings.kind == "classes":
        doubt = (
            "By confidence: the stronger the color, the less sure. Rings are labels."
        )
    else:
        doubt = (
            "By the width of the interval: the stronger the color, the wider. Rings "
            "are labels."
        )
    return [
        Illustration(
            map_by_label(found, findings.target),
            "By label. Large marks with a rim are labels, small ones are predictions.",
        ),
        Illustration(map_by_doubt(found), doubt),
    ]


def _confidence(filled: FilledClasses) -> Picture:
    return bars(
        filled.confidence,
        xlabel="confidence, %",
        ylabel="filled rows",
        mark=filled.mean_confidence,
        as_percent=True,
        alt=f"Histogram of the confidence of the filled rows, "
        f"{percent(filled.mean_confidence)} on average.",
    )


def _numbers(filled: FilledNumbers) -> Picture:
    centers = (filled.predicted.edges[1:] + filled.predicted.edges[:-1]) / 2
    total = max(1, int(filled.predicted.counts.sum()))
    mean = float(centers @ filled.predicted.counts) / total
    return bars(
        filled.predicted,
        behind=filled.given,
        names=("filled", "given"),
        xlabel="value",
        ylabel="rows, %",
        alt=f"Histogram of the filled numbers, about {number(mean)} on average.",
    )


def _classes_left_out(left_out: LeftOutClasses) -> list[Illustration]:
    found = confusion(left_out.given, left_out.predicted)
    mixed = (
        "Each label, and what was predicted when it was hidden. Numbers on the "
        "diagonal are right; strong colors off the diagonal are mix-ups."
    )
    if found.lumped:
        among = found.lumped_right + found.lumped_wrong
        mixed += (
            f" The {len(found.classes) - 1} classes that are mixed up most, or are "
            f"most common, have a row of their own; {found.lumped:,} other classes "
            f"share the last one. {count(among, 'label')} stayed within the other "
            f"classes, {found.lumped_right:,} of them right; they are not counted here."
        )
    pairs = zip(left_out.given, left_out.predicted, strict=True)
    right = np.array([one == other for one, other in pairs])
    bins = reliability(left_out.confidence, right)
    earned = (
        f"Can the confidence be trusted? On the dashed line, rows predicted with "
        f"80{PERCENT} confidence are right 80{PERCENT} of the time. Bars are "
        f"95{PERCENT} intervals; the numbers below count the labels. The mean distance "
        f"from the line is {percent(bins.error)}."
    )
    return [
        Illustration(confusion_matrix(found), mixed),
        Illustration(reliability_diagram(bins), earned),
    ]


def _numbers_left_out(left_out: LeftOutNumbers) -> list[Illustration]:
    errors = residuals(left_out.given, left_out.predicted)
    return [
        Illustration(
            predicted_beside_given(left_out),
            "On the dashed line the prediction is exact. Vertical lines are the "
            f"intervals, meant to hold {percent(left_out.level)} of the given numbers.",
        ),
        Illustration(
            residual_histogram(errors),
            "Errors: given minus predicted. Half of them are no larger than "
            f"{number(errors.median_size)}, nine of ten no larger than "
            f"{number(errors.ninth_decile)}. The dotted line is their mean, "
            f"{number(errors.bias)}; if it is far from 0, predictions are biased.",
        ),
    ]
