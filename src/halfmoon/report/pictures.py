"""Pictures that reports of classes and of numbers share."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from textwrap import fill
from typing import Any

import numpy as np

from halfmoon.report.drawing import GRAY, INK, PALETTE, Picture, draw
from halfmoon.report.findings import Candidate, Helped
from halfmoon.report.histogram import Histogram
from halfmoon.report.shown_text import shown
from halfmoon.report.wording import PERCENT, alike, percent

__all__ = ["bars", "comparison", "short", "short_names"]

LABEL = 18  # characters of a name at an axis
BLUE, ORANGE = PALETTE[0], PALETTE[1]
LINE_HEIGHT = 0.6  # inches
NAME_WIDTH = 50  # characters of a line of a candidate's name


def short(name: str, most: int = LABEL) -> str:
    """A name that fits beside an axis."""
    text = shown(name, 10 * most)
    return text if len(text) <= most else text[: most - 1] + "…"


def short_names(names: Sequence[str], most: int = LABEL) -> list[str]:
    """Names that fit beside an axis and differ, as far as the names themselves do.

    Examples
    --------
    >>> short_names(["district 1", "district 2"], 8)
    ['…1', '…2']
    """
    texts = [short(name, most) for name in names]
    if len(set(texts)) < len(set(names)):
        columns = zip(*(shown(name, 10 * most) for name in names), strict=False)
        start = sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns))
        texts = [
            "…" + short(shown(name, 10 * most)[start:], most - 1) for name in names
        ]
    return texts


def comparison(helped: Helped) -> Picture:
    """A line for the average and for each candidate; 0 is the supervised twin."""
    average = Candidate(
        "all candidates together",
        True,
        *(helped.difference, helped.low, helped.high),
        weight=np.nan,
    )
    lines = [average, *helped.candidates]

    def paint(figure: Any) -> None:
        ax = figure.subplots()
        ax.axvline(0.0, color=INK, linewidth=1.2)
        for i, each in enumerate(lines):
            color = BLUE if each.unlabeled else ORANGE
            color, marker = (INK, "s") if i == 0 else (color, "oD"[not each.unlabeled])
            ax.plot([each.low, each.high], [i, i], color=color, linewidth=2.2)
            ax.plot(each.difference, i, marker, color=color, markersize=8)
            share = f" ({percent(each.weight)})" if i else ""
            ax.annotate(
                fill(short(each.name, 100) + share, NAME_WIDTH),
                *((0.0, i), (0, 8)),
                xycoords=("axes fraction", "data"),
                textcoords="offset points",
                fontsize=9,
                linespacing=1.1,
                weight="bold" if i == 0 else "normal",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
            )
        ax.set_ylim(len(lines) - 0.6, -0.7)
        # Wide intervals of candidates may leave the picture; the average's may not.
        core = [0.0, helped.low, helped.high, *(each.difference for each in lines)]
        low, high = min(core), max(core)
        span = high - low or 1.0
        wide = [x for each in lines for x in (each.low, each.high)]
        wide = [*core, *np.clip(wide, low - span, high + span)]
        room = 0.05 * (max(wide) - min(wide)) or 1.0
        ax.set_xlim(min(wide) - room, max(wide) + room)
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)
        ax.set_xlabel(f"{helped.measure} less that of labels alone\n← better · worse →")
        ax.locator_params(axis="x", nbins=6)
        ax.grid(axis="x")
        ax.tick_params(length=0)

    middle, low, high = alike(helped.difference, helped.low, helped.high)
    alt = (
        f"Difference in {helped.measure} from learning with labels alone: "
        f"{middle}, 95{PERCENT} interval {low} to {high}; below 0 is better."
    )
    return draw(paint, height=1.0 + LINE_HEIGHT * len(lines), alt=alt)


def bars(
    histogram: Histogram,
    *,
    xlabel: str,
    ylabel: str,
    alt: str,
    behind: Histogram | None = None,
    names: tuple[str, str] = ("", ""),
    mark: float | None = None,
    as_percent: bool = False,
) -> Picture:
    """A histogram, with another one as an outline if given, both as shares.

    Parameters
    ----------
    histogram : Histogram
    xlabel, ylabel, alt : str
    behind : Histogram or None
        With the same edges.
    names : pair of str
        Of the two, for the legend.
    mark : float or None
        Where to draw a line.
    as_percent : bool
        The values are shares.
    """
    edges = histogram.edges * (100 if as_percent else 1)

    def paint(figure: Any) -> None:
        ax = figure.subplots()
        total = max(1, histogram.counts.sum()) if behind is not None else 1
        scale = 100 / total if behind is not None else 1
        ax.bar(
            edges[:-1],
            histogram.counts * scale,
            np.diff(edges),
            align="edge",
            color=PALETTE[4],
            edgecolor="white",
            linewidth=0.8,
            label=names[0],
        )
        if behind is not None:
            shares = 100 * behind.counts / max(1, behind.counts.sum())
            ax.stairs(shares, edges, color=INK, linewidth=1.6, label=names[1])
            ax.legend(
                loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.0
            )
        if mark is not None and np.isfinite(mark):
            ax.axvline(mark * (100 if as_percent else 1), color=ORANGE, linewidth=2)
        ax.set(xlabel=xlabel, ylabel=ylabel)
        ax.locator_params(axis="x", nbins=6)
        ax.locator_params(axis="y", nbins=5, integer=behind is None)
        ax.grid(axis="y")
        ax.tick_params(length=0)
        ax.spines["left"].set_color(GRAY)

    return draw(paint, height=2.9, alt=alt)
