"""Rows of a table on a plane, by two Laplacian eigenfunctions: alike lies side by side.

The two smoothest functions that vary over the rows (`LaplacianEigenmaps`) are nearly
constant on a group of alike rows and change in the gaps between groups. Columns are
brought to one scale first, and what is wild is drawn in, so that a few rows far off
cannot take a direction of the map for themselves; at the end the map is stretched where
rows crowd, without changing their order in either direction.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.stats import rankdata

from halfmoon.kernels import Gaussian
from halfmoon.kernels.length_scales import median_distance
from halfmoon.rows import Array, Rows
from halfmoon.selection import Standardized
from halfmoon.transformers import LaplacianEigenmaps

__all__ = ["Eigenmap", "eigenmap"]

# On iris, wine, digits and breast cancer, 0.5 to 0.7 of the median distance keeps the
# classes apart; below, single groups run off, and above, groups flow together.
OF_MEDIAN = 0.6
LANDMARKS = 400
FEWEST = 4  # rows that differ, for two functions worth looking at
HUGE = 1e100  # whose squares are finite
REACH = 4.0  # quartile distances from the median
EDGE = 0.02  # of the rows, on each side, that may be drawn in to the edge
MARGIN = 0.1  # of the span, by which rows at the edge may stand out


@dataclass(frozen=True, eq=False)
class Eigenmap:
    """Rows on a plane.

    Attributes
    ----------
    rows : ndarray of shape (m,)
        Which rows, by rising number.
    points : ndarray of shape (m, 2)
        From 0 to 1.
    note : str
        Empty, or why it is not the eigenmap of the rows.
    """

    rows: NDArray[np.intp]
    points: Array
    note: str = ""


def eigenmap(
    X: Rows,  # (n, d)
    rng: np.random.Generator,
    max_rows: int = 2_000,
    *,
    keep: NDArray[np.bool_] | None = None,
) -> Eigenmap:
    """Coordinates of a sample of the rows; never fails.

    Where there is no eigenmap, because rows are few or equal, the first columns that
    vary are the coordinates, and the note says so. About a second for 2,000 rows.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
        NaN is the column's median.
    rng : Generator
    max_rows : int
    keep : ndarray of bool of shape (n,) or None
        Rows to be kept in the sample if they fit, such as those with labels.
    """
    rows = _sample(X.shape[0], rng, max_rows, keep)
    chosen = X[rows]
    Z = chosen.toarray() if sp.issparse(chosen) else chosen
    Z = _complete(np.asarray(Z, dtype=np.float64))
    if Z.shape[0] == 0 or Z.shape[1] == 0:
        return Eigenmap(rows, np.zeros((len(rows), 2)), "There is nothing to map.")
    Z = Standardized().fit(Z).transform(Z)
    try:
        points, note = _functions(Z, rng), ""
    except (ValueError, np.linalg.LinAlgError):
        points = _two_columns(Z)
        note = (
            "Too few rows differ for an eigenmap: this shows the first columns "
            "that vary."
        )
    return Eigenmap(rows, _spread(points), note)


def _sample(
    n: int, rng: np.random.Generator, most: int, keep: NDArray[np.bool_] | None
) -> NDArray[np.intp]:
    if n <= most:
        return np.arange(n)
    first = np.empty(0, np.intp) if keep is None else np.flatnonzero(keep)
    if len(first) > most:
        return np.sort(rng.choice(first, most, replace=False))
    others = np.setdiff1d(np.arange(n), first)
    more = rng.choice(others, most - len(first), replace=False)
    return np.sort(np.concatenate([first, more]))


def _complete(X: Array) -> Array:
    """Finite numbers only: each column less its median, by its quartiles, and clipped.

    A column whose quartiles are equal, such as one of 0 and 1, is divided by its
    largest distance from the median instead.
    """
    X = np.where(np.isfinite(X), np.clip(X, -HUGE, HUGE), np.nan)
    X = X[:, ~np.isnan(X).all(axis=0)]
    if X.shape[0] == 0 or X.shape[1] == 0:
        return X
    first, middle, third = np.nanquantile(X, [0.25, 0.5, 0.75], axis=0)
    X = np.where(np.isnan(X), middle, X) - middle
    size = np.where(third > first, third - first, np.abs(X).max(axis=0))
    return np.asarray(np.clip(X / np.where(size > 0, size, 1.0), -REACH, REACH))


def _functions(Z: Array, rng: np.random.Generator) -> Array:
    """Values of the two smoothest functions; a ValueError where there are none."""
    different = len(np.unique(Z, axis=0))
    if different < FEWEST:
        raise ValueError(f"{different} rows differ; {FEWEST} are needed.")
    kernel = Gaussian(OF_MEDIAN * median_distance(Z, rng))
    maps = LaplacianEigenmaps(
        2, kernel, n_landmarks=min(len(Z), LANDMARKS), random_state=rng
    )
    with warnings.catch_warnings():
        # One function of an almost flat table is drawn against its first column.
        warnings.simplefilter("ignore")
        points = np.asarray(maps.fit_transform(Z))
    if not np.isfinite(points).all():
        raise ValueError("The functions are not finite.")
    if points.shape[1] < 2:
        points = np.column_stack([points[:, 0], Z[:, 0]])
    return points


def _two_columns(Z: Array) -> Array:
    return np.column_stack([Z[:, 0], Z[:, 1] if Z.shape[1] > 1 else np.zeros(len(Z))])


def _spread(points: Array) -> Array:
    """Half the value and half its rank, both from 0 to 1 within each direction.

    Values alone leave close groups as specks, ranks alone leave no gaps. Rows far from
    all others go to the edge first, so that they do not squash the rest.
    """
    n = len(points)
    low, high = np.quantile(points, [EDGE, 1 - EDGE], axis=0)
    room = MARGIN * (high - low)
    points = np.clip(points, low - room, high + room)
    low, high = points.min(axis=0), points.max(axis=0)
    values = (points - low) / np.where(high > low, high - low, 1.0)
    ranks = (rankdata(points, axis=0) - 1) / max(1, n - 1)
    return np.asarray((values + ranks) / 2)
