"""Pictures that reports of classes and of numbers share."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any

import numpy as np

from halfmoon.report.colors import GRAY, INK, PALETTE, PAPER
from halfmoon.report.drawing import Picture, draw
from halfmoon.report.histogram import Histogram
from halfmoon.report.shown_text import shown

__all__ = ["bars", "short", "short_names"]

LABEL = 18  # characters of a name at an axis


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
            edgecolor=PAPER,
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
            ax.axvline(mark * (100 if as_percent else 1), color=PALETTE[1], linewidth=2)
        ax.set(xlabel=xlabel, ylabel=ylabel)
        ax.locator_params(axis="x", nbins=6)
        ax.locator_params(axis="y", nbins=5, integer=behind is None)
        ax.grid(axis="y")
        ax.tick_params(length=0)
        ax.spines["left"].set_color(GRAY)

    return draw(paint, height=2.9, alt=alt)
