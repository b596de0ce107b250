"""Pictures of columns: which mattered, and how labeled and unlabeled rows differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from halfmoon.report.colors import GRAY, INK, PALETTE, PAPER
from halfmoon.report.drawing import Picture, draw
from halfmoon.report.findings import ColumnDistribution, ColumnUse
from halfmoon.report.histogram import Histogram
from halfmoon.report.pictures import short, short_names
from halfmoon.report.shown_text import shown
from halfmoon.report.wording import count, number, percent

__all__ = ["column_importance", "distribution"]

MOST_BARS = 12
MOST_VALUES = 6  # of a category
SMALL = 3.0  # inches


def column_importance(columns: Sequence[ColumnUse], *, as_percent: bool) -> Picture:
    """A bar for each column whose importance was measured, the longest first.

    Parameters
    ----------
    columns : sequence of ColumnUse
        At least one has an importance.
    as_percent : bool
        It is an accuracy; otherwise it has the unit of the target.
    """
    measured = [each for each in columns if each.importance is not None]
    measured.sort(key=lambda each: -_importance(each))
    top = measured[:MOST_BARS]
    sizes = np.array([_importance(each) for each in top])
    values = sizes * (100 if as_percent else 1)

    def text(value: float) -> str:
        return f"{value:.1f}".replace("-", "−") if as_percent else number(value)

    def paint(figure: Any) -> None:
        ax = figure.subplots()
        y = np.arange(len(top))
        colors = [PALETTE[0] if value >= 0 else PALETTE[1] for value in values]
        ax.barh(y, values, 0.7, color=colors)
        low, high = min(0.0, values.min()), max(0.0, values.max())
        reach = high - low or 1.0
        for i, value in enumerate(values):
            ax.text(
                max(0.0, value) + 0.015 * reach,
                i,
                text(value),
                va="center",
                fontsize=10,
            )
        ax.axvline(0.0, color=GRAY, linewidth=1.0)
        ax.set(yticks=y, xlim=(low - 0.03 * reach, high + 0.2 * reach))
        ax.set_yticklabels(short_names([each.name for each in top]))
        ax.set_xlabel(
            "accuracy lost, percentage points" if as_percent else "error added"
        )
        ax.invert_yaxis()
        ax.locator_params(axis="x", nbins=5)
        ax.tick_params(length=0)
        ax.spines["left"].set_visible(False)

    unit = " percentage points of accuracy" if as_percent else " error added"
    said = ", ".join(
        f"{shown(each.name, 40)} {text(value)}"
        for each, value in zip(top[:3], values, strict=False)
    )
    alt = (
        f"What shuffling a column costs, for {count(len(top), 'column')}, in{unit}: "
        f"{said}."
    )
    return draw(paint, height=1.0 + 0.29 * max(3, len(top)), alt=alt)


def _importance(each: ColumnUse) -> float:
    return 0.0 if each.importance is None else float(each.importance)


def distribution(found: ColumnDistribution) -> Picture:
    """Bars for unlabeled rows, and a line or dots for labeled ones, as shares."""
    if isinstance(found.labeled, Histogram) and isinstance(found.unlabeled, Histogram):
        return _numbers(found.name, found.labeled, found.unlabeled)
    if isinstance(found.labeled, Histogram) or isinstance(found.unlabeled, Histogram):
        raise TypeError(f"{found.name!r} is numbers in some rows and values in others.")
    return _values(found.name, found.labeled, found.unlabeled)


def _numbers(name: str, labeled: Histogram, unlabeled: Histogram) -> Picture:
    edges = unlabeled.edges
    shares = [100 * h.counts / max(1, h.counts.sum()) for h in (labeled, unlabeled)]

    def paint(figure: Any) -> None:
        ax = figure.subplots()
        ax.bar(
            edges[:-1],
            shares[1],
            np.diff(edges),
            align="edge",
            color=PALETTE[4],
            edgecolor=PAPER,
            linewidth=0.6,
        )
        ax.stairs(shares[0], edges, color=INK, linewidth=1.6)
        _finish(ax, name)
        ax.locator_params(axis="x", nbins=4)
        ax.set_ylabel("rows, %")
        ax.locator_params(axis="y", nbins=4)

    middle = (edges[1:] + edges[:-1]) / 2
    means = [number(float(middle @ share) / 100) for share in shares]
    alt = (
        f"{shown(name, 60)}: about {means[0]} on average in labeled rows, {means[1]} "
        f"in unlabeled ones."
    )
    return draw(paint, height=2.1, width=SMALL, alt=alt)


def _values(
    name: str, labeled: Mapping[str, float], unlabeled: Mapping[str, float]
) -> Picture:
    both = {
        value: max(labeled.get(value, 0.0), unlabeled.get(value, 0.0))
        for value in (*unlabeled, *labeled)
    }
    top = sorted(both, key=lambda value: -both[value])[:MOST_VALUES]

    def paint(figure: Any) -> None:
        ax = figure.subplots()
        y = np.arange(len(top))
        ax.barh(y, [100 * unlabeled.get(v, 0.0) for v in top], 0.66, color=PALETTE[4])
        ax.plot(
            [100 * labeled.get(v, 0.0) for v in top], y, "D", color=INK, markersize=5
        )
        _finish(ax, name)
        ax.set(yticks=y, xlim=(0, None), xlabel="rows, %")
        ax.set_yticklabels(short_names(top, 12))
        ax.invert_yaxis()
        ax.locator_params(axis="x", nbins=4)
        ax.spines["left"].set_visible(False)

    first = top[0] if top else ""
    alt = (
        f"{shown(name, 60)}: {shown(first, 40)} in "
        f"{percent(labeled.get(first, 0.0))} of labeled rows and "
        f"{percent(unlabeled.get(first, 0.0))} of unlabeled ones."
    )
    return draw(paint, height=2.1, width=SMALL, alt=alt)


def _finish(ax: Any, name: str) -> None:
    ax.set_title(short(name, 30), fontsize=11, loc="left")
    ax.tick_params(length=0, labelsize=9)
