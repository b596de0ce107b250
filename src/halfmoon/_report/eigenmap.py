"""Map the rows of a table to a plane by two Laplacian eigenfunctions.

The two smoothest functions that vary over the rows (`LaplacianEigenmaps`) are nearly
constant on a group of similar rows and change in the gaps between groups. Columns are
first brought to one scale and extreme values are clipped, so that a few distant rows
cannot take up a direction of the map. Last, crowded parts of the map are stretched,
without changing the order of the rows in either direction.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.stats import rankdata

from halfmoon._rows import Array, Rows
from halfmoon._selection.row_preparation import Standardized
from halfmoon._transformers import LaplacianEigenmaps
from halfmoon.kernels import Gaussian
from halfmoon.kernels._length_scales import median_distance

__all__ = ["Eigenmap", "eigenmap"]

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
