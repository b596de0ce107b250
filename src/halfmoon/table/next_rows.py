r"""Rows to label next: those that are unsure, and different from each other.

Labeling a row tells of the rows close to it too, so that the least sure rows, which
are often alike, would tell the same thing several times. Rows are chosen one by one:
the next is the one with the largest

.. math:: doubt(x) \cdot (1 - \max_j k(x, x_j)^2), \quad
          k(x, x_j) = \exp(-|x - x_j|^2 / (2 m^2))

over the rows :math:`x_j` chosen before it, where m is the median distance between
unsure rows. With one :math:`x_j` the factor is the share of the variance of a Gaussian
process that is left at x once the label of :math:`x_j` is known. Rows with the same
sentence come once, as long as there are others: a person would label them alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from halfmoon.queries.greedy import spread_out as picked_apart
from halfmoon.rows import Array
from halfmoon.table.files.values import column_text
from halfmoon.table.model import TableModel
from halfmoon.table.reading import as_column
from halfmoon.table.row_keys import cell_keys
from halfmoon.table.unsure_rows import Unsure, UnsureRows

__all__ = ["next_rows", "spread_out"]

MEASURED = 300  # rows from which the median distance is taken
SENTENCE = 12  # characters of its cells on average, with spaces in most of them


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
    rows = unsure.table()
    X, said = model.transform(rows), _sentences(rows, model)
    return [unsure.row(i) for i in spread_out(X, unsure.doubt, count, said)]


def _sentences(rows: pa.Table, model: TableModel) -> NDArray[np.uint64] | None:
    """What rows say in words, as one number each; None if they hold no sentences."""
    names = []
    for use in model.table_.used:
        if use.kind not in ("text", "category"):
            continue
        cells = [cell for cell in column_text(as_column(rows[use.name])) if cell]
        spaced = sum(" " in cell for cell in cells)
        if spaced > len(cells) / 2 and sum(map(len, cells)) > SENTENCE * len(cells):
            names.append(use.name)
    return cell_keys(rows, names) if names else None


def spread_out(
    X: NDArray[np.floating],  # (m, d)
    doubt: Array,  # (m,)
    count: int,
    groups: NDArray[Any] | None = None,  # (m,)
) -> list[int]:
    """Rows that are unsure and far from each other, in the order of their choice.

    With `groups`, rows of one group come after those of groups that are still missing.

    Examples
    --------
    >>> X = np.array([[0.0], [0.001], [1.0], [2.0]])
    >>> spread_out(X, np.array([0.5, 0.49, 0.4, 0.3]), 3)
    [0, 3, 2]
    """
    X = np.asarray(X, dtype=np.float64)
    scale = _median_distance(X)

    def alike(u: int) -> Array:
        squares = ((X - X[u]) ** 2).sum(axis=1)
        return np.exp(-squares / scale**2) if scale else np.ones(len(X))

    every = np.ones(len(X), dtype=bool)
    return picked_apart(alike, doubt, every, count, groups=groups, with_copies=False)


def _median_distance(X: NDArray[np.floating]) -> float:
    """Median distance between different rows, 0 if there are none."""
    some = X[:: max(1, len(X) // MEASURED)][:MEASURED]
    squares = (some**2).sum(axis=1)
    pairs = squares[:, None] + squares[None] - 2 * some @ some.T
    away = np.sqrt(np.maximum(pairs[np.triu_indices(len(some), 1)], 0.0))
    away = away[away > 0]
    return float(np.median(away)) if len(away) else 0.0
