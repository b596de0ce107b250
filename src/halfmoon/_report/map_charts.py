"""The map of the rows, colored by label and by how sure the predictions are."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize, to_hex, to_rgb
from numpy.typing import NDArray

from halfmoon._report.findings import Findings, RowMap
from halfmoon._report.number_format import count, number, percent
from halfmoon._report.svg_drawing import (
    DOUBT,
    FAINT,
    INK,
    LEVELS,
    LINE,
    PALETTE,
    VALUE,
    Picture,
    draw,
    short,
    short_names,
)
from halfmoon._rows import Array

__all__ = ["of_map"]

HEIGHT_CLASSES, HEIGHT_NUMBERS = 4.9, 4.4  # inches
SHAPES = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "h")
LABELED_SIZE, SIZE, SIZE_OF_FEW = 6.4, 3.4, 4.6  # of marks, in points
FEW_ROWS = 600


def of_map(findings: Findings) -> list[Picture]:
    """Show the rows on a plane."""
    found = findings.map
    if found is None or len(found.points) == 0:
        return []
    return [_map_by_label(found, findings.target), _map_by_doubt(found)]


def _map_by_label(found: RowMap, target: str) -> Picture:
    """Color rows by class or number; labeled rows are larger, with a dark rim."""
    labels = count(int(found.given.sum()), "label was", "labels were")
    alt = (
        f"Map of {count(len(found.points), 'row')}, colored by {short(target, 60)}; "
        f"{labels} given."
    )

    def paint(ax: Any) -> None:
        if isinstance(found.labels, tuple):
            _classes(ax, found, np.array(found.labels, dtype=object))
        else:
            values = np.asarray(found.labels, dtype=np.float64)
            _colored(ax, found, values, short(target, 40), VALUE)

    height = HEIGHT_CLASSES if isinstance(found.labels, tuple) else HEIGHT_NUMBERS
    caption = "By label. Large marks with a rim are labels, small ones are predictions."
    return draw(paint, height=height, alt=alt, caption=caption)


def _map_by_doubt(found: RowMap) -> Picture:
    """Color rows by confidence, or by width of the interval; labeled rows are rings."""
    doubt = np.where(found.given, np.nan, found.doubt)
    known = doubt[np.isfinite(doubt)]
    median = float(np.median(known)) if len(known) else np.nan
    name, colors, height = "width of the interval", DOUBT, HEIGHT_NUMBERS
    median_text = f"half of the intervals are narrower than {number(median)}"
    caption = "By width of the interval: the stronger the color, the wider."
    if isinstance(found.labels, tuple):
        name, colors, height = "confidence, %", DOUBT.reversed(), HEIGHT_CLASSES
        median_text = f"half of the filled rows are below {percent(median)} confidence"
        caption = "By confidence: the stronger the color, the lower."
        doubt = 100 * doubt
    return draw(
        lambda ax: _colored(ax, found, doubt, name, colors),
        height=height,
        alt=f"The same map, colored by {name.removesuffix(', %')}: {median_text}.",
        caption=f"{caption} Rings are labels.",
    )


def _classes(ax: Any, found: RowMap, labels: NDArray[Any]) -> None:
    _remove_numbers(ax)
    names = [name for name, _ in Counter(labels.tolist()).most_common()]
    in_color = names if len(names) <= len(PALETTE) else names[: len(PALETTE) - 1]
    groups = [
        (labels == name, PALETTE[i], SHAPES[i], text)
        for i, (name, text) in enumerate(
            zip(in_color, short_names(in_color, 14), strict=True)
        )
    ]
    rest = ~np.isin(labels, in_color)
    if rest.any():
        others = f"{len(names) - len(in_color)} others"
        groups.insert(0, (rest, FAINT, "o", others))
    handles = []
    for rows, color, shape, text in groups:
        _marks(ax, found, rows & ~found.given, shape, color, _size(found))
        style = {"color": color, "markersize": 7, "linestyle": "none"}
        handles.append(ax.plot([], [], shape, label=text, **style)[0])
    for rows, color, shape, _ in groups:  # on top of the others
        _marks(ax, found, rows & found.given, shape, color, LABELED_SIZE, rim=INK)
    if rest.any():
        handles.append(handles.pop(0))
    longest = max(len(handle.get_label()) for handle in handles)
    ax.figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=2 if longest > 11 else 3 if longest > 5 else 5,
        handletextpad=0.1,
        columnspacing=1.0,
    )


def _colored(ax: Any, found: RowMap, values: Array, name: str, colors: Any) -> None:
    _remove_numbers(ax)
    known = np.isfinite(values)
    low, high = np.quantile(values[known], [0.02, 0.98]) if known.any() else (0.0, 1.0)
    if not high > low:
        half = 0.5 * max(1.0, abs(low))
        low, high = low - half, high + half
    scale = ScalarMappable(Normalize(low, high), colors)
    # Marks of one color share their outline; a color for each row would not.
    level = np.full(len(values), -1)
    level[known] = np.clip((values[known] - low) / (high - low) * LEVELS, 0, LEVELS - 1)
    steps = low + (high - low) * (np.arange(LEVELS) + 0.5) / LEVELS
    shades = [to_hex(color) for color in scale.to_rgba(steps)]
    darkest_last = np.argsort([-sum(to_rgb(shade)) for shade in shades], kind="stable")
    for given, size, rim in ((False, _size(found), "none"), (True, LABELED_SIZE, INK)):
        for k in darkest_last:
            rows = (level == k) & (found.given == given)
            _marks(ax, found, rows, "o", shades[k], size, rim)
    _marks(ax, found, found.given & ~known, "o", "none", LABELED_SIZE - 1, rim=INK)
    place = {"ax": ax, "orientation": "horizontal", "aspect": 30, "pad": 0.03}
    bar = ax.figure.colorbar(scale, **place)
    bar.set_label(name)
    bar.outline.set_visible(False)
    bar.solids.set_edgecolor("face")
    bar.ax.locator_params(nbins=6)


def _remove_numbers(ax: Any) -> None:
    """Leave a frame without numbers, since only the distance between rows matters."""
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(True)
    ax.spines[:].set_color(LINE)


def _marks(
    ax: Any,
    found: RowMap,
    rows: NDArray[np.bool_],
    shape: str,
    color: str,
    size: float,
    rim: str = "none",
) -> None:
    if not rows.any():
        return
    has_rim = rim != "none"
    ax.plot(
        *found.points[rows].T,
        shape,
        markersize=size,
        markerfacecolor=color,
        markeredgecolor=rim,
        markeredgewidth=0.9 if has_rim else 0.0,
        alpha=1.0 if has_rim else 0.8,
        linestyle="none",
    )


def _size(found: RowMap) -> float:
    return SIZE_OF_FEW if len(found.points) < FEW_ROWS else SIZE
