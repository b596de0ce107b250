"""The map of the rows, twice: by label, and by how sure the answer is."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize, to_hex, to_rgb
from numpy.typing import NDArray

from halfmoon.report.colors import (
    DOUBT,
    FAINT,
    INK,
    LEVELS,
    LINE,
    PALETTE,
    VALUE,
)
from halfmoon.report.drawing import SHAPES, Picture, draw
from halfmoon.report.findings import RowMap
from halfmoon.report.pictures import short, short_names
from halfmoon.report.wording import count, number, percent

__all__ = ["map_by_doubt", "map_by_label"]

HEIGHT = 4.4
DOT, GIVEN = 3.4, 6.4  # points
MANY = 600  # rows, from which on dots are smaller


def map_by_label(found: RowMap, target: str) -> Picture:
    """Colors are classes or numbers; given ones are larger, with a dark rim."""
    m, given = len(found.points), int(found.given.sum())
    alt = (
        f"Map of {count(m, 'row')}, colored by {short(target, 60)}; "
        f"{count(given, 'label was', 'labels were')} given."
    )
    if isinstance(found.labels, tuple):
        labels = np.array(found.labels, dtype=object)
        return draw(lambda figure: _classes(figure, found, labels), height=4.9, alt=alt)
    values = np.asarray(found.labels, dtype=np.float64)
    return draw(
        lambda figure: _colored(figure, found, values, short(target, 40), VALUE),
        height=HEIGHT,
        alt=alt,
    )


def map_by_doubt(found: RowMap) -> Picture:
    """Colors are confidence, or the width of the interval; given rows are rings."""
    of_classes = isinstance(found.labels, tuple)
    doubt = np.where(found.given, np.nan, found.doubt)
    known = doubt[np.isfinite(doubt)]
    middle = float(np.median(known)) if len(known) else np.nan
    if of_classes:
        name, colors = "confidence, %", DOUBT.reversed()
        said = f"half of the filled rows are below {percent(middle)} confidence"
        doubt = 100 * doubt
    else:
        name, colors = "width of the interval", DOUBT
        said = f"half of the intervals are narrower than {number(middle)}"
    return draw(
        lambda figure: _colored(figure, found, doubt, name, colors),
        height=4.9 if of_classes else HEIGHT,
        alt=f"The same map, colored by {name.removesuffix(', %')}: {said}.",
    )


def _classes(figure: Any, found: RowMap, labels: NDArray[Any]) -> None:
    ax = _bare_axes(figure)
    counts = Counter(labels.tolist())
    names = [name for name, _ in counts.most_common()]
    in_color = names if len(names) <= len(PALETTE) else names[: len(PALETTE) - 1]
    dot = _dot(found)
    rest = ~np.isin(labels, in_color)
    kinds = [(rest, FAINT, "o", f"{len(names) - len(in_color)} others")]
    for i, label in enumerate(short_names(in_color, 14)):
        kinds.append((labels == in_color[i], PALETTE[i], SHAPES[i], label))
    handles = []
    for some, color, shape, label in kinds:
        if not some.any():
            continue
        _dots(ax, found, some & ~found.given, shape, color, dot)
        style = {"color": color, "markersize": 7, "linestyle": "none"}
        handles.append(ax.plot([], [], shape, label=label, **style)[0])
    for some, color, shape, _ in kinds:  # on top of the others
        _dots(ax, found, some & found.given, shape, color, GIVEN, rim=INK)
    order = [*handles[1:], handles[0]] if rest.any() else handles
    longest = max(len(handle.get_label()) for handle in order)
    figure.legend(
        handles=order,
        loc="outside lower center",
        ncols=2 if longest > 11 else 3 if longest > 5 else 5,
        handletextpad=0.1,
        columnspacing=1.0,
    )


def _colored(figure: Any, found: RowMap, values: Any, name: str, colors: Any) -> None:
    ax = _bare_axes(figure)
    known = np.isfinite(values)
    low, high = np.quantile(values[known], [0.02, 0.98]) if known.any() else (0.0, 1.0)
    if not high > low:
        half = 0.5 * max(1.0, abs(low))
        low, high = low - half, high + half
    scale = ScalarMappable(Normalize(low, high), colors)
    # Marks of one color share their outline, which a color for each row would not.
    level = np.full(len(values), -1)
    level[known] = np.clip((values[known] - low) / (high - low) * LEVELS, 0, LEVELS - 1)
    steps = low + (high - low) * (np.arange(LEVELS) + 0.5) / LEVELS
    shades = [to_hex(color) for color in scale.to_rgba(steps)]
    darkest_last = np.argsort([-sum(to_rgb(shade)) for shade in shades], kind="stable")
    for given, size, rim in ((False, _dot(found), "none"), (True, GIVEN, INK)):
        for k in darkest_last:
            some = (level == k) & (found.given == given)
            _dots(ax, found, some, "o", shades[k], size, rim)
    _dots(ax, found, found.given & ~known, "o", "none", GIVEN - 1, rim=INK)
    bar = figure.colorbar(scale, ax=ax, orientation="horizontal", aspect=30, pad=0.03)
    bar.set_label(name)
    bar.outline.set_visible(False)
    bar.solids.set_edgecolor("face")
    bar.ax.tick_params(length=0)
    bar.ax.locator_params(nbins=6)


def _bare_axes(figure: Any) -> Any:
    """Only the neighborhood of rows means something, so no numbers at the axes."""
    ax = figure.subplots()
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(True)
    ax.spines[:].set_color(LINE)
    return ax


def _dots(
    ax: Any,
    found: RowMap,
    some: NDArray[np.bool_],
    shape: str,
    color: str,
    size: float,
    rim: str = "none",
) -> None:
    if not some.any():
        return
    ax.plot(
        *found.points[some].T,
        shape,
        markersize=size,
        markerfacecolor=color,
        markeredgecolor=rim,
        markeredgewidth=0.9 if rim != "none" else 0.0,
        alpha=1.0 if rim != "none" else 0.8,
        linestyle="none",
    )


def _dot(found: RowMap) -> float:
    return DOT + (1.2 if len(found.points) < MANY else 0.0)
