"""What more labels would bring: the sentence and the picture of the report."""

from __future__ import annotations

from typing import Any

import numpy as np

from halfmoon.queries import Forecast
from halfmoon.report.colors import GRAY, INK, PALETTE
from halfmoon.report.drawing import Picture, draw
from halfmoon.report.findings import Findings
from halfmoon.report.illustrations import Illustration
from halfmoon.report.wording import alike, count, percent

__all__ = ["more_labels", "of_more_labels"]

UNKNOWN = (
    "This cannot be told yet: ten labels or more are needed, of classes that have at "
    "least two."
)
UNKNOWN_NUMBERS = "This cannot be told yet: ten different labels or more are needed."
SOME = 2  # numbers of labels that the sentence tells of: the least and the largest


def more_labels(findings: Findings) -> str:
    """As in "50 more labels: accuracy about 2 points higher (0 to 4)."; or nothing.

    Nothing is said where hardly a blank is left to label.
    """
    found = findings.forecast
    if found is None:
        if findings.predicted < 50 or findings.labeled >= 10:
            return ""
        return UNKNOWN if findings.kind == "classes" else UNKNOWN_NUMBERS
    of_classes = findings.kind == "classes"
    scale = 100.0 if of_classes else 1.0
    first, *rest = sorted({0, len(found.n_labels) - 1})[:SOME]
    parts = [_gain(found, i, scale) for i in (first, *rest)]
    unit = " points" if of_classes else ""
    what = "accuracy" if of_classes else "mean error"
    way = "higher" if of_classes else "lower"
    about, low, high = parts[0]
    start = count(int(found.n_labels[first]), "more label")
    text = f"{start}: {what} about {about}{unit} {way} ({low} to {high})."
    for i, (about, low, high) in zip(rest, parts[1:], strict=True):
        text += f" {int(found.n_labels[i]):,} more: about {about} ({low} to {high})."
    return text


def _gain(found: Forecast, i: int, scale: float) -> list[str]:
    """About, low and high, with as many digits as are worth telling."""
    values = [
        scale * float(each[i]) for each in (found.gain, found.gain_low, found.gain_high)
    ]
    if scale == 1.0:
        return alike(*values)
    digits = 0 if values[2] - values[1] >= 2.0 else 1
    rounded = [round(value, digits) + 0.0 for value in values]  # never -0
    return [f"{value:.{digits}f}".replace("-", "−") for value in rounded]


def of_more_labels(findings: Findings) -> list[Illustration]:
    """The learning curve, measured and forecast; nothing where it is not known."""
    found = findings.forecast
    if found is None:
        return []
    caption = (
        f"Points: errors measured with fewer of your labels, on labels that were "
        f"hidden. Beyond the dotted line the curve is a forecast, and the band holds "
        f"it in about {percent(found.level)} of such cases. It is for rows picked at "
        f"random; rows from the list above may bring more."
    )
    return [Illustration(_picture(found), caption)]


def _picture(found: Forecast) -> Picture:
    of_classes = found.metric == "error rate"
    scale = 100.0 if of_classes else 1.0

    def paint(figure: Any) -> None:
        ax = figure.subplots()
        ax.fill_between(
            *(found.path_counts, scale * found.path_low, scale * found.path_high),
            color=PALETTE[0],
            alpha=0.18,
            linewidth=0.0,
        )
        ax.plot(found.path_counts, scale * found.path, color=PALETTE[0], linewidth=2)
        ax.plot(found.counts, scale * found.measured, "o", color=INK, markersize=5)
        ax.plot(
            found.n_labeled + found.n_labels,
            scale * found.expected,
            "o",
            color=PALETTE[0],
            markersize=5,
        )
        ax.axvline(found.n_labeled, color=GRAY, linestyle=":", linewidth=1.5)
        what = "wrong, %" if of_classes else "mean absolute error"
        ax.set(xlabel="labels", ylabel=what)
        ax.set_ylim(0.0, float(np.max(scale * found.path_high)) * 1.02)
        ax.locator_params(nbins=6)
        ax.grid(axis="y")
        ax.tick_params(length=0)

    now, then = scale * found.error, scale * float(found.expected[-1])
    unit = " %" if of_classes else ""
    shown = alike(now, then)
    alt = (
        f"Error against the number of labels: {shown[0]}{unit} now, and "
        f"{shown[1]}{unit} expected with {int(found.n_labels[-1]):,} more."
    )
    return draw(paint, height=2.9, alt=alt)
