"""Pictures of numbers: predicted beside given, and what is left between them."""

from __future__ import annotations

from typing import Any

import numpy as np

from halfmoon.report.colors import GRAY, INK, PALETTE, PAPER
from halfmoon.report.drawing import Picture, draw
from halfmoon.report.findings import LeftOutNumbers
from halfmoon.report.residuals import Residuals
from halfmoon.report.scores import coverage, r_squared
from halfmoon.report.wording import number, percent

__all__ = ["predicted_beside_given", "residual_histogram"]

MOST_POINTS = 400  # more hide each other
OUTSIDE = PALETTE[1]


def predicted_beside_given(left_out: LeftOutNumbers) -> Picture:
    """Each left-out row with its interval; those that miss stand out."""
    known = np.isfinite(left_out.given) & np.isfinite(left_out.predicted)
    rows = np.flatnonzero(known)
    if len(rows) > MOST_POINTS:  # spread evenly over the given numbers
        order = rows[np.argsort(left_out.given[rows], kind="stable")]
        rows = order[np.linspace(0, len(order) - 1, MOST_POINTS).astype(int)]
    x, y = left_out.given[rows], left_out.predicted[rows]
    low, high = left_out.low[rows], left_out.high[rows]
    inside = (low <= x) & (x <= high)

    def paint(figure: Any) -> None:
        ax = figure.subplots()
        ends = np.array([x, y]) if len(rows) else np.array([[0.0, 1.0]])
        reach = [float(ends.min()), float(ends.max())]
        room = 0.04 * (reach[1] - reach[0]) or 0.5
        reach = [reach[0] - room, reach[1] + room]
        ax.plot(reach, reach, color=GRAY, linestyle="--", linewidth=1.3)
        kinds = [(inside, PALETTE[0], "o", "interval holds it")]
        kinds += [(~inside, OUTSIDE, "D", "interval misses it")]
        for some, color, marker, label in kinds:
            ax.vlines(x[some], low[some], high[some], color=color, alpha=0.22)
            ax.plot(x[some], y[some], marker, color=color, markersize=4.5, label=label)
        ax.set(xlabel="given", ylabel="predicted while hidden", xlim=reach)
        bounds = np.concatenate([low[np.isfinite(low)], high[np.isfinite(high)], reach])
        ax.set_ylim(*np.quantile(bounds, [0.0, 1.0]))
        ax.locator_params(nbins=6)
        ax.grid(visible=True)
        ax.tick_params(length=0)
        ax.legend(
            loc="lower left",
            bbox_to_anchor=(0.0, 1.0),
            ncols=2,
            borderaxespad=0.0,
            handletextpad=0.2,
        )

    r2 = r_squared(left_out.given, left_out.predicted)
    held = coverage(left_out.given, left_out.low, left_out.high, left_out.level)
    alt = (
        f"Predicted against given numbers: R² {number(r2.value)}, and "
        f"{percent(held.value)} of the given numbers lie within their intervals."
    )
    return draw(paint, height=4.0, alt=alt)


def residual_histogram(found: Residuals) -> Picture:
    """Given minus predicted; 0 is no error."""

    def paint(figure: Any) -> None:
        ax = figure.subplots()
        m = len(found.values)
        if m:
            low, high = np.quantile(found.values, [0.005, 0.995])
            reach = max(abs(low), abs(high)) or 1.0
            bins = int(np.clip(2 * np.ceil(m ** (1 / 3)), 6, 30))
            ax.hist(
                np.clip(found.values, -reach, reach),
                np.linspace(-reach, reach, bins + 1),
                color=PALETTE[4],
                edgecolor=PAPER,
                linewidth=0.8,
            )
        ax.axvline(0.0, color=INK, linewidth=1.4)
        if np.isfinite(found.bias):
            ax.axvline(found.bias, color=OUTSIDE, linewidth=1.8, linestyle=":")
        ax.set(xlabel="given minus predicted", ylabel="labels")
        ax.locator_params(axis="x", nbins=6)
        ax.locator_params(axis="y", nbins=5, integer=True)
        ax.grid(axis="y")
        ax.tick_params(length=0)

    alt = (
        f"Histogram of errors: mean {number(found.bias)}, half of them no larger than "
        f"{number(found.median_size)} in size."
    )
    return draw(paint, height=2.9, alt=alt)
