"""The map of the rows: two Laplacian eigenfunctions as a plane, and pictures of it.

The two smoothest functions that vary over the rows (`LaplacianEigenmaps`) are nearly
constant on a group of similar rows and change in the gaps between groups. Columns are
first brought to one scale and extreme values are clipped, so that a few distant rows
cannot take up a direction of the map. Last, crowded parts of the map are stretched,
without changing the order of the rows in either direction. One picture is colored by
label, the other by how sure the predictions are.
"""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize, to_hex, to_rgb
from numpy.typing import NDArray
from scipy.stats import rankdata

from halfmoon._number_format import count, number, percent
from halfmoon._report.findings import Findings, RowMap
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
from halfmoon._rows import Array, Rows
from halfmoon._selection.row_preparation import Standardized
from halfmoon._transformers import LaplacianEigenmaps
from halfmoon.kernels import Gaussian
from halfmoon.kernels._length_scales import median_distance

__all__ = ["Eigenmap", "eigenmap", "of_map"]

# Length scale as a share of the median distance. On iris, wine, digits and breast
# cancer, 0.5 to 0.7 keeps the classes apart; with less, single groups drift away, and
# with more, groups merge.
LENGTH_SCALE = 0.6
MAP_LANDMARKS = 400
MIN_DISTINCT = 4  # different rows, for two useful functions
MAX_VALUE = 1e100  # whose square is finite
CLIP = 4.0  # interquartile ranges from the median
EDGE = 0.02  # share of the rows on each side that may be moved to the edge
EDGE_MARGIN = 0.1  # of the span, which rows at the edge may exceed it by

HEIGHT_CLASSES, HEIGHT_NUMBERS = 4.9, 4.4  # inches
SHAPES = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "h")
LABELED_SIZE, SIZE, SIZE_OF_FEW = 6.4, 3.4, 4.6  # of marks, in points
FEW_ROWS = 600


@dataclass(frozen=True, eq=False)
class Eigenmap:
    """Rows on a plane."""

    points: Array  # (n, 2), from 0 to 1
    note: str = ""  # why this is not an eigenmap


def eigenmap(X: Rows, rng: np.random.Generator) -> Eigenmap:  # X: (n, d)
    """Map rows to a plane; NaN is replaced by the column's median.

    Where there is no eigenmap, because rows are few or equal, the first columns that
    vary are the coordinates, and the note says so. Takes about a second for 2,000 rows.
    """
    Z = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    Z = _scaled(Z)
    if Z.shape[0] == 0 or Z.shape[1] == 0:
        return Eigenmap(np.zeros((len(Z), 2)), "There is nothing to map.")
    Z = Standardized().fit(Z).transform(Z)
    try:
        return Eigenmap(_spread(_eigenfunctions(Z, rng)))
    except (ValueError, np.linalg.LinAlgError):
        note = "Too few rows differ for a map: this shows the first columns that vary."
        first_two = np.column_stack([Z, np.zeros(len(Z))])[:, :2]
        return Eigenmap(_spread(first_two), note)


def _scaled(X: Array) -> Array:
    """Impute medians, and scale each column by its quartiles, clipped.

    A column whose quartiles are equal, such as one of 0 and 1, is divided by its
    largest distance from the median instead.
    """
    X = np.where(np.isfinite(X), np.clip(X, -MAX_VALUE, MAX_VALUE), np.nan)
    X = X[:, ~np.isnan(X).all(axis=0)]
    if X.shape[0] == 0 or X.shape[1] == 0:
        return X
    first, middle, third = np.nanquantile(X, [0.25, 0.5, 0.75], axis=0)
    X = np.where(np.isnan(X), middle, X) - middle
    size = np.where(third > first, third - first, np.abs(X).max(axis=0))
    return np.asarray(np.clip(X / np.where(size > 0, size, 1.0), -CLIP, CLIP))


def _eigenfunctions(Z: Array, rng: np.random.Generator) -> Array:
    """Return the two smoothest functions; raise ValueError if there are none."""
    if len(np.unique(Z, axis=0)) < MIN_DISTINCT:
        raise ValueError("Too few rows differ.")
    kernel = Gaussian(LENGTH_SCALE * median_distance(Z, rng))
    maps = LaplacianEigenmaps(
        2, kernel, n_landmarks=min(len(Z), MAP_LANDMARKS), random_state=rng
    )
    with warnings.catch_warnings():
        # If there is only one function, it is drawn against the first column.
        warnings.simplefilter("ignore")
        points = np.asarray(maps.fit_transform(Z))
    if not np.isfinite(points).all():
        raise ValueError("The functions are not finite.")
    if points.shape[1] < 2:
        points = np.column_stack([points[:, 0], Z[:, 0]])
    return points


def _spread(points: Array) -> Array:
    """Average each coordinate with its rank, both scaled from 0 to 1.

    Values alone leave close groups as specks, ranks alone leave no gaps. Distant rows
    are first moved to the edge, so that they do not squash the rest.
    """
    n = len(points)
    low, high = np.quantile(points, [EDGE, 1 - EDGE], axis=0)
    room = EDGE_MARGIN * (high - low)
    points = np.clip(points, low - room, high + room)
    low, high = points.min(axis=0), points.max(axis=0)
    values = (points - low) / np.where(high > low, high - low, 1.0)
    ranks = (rankdata(points, axis=0) - 1) / max(1, n - 1)
    return np.asarray((values + ranks) / 2)


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
