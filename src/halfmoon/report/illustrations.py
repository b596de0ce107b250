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
from halfmoon.report.pictures import bars, comparison
from halfmoon.report.pictures_classes import (
    class_counts,
    confusion_matrix,
    reliability_diagram,
)
from halfmoon.report.pictures_map import map_by_doubt, map_by_label
from halfmoon.report.pictures_numbers import predicted_beside_given, residual_histogram
from halfmoon.report.reliability import reliability
from halfmoon.report.residuals import residuals
from halfmoon.report.wording import PERCENT, number, percent

__all__ = [
    "Illustration",
    "of_filled",
    "of_help",
    "of_map",
    "of_quality",
]


class Illustration(NamedTuple):
    """A picture with its caption."""

    picture: Picture
    caption: str


def of_filled(findings: Findings) -> list[Illustration]:
    """What was filled in."""
    filled = findings.filled
    if isinstance(filled, FilledNumbers):
        caption = "Numbers that were filled in, and (as a line) those that were given."
        return [Illustration(_numbers(filled), caption)]
    return [
        Illustration(
            class_counts(filled.given, filled.predicted),
            "Rows of each class: dark what was given, light what was filled in.",
        ),
        Illustration(
            _confidence(filled),
            "How sure the filled rows are. Confidence is the probability of the class "
            "that was filled in; the line is the mean, and about that share of the "
            "filled cells should be right.",
        ),
    ]


def of_quality(findings: Findings) -> list[Illustration]:
    """How well left-out labels were predicted."""
    left_out = findings.left_out
    if isinstance(left_out, LeftOutNumbers):
        return _numbers_left_out(left_out)
    return _classes_left_out(left_out) if left_out.given else []


def of_help(findings: Findings) -> list[Illustration]:
    """What the unlabeled rows did."""
    helped = findings.helped
    if not np.isfinite([helped.difference, helped.low, helped.high]).all():
        return []
    caption = f"Left of 0 is better than labels alone. Lines are 95{PERCENT} intervals."
    if helped.candidates:
        caption += (
            " Below the black square are the ways to learn that have most weight in "
            "the answer, in percent: circles use unlabeled rows, diamonds do not."
        )
    return [Illustration(comparison(helped), caption)]


def of_map(findings: Findings) -> list[Illustration]:
    """Where the rows lie."""
    found = findings.map
    if found is None or len(found.points) == 0:
        return []
    if findings.kind == "classes":
        doubt = "By confidence: the darker, the more doubtful. Rings were given."
    else:
        doubt = "By the width of the interval: the darker, the wider. Rings were given."
    return [
        Illustration(
            map_by_label(found, findings.target),
            "By label. Large marks with a dark rim were given, small ones filled in.",
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
        "What was given, and what the others said. Numbers on the diagonal are right; "
        "a dark field off it is a pair that is mixed up."
    )
    if found.lumped:
        mixed += f" The {found.lumped:,} rarest classes share the last row and column."
    pairs = zip(left_out.given, left_out.predicted, strict=True)
    right = np.array([one == other for one, other in pairs])
    bins = reliability(left_out.confidence, right)
    earned = (
        f"Is confidence earned? On the dashed line, rows predicted with 80{PERCENT} "
        f"confidence are right 80{PERCENT} of the time. Bars are 95{PERCENT} "
        f"intervals, and the numbers below count the labels. The mean distance from "
        f"the line is {percent(bins.error)}."
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
            "On the dashed line the prediction is exact. A vertical line is the "
            f"interval meant to hold {percent(left_out.level)} of the given numbers.",
        ),
        Illustration(
            residual_histogram(errors),
            "Errors, given less predicted. Half of them are no larger than "
            f"{number(errors.median_size)}, nine of ten no larger than "
            f"{number(errors.ninth_decile)}. The dotted line is their mean, "
            f"{number(errors.bias)}; far from 0 it would tell of a bias.",
        ),
    ]
