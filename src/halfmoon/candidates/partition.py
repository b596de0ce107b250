r"""A table cut into cells of about as many labeled rows each.

A cell with more than `size` labeled rows is cut in two at the middle of a direction in
which its rows spread: of some differences v between two of its rows, the one with the
largest variance of z'v / |v|. Either half learns from a little more than its own rows,
so that nothing ends abruptly where it is cut:

.. math:: \text{left: the first 55 % by } z'v, \quad \text{right: the last 55 %}

A new row goes to the side of the middle that it is on. Labels have no part in this.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from halfmoon.rows import Array, Indices

__all__ = ["Partition"]

SHARE = 0.55  # of the labeled rows of a cell that each of its halves learns from
DRAWS = 12  # directions to choose from
SPREAD_ROWS = 1_000  # whose spread is looked at


@dataclass(eq=False)
class Partition:
    """A tree of cuts, in the order of a heap: node i is cut into 2i + 1 and 2i + 2.

    Attributes
    ----------
    directions, thresholds : ndarrays of shape (m - 1, d) and (m - 1,)
        A row with z'v above the threshold goes to the second half.
    members : list of m ndarrays
        Of each cell, the labeled rows that it learns from.
    """

    directions: Array
    thresholds: Array
    members: list[Indices]

    @classmethod
    def of(
        cls,
        Z: Array,  # (l, d)
        size: int,
        rng: np.random.Generator,
    ) -> Partition:
        """Cells of at most so many of these rows, all cut equally often.

        Examples
        --------
        >>> rows = np.arange(10.0)[:, None]
        >>> cells = Partition.of(rows, 6, np.random.default_rng(0))
        >>> sorted(cells.members[0].tolist() + cells.members[1].tolist())
        [0, 1, 2, 3, 4, 4, 5, 5, 6, 7, 8, 9]
        """
        members: list[Indices] = [np.arange(len(Z))]
        directions, thresholds = [], []
        while len(members[0]) > size:
            halves: list[Indices] = []
            for rows in members:
                v = _direction(Z[rows], rng)
                order = np.argsort(Z[rows] @ v, kind="stable")
                kept = min(len(rows) - 1, math.ceil(SHARE * len(rows)))
                halves += [np.sort(rows[order[:kept]]), np.sort(rows[order[-kept:]])]
                middle = rows[order[(len(rows) - 1) // 2 : len(rows) // 2 + 1]]
                directions.append(v)
                thresholds.append(float((Z[middle] @ v).mean()))
            members = halves
        return cls(
            np.array(directions).reshape(-1, Z.shape[1]), np.array(thresholds), members
        )

    def find(
        self,
        Z: Array,  # (b, d)
    ) -> Indices:  # (b,)
        """The cell of each row."""
        node = np.zeros(len(Z), dtype=np.intp)
        while len(Z) and node[0] < len(self.thresholds):  # all are equally deep
            along = np.einsum("bd,bd->b", Z, self.directions[node])
            node = 2 * node + 1 + (along > self.thresholds[node])
        return node - len(self.thresholds)


def _direction(
    Z: Array,  # (l, d)
    rng: np.random.Generator,
) -> Array:  # (d,)
    some = Z[rng.choice(len(Z), min(SPREAD_ROWS, len(Z)), replace=False)]
    pairs = rng.integers(len(Z), size=(DRAWS, 2))
    V = Z[pairs[:, 0]] - Z[pairs[:, 1]]  # (draws, d)
    V /= np.maximum(np.sqrt((V * V).sum(axis=1, keepdims=True)), np.finfo(float).tiny)
    return np.asarray(V[np.argmax((some @ V.T).var(axis=0))])
