r"""Rows to label next: those that are unsure, and different from each other.

Labeling a row tells of the rows close to it too, so that the least sure rows, which
are often alike, would tell the same thing several times. Rows are chosen one by one:
the next is the one with the largest

.. math:: doubt(x) \cdot (1 - \max_j k(x, x_j)^2), \quad
          k(x, x_j) = \exp(-|x - x_j|^2 / (2 m^2))

over the rows :math:`x_j` chosen before it, where m is the median distance between
unsure rows. With one :math:`x_j` the factor is the share of the variance of a Gaussian
process that is left at x once the label of :math:`x_j` is known.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from halfmoon.rows import Array
from halfmoon.table.model import TableModel
from halfmoon.table.unsure_rows import Unsure, UnsureRows

__all__ = ["next_rows", "spread_out"]

MEASURED = 300  # rows from which the median distance is taken
NEAR = 1e-2  # of the median distance: a copy, or as good as one


def next_rows(model: TableModel, unsure: UnsureRows, count: int) -> list[Unsure]:
    """The rows to label next, the most useful one first.

    Parameters
    ----------
    model : TableModel
        Rows are far from each other where they are in its matrix.
    unsure : UnsureRows
        Rows to choose from.
    count : int
        Rows wanted; fewer come back where the others are copies of these.
    """
    if not len(unsure):
        return []
    X = model.transform(unsure.table())
    return [unsure.row(int(i)) for i in spread_out(X, unsure.doubt, count)]


def spread_out(
    X: NDArray[np.floating],  # (m, d)
    doubt: Array,  # (m,)
    count: int,
) -> list[int]:
    """Rows that are unsure and far from each other, in the order of their choice.

    Examples
    --------
    >>> X = np.array([[0.0], [0.001], [1.0], [2.0]])
    >>> spread_out(X, np.array([0.5, 0.49, 0.4, 0.3]), 3)
    [0, 3, 2]
    """
    X = np.asarray(X, dtype=np.float64)
    doubt = np.maximum(doubt, np.finfo(np.float64).tiny)
    scale = _median_distance(X)
    nearest = np.full(len(X), np.inf)  # squared distance to the chosen rows
    chosen: list[int] = []
    while len(chosen) < min(count, len(X)):
        score = np.where(
            nearest > (NEAR * scale) ** 2,
            doubt * -np.expm1(-nearest / scale**2) if scale else doubt,
            0.0,
        )
        best = int(score.argmax())
        if score[best] == 0.0:
            break
        chosen.append(best)
        nearest = np.minimum(nearest, ((X - X[best]) ** 2).sum(axis=1))
    return chosen


def _median_distance(X: NDArray[np.floating]) -> float:
    """Median distance between different rows, 0 if there are none."""
    some = X[:: max(1, len(X) // MEASURED)][:MEASURED]
    squares = (some**2).sum(axis=1)
    pairs = squares[:, None] + squares[None] - 2 * some @ some.T
    away = np.sqrt(np.maximum(pairs[np.triu_indices(len(some), 1)], 0.0))
    away = away[away > 0]
    return float(np.median(away)) if len(away) else 0.0
