"""Bar charts: what was filled in, which columns mattered, and how their values vary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from halfmoon._number_format import count, fixed, number, percent
from halfmoon._report.findings import (
    FilledNumbers,
    Findings,
    Histogram,
    expected_accuracy,
)
from halfmoon._report.safe_text import safe_text
from halfmoon._report.svg_drawing import (
    GRAY,
    INK,
    PALETTE,
    PAPER,
    Picture,
    draw,
    legend_above,
    short,
    short_names,
)
from halfmoon._rows import Array

__all__ = ["of_columns", "of_distributions", "of_filled"]

MAX_BARS = 12
MAX_DISTRIBUTIONS = 9
MAX_VALUES = 6  # of a category
SMALL: dict[str, Any] = {"height": 2.1, "width": 3.0}  # inches
BAR = {"color": PALETTE[4], "edgecolor": PAPER, "linewidth": 0.8}


LEAST_ALIGNED, MOST_ALIGNED = 1e-4, 1e6  # longest bars with equal decimals


def of_filled(findings: Findings) -> list[Picture]:
    """Show what was filled in."""
    filled = findings.filled
    if isinstance(filled, FilledNumbers):
        return [_number_histogram(filled)]
    is_tested = expected_accuracy(findings).measured
    return [
        _class_counts(filled.given, filled.predicted),
        _confidence_histogram(filled.confidence, filled.mean_confidence, is_tested),
    ]


def _confidence_histogram(found: Histogram, mean: float, is_tested: bool) -> Picture:
    def paint(ax: Any) -> None:
        _bars(ax, found.counts, 100 * found.edges)
        if np.isfinite(mean):
            ax.axvline(100 * mean, color=PALETTE[1], linewidth=2)
        ax.set(xlabel="confidence, %", ylabel="filled rows")
        ax.locator_params(axis="y", nbins=5, integer=True)

    untested = "" if is_tested else ", but with these labels it cannot be tested"
    return draw(
        paint,
        height=2.9,
        alt=f"Histogram of the confidence of the filled rows, {percent(mean)} on "
        f"average.",
        caption=f"Confidence is the estimated probability that the prediction is right"
        f"{untested}. The line is the mean.",
    )


def _without_empty_ends(*several: Histogram) -> list[Histogram]:
    """Cut off the first and last bins that are empty in each of the histograms.

    Examples
    --------
    >>> one = Histogram.of([1.5, 2.5], np.arange(6.0))
    >>> other = Histogram.of([2.5, 3.5], np.arange(6.0))
    >>> [each.counts.tolist() for each in _without_empty_ends(one, other)]
    [[1, 1, 0], [0, 1, 1]]
    """
    full = np.flatnonzero(np.sum([each.counts for each in several], axis=0))
    if not len(full):
        return list(several)
    first, last = int(full[0]), int(full[-1]) + 1
    return [
        Histogram(each.edges[first : last + 1], each.counts[first:last])
        for each in several
    ]


def _number_histogram(filled: FilledNumbers) -> Picture:
    filled_bins, given_bins = _without_empty_ends(filled.predicted, filled.given)

    def paint(ax: Any) -> None:
        _bars_and_line(ax, filled_bins, given_bins)
        ax.set(xlabel="value")
        ax.locator_params(axis="x", nbins=5)
        ax.locator_params(axis="y", nbins=5)
        legend_above(ax)

    mean = number(filled.predicted.mean)
    return draw(
        paint,
        height=2.9,
        alt=f"Histogram of the filled numbers, about {mean} on average.",
        caption="Bars: the predictions. Line: your labels.",
    )


def _bars_and_line(ax: Any, bars: Histogram, line: Histogram) -> None:
    """Draw two histograms, both in percent: unlabeled rows and labels."""
    _bars(ax, bars.shares, bars.edges, label="filled")
    ax.stairs(line.shares, line.edges, color=INK, linewidth=1.6, label="given")
    ax.set_ylabel("rows, %")


def _bars(ax: Any, heights: Any, edges: Array, **options: Any) -> None:
    ax.bar(edges[:-1], heights, np.diff(edges), align="edge", **BAR, **options)
    ax.locator_params(axis="x", nbins=6)
    ax.grid(axis="y")


def _class_counts(given: Mapping[str, int], predicted: Mapping[str, int]) -> Picture:
    """Draw a bar for each class: labeled rows first, then filled ones."""
    totals = Counter(given)
    totals.update(predicted)
    names = [name for name, _ in totals.most_common()]
    top = names if len(names) <= MAX_BARS else names[: MAX_BARS - 1]
    known, filled = (
        np.array([counts.get(name, 0) for name in names], dtype=int)
        for counts in (given, predicted)
    )
    n, rest = len(top), len(names) - len(top)
    others = f"\n{rest} other classes: {known[n:].sum():,} given, "
    others += f"{filled[n:].sum():,} filled"

    def paint(ax: Any) -> None:
        y, width = np.arange(n), 0.7 if n > 4 else 0.5
        ax.barh(y, known[:n], width, color=PALETTE[0], label="given")
        ax.barh(y, filled[:n], width, left=known[:n], color=PALETTE[4], label="filled")
        total = (known + filled)[:n]
        reach = max(1, int(total.max(initial=0)))
        _name_bars(ax, top, total, [f"{each:,}" for each in total], reach)
        # A bar of all other classes together would dwarf the rest.
        ax.set(xlim=(0, 1.14 * reach), xlabel="rows" + others * (rest > 0))
        ax.locator_params(axis="x", nbins=5, integer=True)
        legend_above(ax)

    most = names[0] if names else ""
    alt = (
        f"Rows of each of {count(len(names), 'class', 'classes')}; the most common is "
        f"{safe_text(most)} with {totals[most]:,} rows."
    )
    caption = "Rows of each class: your labels, then the predictions."
    return draw(paint, height=max(2.9, 1.15 + 0.29 * n), alt=alt, caption=caption)


def of_columns(findings: Findings) -> list[Picture]:
    """Show which columns mattered, the most important first, as far as measured.

    The importance is an accuracy for classes; for numbers it has their unit.
    """
    as_percent, columns = findings.kind == "classes", findings.columns
    measured = [c for c in columns if c.importance is not None]
    if not measured:
        return []
    measured = sorted(measured, key=lambda c: -(c.importance or 0.0))[:MAX_BARS]
    names, clear = ([c.name for c in measured], [c.clearly_matters for c in measured])
    values = np.array([c.importance for c in measured], dtype=float)
    values = 100 * values if as_percent else values
    longest = float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
    if as_percent or LEAST_ALIGNED <= longest < MOST_ALIGNED:
        digits = 1 if as_percent else max(0, 2 - int(np.floor(np.log10(longest))))
        values = np.round(values, digits)
        texts = [fixed(value, digits) for value in values]
    else:
        texts = [number(value) for value in values]
    unit, cost, worse = "error added", "Error added", "the mean error grows"
    if as_percent:
        unit = "accuracy lost, percentage points"
        cost, worse = "Percentage points of accuracy lost", "the accuracy drops"

    def paint(ax: Any) -> None:
        colors = [PALETTE[0] if each else GRAY for each in clear]
        ax.barh(np.arange(len(names)), values, 0.7, color=colors)
        low, high = min(0.0, values.min()), max(0.0, values.max())
        reach = high - low or 1.0
        _name_bars(ax, names, np.maximum(values, 0.0), texts, reach)
        ax.axvline(0.0, color=GRAY, linewidth=1.0)
        ax.set_xlim(low - 0.03 * reach, high + 0.2 * reach)
        ax.set_xlabel(unit)
        ax.locator_params(axis="x", nbins=5)

    first = zip(names[:3], texts, strict=False)
    listed = ", ".join(f"{safe_text(name, 40)} {text}" for name, text in first)
    alt = f"{cost} by shuffling a column, for {count(len(names), 'column')}: {listed}."
    caption = (
        f"Each bar shows by how much {worse} for hidden labels when the values of one "
        f"column are shuffled. A gray bar could be chance: predictions may not need "
        f"the column, perhaps because other columns hold the same information. A bar "
        f"to the left is chance too: it does not show that predictions are better "
        f"without the column."
    )
    height = 1.0 + 0.29 * max(3, len(names))
    return [draw(paint, height=height, alt=alt, caption=caption)]


def _name_bars(
    ax: Any, names: Sequence[str], ends: Array, texts: Sequence[str], reach: float
) -> None:
    """Name the bars at the axis, the first on top, and write a text at their ends."""
    for i, (end, text) in enumerate(zip(ends, texts, strict=True)):
        ax.text(end + 0.015 * reach, i, text, va="center", fontsize=10)
    ax.set_yticks(np.arange(len(names)), short_names(names))
    ax.invert_yaxis()
    ax.spines["left"].set_visible(False)


def of_distributions(findings: Findings) -> list[Picture]:
    """Compare labeled with unlabeled rows, column by column, in percent.

    Unlabeled rows are bars, labeled rows a line or diamonds.
    """
    return [
        _number_distribution(found.name, found.labeled, found.unlabeled)
        if isinstance(found.labeled, Histogram)
        else _value_distribution(found.name, found.labeled, found.unlabeled)
        for found in findings.distributions[:MAX_DISTRIBUTIONS]
    ]


def _number_distribution(name: str, labeled: Histogram, unlabeled: Any) -> Picture:
    def paint(ax: Any) -> None:
        _set_title(ax, name)
        _bars_and_line(ax, unlabeled, labeled)
        ax.locator_params(nbins=4)

    alt = (
        f"{safe_text(name, 60)}: about {number(labeled.mean)} on average in labeled "
        f"rows, {number(unlabeled.mean)} in unlabeled ones."
    )
    return draw(paint, **SMALL, alt=alt)


def _value_distribution(
    name: str, labeled: Mapping[str, float], unlabeled: Any
) -> Picture:
    largest = {
        value: max(labeled.get(value, 0.0), unlabeled.get(value, 0.0))
        for value in (*unlabeled, *labeled)
    }
    top = sorted(largest, key=lambda value: -largest[value])[:MAX_VALUES]

    def paint(ax: Any) -> None:
        _set_title(ax, name)
        y = np.arange(len(top))
        bars, dots = ([100 * m.get(v, 0.0) for v in top] for m in (unlabeled, labeled))
        ax.barh(y, bars, 0.66, color=PALETTE[4])
        ax.plot(dots, y, "D", color=INK, markersize=5)
        ax.set(xlim=(0, None), xlabel="rows, %")
        ax.set_yticks(y, short_names(top, 12))
        ax.invert_yaxis()
        ax.locator_params(axis="x", nbins=4)
        ax.spines["left"].set_visible(False)

    first = top[0] if top else ""
    alt = (
        f"{safe_text(name, 60)}: {safe_text(first, 40)} in "
        f"{percent(labeled.get(first, 0.0))} of labeled rows and "
        f"{percent(unlabeled.get(first, 0.0))} of unlabeled ones."
    )
    return draw(paint, **SMALL, alt=alt)


def _set_title(ax: Any, name: str) -> None:
    ax.set_title(short(name, 30), fontsize=11, loc="left")
    ax.tick_params(labelsize=9)
