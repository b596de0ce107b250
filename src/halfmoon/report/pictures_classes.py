"""Pictures of classes: how many, which are mixed up, how far confidence is earned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from halfmoon.report.colors import (
    GRAY,
    INK,
    ON_SHARE,
    PALETTE,
    PAPER,
    SHARE,
    SOFT,
)
from halfmoon.report.confusion import Confusion
from halfmoon.report.drawing import Picture, draw
from halfmoon.report.pictures import short_names
from halfmoon.report.reliability import Reliability
from halfmoon.report.shown_text import shown
from halfmoon.report.wording import count, percent

__all__ = ["class_counts", "confusion_matrix", "reliability_diagram"]

MOST_BARS = 12


def class_counts(given: Mapping[str, int], predicted: Mapping[str, int]) -> Picture:
    """A bar for each class, given and predicted rows one after the other."""
    totals = dict(given)
    for name, n in predicted.items():
        totals[name] = totals.get(name, 0) + n
    names = sorted(totals, key=lambda name: -totals[name])
    top = names if len(names) <= MOST_BARS else names[: MOST_BARS - 1]
    lines = [
        (label, given.get(name, 0), predicted.get(name, 0))
        for name, label in zip(top, short_names(top), strict=True)
    ]
    rest, others = names[len(top) :], ""
    if rest:
        known, filled = (
            sum(m.get(name, 0) for name in rest) for m in (given, predicted)
        )
        others = f"{len(rest)} other classes: {known:,} given, {filled:,} filled"

    def paint(figure: Any) -> None:
        ax = figure.subplots()
        y = np.arange(len(lines))
        known = np.array([line[1] for line in lines])
        filled = np.array([line[2] for line in lines])
        wide = 0.7 if len(lines) > 4 else 0.5
        ax.barh(y, known, wide, color=PALETTE[0], label="given")
        ax.barh(y, filled, wide, left=known, color=PALETTE[4], label="filled")
        reach = max(1, int((known + filled).max(initial=0)))
        for i, total in enumerate(known + filled):
            ax.text(total + 0.015 * reach, i, f"{total:,}", va="center", fontsize=10)
        # A bar of all others together would dwarf the rest.
        ax.set(yticks=y, xlim=(0, 1.14 * reach), xlabel=f"rows\n{others}".strip())
        ax.set_yticklabels([line[0] for line in lines])
        ax.invert_yaxis()
        ax.locator_params(axis="x", nbins=5, integer=True)
        ax.tick_params(length=0)
        ax.spines["left"].set_visible(False)
        ax.legend(
            loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.0
        )

    most = names[0] if names else ""
    alt = (
        f"Rows of each of {count(len(names), 'class', 'classes')}; the most common is "
        f"{shown(most)} with {totals.get(most, 0):,} rows."
    )
    return draw(paint, height=max(2.9, 1.15 + 0.29 * len(lines)), alt=alt)


def confusion_matrix(found: Confusion) -> Picture:
    """Counts, shaded by their share of the class that was given."""
    c = len(found.classes)
    counts = found.counts
    totals = np.maximum(counts.sum(axis=1, keepdims=True), 1)
    shares = counts / totals
    own = len(found.classes) - (found.lumped > 0)
    names = [*short_names(found.classes[:own], 14), *found.classes[own:]]
    longest = max(len(name) for name in names)
    size = 10.5 if c <= 7 else 9.0 if c <= 10 else 8.0

    def paint(figure: Any) -> None:
        ax = figure.subplots()
        ax.pcolormesh(
            shares,
            cmap=SHARE,
            vmin=0,
            vmax=1,
            edgecolors=PAPER,
            linewidth=1.5,
            antialiased=True,
        )
        ax.invert_yaxis()
        for i, j in np.argwhere(counts > 0):
            ax.text(
                *(j + 0.5, i + 0.5, f"{counts[i, j]:,}"),
                ha="center",
                va="center",
                fontsize=size,
                color=ON_SHARE if shares[i, j] > 0.6 else INK,
                weight="bold" if i == j else "normal",
            )
        tilted = longest * c > 36
        ax.set_xticks(np.arange(c) + 0.5)
        ax.set_xticklabels(
            names,
            rotation=45 if tilted else 0,
            ha="right" if tilted else "center",
            rotation_mode="anchor" if tilted else "default",
        )
        ax.set_yticks(np.arange(c) + 0.5)
        ax.set_yticklabels(names)
        ax.set(xlabel="predicted", ylabel="given")
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)

    alt = f"Confusion matrix of {count(found.total, 'label')}: {found.wrong:,} wrong."
    return draw(paint, height=max(4.2, 1.5 + 0.31 * c), alt=alt)


def reliability_diagram(found: Reliability) -> Picture:
    """Accuracy over confidence, with intervals, above the rows in each bin."""

    def paint(figure: Any) -> None:
        ax, below = figure.subplots(
            2, 1, sharex=True, gridspec_kw={"height_ratios": [3.6, 1]}
        )
        ax.plot([0, 100], [0, 100], color=GRAY, linestyle="--", linewidth=1.3)
        x, y = 100 * found.confidence, 100 * found.accuracy
        around = np.abs(100 * np.array([found.low, found.high]) - y)
        ax.errorbar(
            x,
            y,
            yerr=around,
            fmt="o",
            color=PALETTE[0],
            ecolor=PALETTE[4],
            elinewidth=2.5,
            markersize=7,
        )
        hint = {"fontsize": 9, "color": SOFT}
        ax.text(97, 5, "below the line:\ntoo sure of itself", ha="right", **hint)
        ax.text(3, 99, "above the line:\ntoo modest", va="top", **hint)
        ax.set(xlim=(0, 102), ylim=(0, 104), ylabel="right, %")
        ax.grid(visible=True)
        below.bar(x, found.counts, 4.0, color=PALETTE[4])
        for place, n in zip(x, found.counts, strict=True):
            below.text(place, n, f"{n:,}", ha="center", va="bottom", fontsize=9)
        below.set(xlabel="confidence, %", ylabel="labels")
        below.set_ylim(0, 1.5 * max(1, found.counts.max(initial=1)))
        below.set_yticks([])
        for each in (ax, below):
            each.tick_params(length=0)

    alt = (
        f"Hidden labels were predicted with {percent(found.mean_confidence)} "
        f"confidence on average, and {percent(found.mean_accuracy)} of the predictions "
        f"were right; the mean distance of the two is {percent(found.error)}."
    )
    return draw(paint, height=4.2, alt=alt)
