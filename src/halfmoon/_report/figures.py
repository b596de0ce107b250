"""The pictures of a report and their captions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from halfmoon._report.bar_charts import (
    class_counts,
    column_importance,
    confidence_histogram,
    distribution,
    number_histogram,
)
from halfmoon._report.confusion import confusion
from halfmoon._report.expectation import expected_accuracy
from halfmoon._report.findings import FilledNumbers, Findings, LooClasses, LooNumbers
from halfmoon._report.map_charts import map_by_doubt, map_by_label
from halfmoon._report.number_format import PERCENT, count, number, percent
from halfmoon._report.quality_charts import (
    confusion_matrix,
    predicted_against_given,
    reliability_diagram,
    residual_histogram,
)
from halfmoon._report.reliability import reliability
from halfmoon._report.residuals import residuals
from halfmoon._report.svg_drawing import Picture

__all__ = [
    "Illustration",
    "of_columns",
    "of_distributions",
    "of_filled",
    "of_map",
    "of_quality",
]

MAX_DISTRIBUTIONS = 9


class Illustration(NamedTuple):
    """A picture with its caption."""

    picture: Picture
    caption: str


def of_filled(findings: Findings) -> list[Illustration]:
    """Show what was filled in."""
    filled = findings.filled
    if isinstance(filled, FilledNumbers):
        picture = number_histogram(filled.predicted, filled.given)
        return [Illustration(picture, "Bars: the predictions. Line: your labels.")]
    tested = expected_accuracy(findings).measured
    return [
        Illustration(
            class_counts(filled.given, filled.predicted),
            "Rows of each class: your labels, then the predictions.",
        ),
        Illustration(
            confidence_histogram(filled.confidence, filled.mean_confidence),
            f"Confidence is the estimated probability that the prediction is right"
            f"{'' if tested else ', but with these labels it cannot be tested'}. The "
            f"line is the mean.",
        ),
    ]


def of_quality(findings: Findings) -> list[Illustration]:
    """Show how well hidden labels were predicted."""
    loo = findings.loo
    if isinstance(loo, LooNumbers):
        return _quality_of_numbers(loo) if len(loo.given) else []
    tested = loo.tested()
    return _quality_of_classes(tested) if tested.given else []


def of_columns(findings: Findings) -> list[Illustration]:
    """Show which columns mattered; nothing where it was not measured."""
    if all(column.importance is None for column in findings.columns):
        return []
    of_classes = findings.kind == "classes"
    worse = "the accuracy drops" if of_classes else "the mean error grows"
    caption = (
        f"Each bar shows by how much {worse} for hidden labels when the values of one "
        f"column are shuffled. A bar near 0 means that the predictions do not need the "
        f"column, perhaps because other columns hold the same information. A bar to "
        f"the left means that the predictions may be better without it."
    )
    picture = column_importance(findings.columns, as_percent=of_classes)
    return [Illustration(picture, caption)]


def of_distributions(findings: Findings) -> list[Picture]:
    """Compare labeled with unlabeled rows, column by column."""
    return [distribution(each) for each in findings.distributions[:MAX_DISTRIBUTIONS]]


def of_map(findings: Findings) -> list[Illustration]:
    """Show the rows on a plane."""
    found = findings.map
    if found is None or len(found.points) == 0:
        return []
    doubt = "By width of the interval: the stronger the color, the wider."
    if findings.kind == "classes":
        doubt = "By confidence: the stronger the color, the lower."
    return [
        Illustration(
            map_by_label(found, findings.target),
            "By label. Large marks with a rim are labels, small ones are predictions.",
        ),
        Illustration(map_by_doubt(found), f"{doubt} Rings are labels."),
    ]


def _quality_of_classes(loo: LooClasses) -> list[Illustration]:
    found = confusion(loo.given, loo.predicted)
    mixed = (
        "Each of your labels against the prediction made while it was hidden. Numbers "
        "on the diagonal are right, all others are mix-ups."
    )
    if found.lumped:
        among = found.lumped_right + found.lumped_wrong
        mixed += (
            f" The {len(found.classes) - 1} classes with the most mix-ups, or the most "
            f"labels, have a row each; {found.lumped:,} other classes share the last "
            f"row. {count(among, 'label')} of these other classes "
            f"{'was' if among == 1 else 'were'} predicted as one of them, "
            f"{found.lumped_right:,} correctly; the picture leaves them out."
        )
    pairs = zip(loo.given, loo.predicted, strict=True)
    right = np.array([given == predicted for given, predicted in pairs])
    bins = reliability(loo.confidence, right)
    earned = (
        f"Can you trust the confidence? On the dashed line, rows predicted with "
        f"80{PERCENT} confidence are right 80{PERCENT} of the time. Bars are "
        f"95{PERCENT} intervals; the numbers below count the labels. On average, "
        f"confidence and accuracy differ by {percent(bins.error)}."
    )
    return [
        Illustration(confusion_matrix(found), mixed),
        Illustration(reliability_diagram(bins), earned),
    ]


def _quality_of_numbers(loo: LooNumbers) -> list[Illustration]:
    errors = residuals(loo.given, loo.predicted)
    return [
        Illustration(
            predicted_against_given(loo),
            "On the dashed line the prediction is exact. Vertical lines are the "
            f"intervals, which should hold {percent(loo.level)} of the given "
            "numbers.",
        ),
        Illustration(
            residual_histogram(errors),
            "Errors: given minus predicted. Half of them are no larger than "
            f"{number(errors.median_size)}, nine out of ten no larger than "
            f"{number(errors.ninth_decile)}. The dotted line is their mean, "
            f"{number(errors.bias)}. A mean far from 0 says that predictions are too "
            f"low (above 0) or too high (below 0).",
        ),
    ]
