r"""A table divided into overlapping regions with equal numbers of labeled rows.

A region with more than `size` labeled rows is divided in two, at the median along a
direction in which its rows spread. Of several random differences v between two of its
rows, the direction is the one with the largest variance of z'v / |v|. Each half is
fitted to a few rows beyond the median, so that predictions do not jump there:

.. math:: \text{left: the first 55 % by } z'v, \quad \text{right: the last 55 %}

A new row belongs to the half on its side of the median. Labels are not used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from halfmoon._rows import Array, Indices

__all__ = ["Regions"]

HALF_SHARE = 0.55  # of the labeled rows of a region, in each of its halves
N_DIRECTIONS = 12  # random directions to choose from
MAX_VARIANCE_ROWS = 1_000  # over which the variance is measured


@dataclass(eq=False)
class Regions:
    """A binary tree in the order of a heap: node i has the halves 2i + 1 and 2i + 2.

    Attributes
    ----------
    directions, thresholds : ndarrays of shape (m - 1, d) and (m - 1,)
        A row with z'v above the threshold goes to the second half.
    regions : list of m ndarrays
        Indices of the labeled rows that each region is fitted to, sorted.
    """

    directions: Array
    thresholds: Array
    regions: list[Indices]

    @classmethod
    def of(
        cls,
        Z: Array,  # (l, d)
        size: int,
        rng: np.random.Generator,
    ) -> Regions:
        """Divide rows into regions of at most `size`, all at the same depth.

        Parameters
        ----------
        Z : ndarray of shape (l, d)
            Coordinates of the labeled rows.
        size : int
            Largest number of labeled rows in a region.
        rng : Generator
            Draws the directions.

        Examples
        --------
        >>> rows = np.arange(10.0)[:, None]
        >>> partition = Regions.of(rows, 6, np.random.default_rng(0))
        >>> sorted(np.concatenate(partition.regions).tolist())
        [0, 1, 2, 3, 4, 4, 5, 5, 6, 7, 8, 9]
        """
        if size < 1:
            raise ValueError(f"size is {size}; a region needs at least 1 row.")
        regions: list[Indices] = [np.arange(len(Z))]
        directions, thresholds = [], []
        while len(regions[0]) > size:
            halves: list[Indices] = []
            for rows in regions:
                v = _direction(Z[rows], rng)
                order = np.argsort(Z[rows] @ v, kind="stable")
                half = min(len(rows) - 1, math.ceil(HALF_SHARE * len(rows)))
                halves += [np.sort(rows[order[:half]]), np.sort(rows[order[-half:]])]
                # Between two rows, so that rounding does not decide their side.
                middle = rows[order[(len(rows) - 1) // 2 :][:2]]
                directions.append(v)
                thresholds.append(float((Z[middle] @ v).mean()))
            regions = halves
        return cls(
            np.array(directions).reshape(-1, Z.shape[1]), np.array(thresholds), regions
        )

    def find(
        self,
        Z: Array,  # (b, d)
    ) -> Indices:  # (b,)
        """Return the region of each row."""
        node = np.zeros(len(Z), dtype=np.intp)
        while len(Z) and node[0] < len(self.thresholds):  # all regions are equally deep
            along = np.einsum("bd,bd->b", Z, self.directions[node])
            node = 2 * node + 1 + (along > self.thresholds[node])
        return node - len(self.thresholds)


def _direction(
    Z: Array,  # (l, d)
    rng: np.random.Generator,
) -> Array:  # (d,)
    sample = Z[rng.choice(len(Z), min(MAX_VARIANCE_ROWS, len(Z)), replace=False)]
    pairs = rng.integers(len(Z), size=(N_DIRECTIONS, 2))
    V = Z[pairs[:, 0]] - Z[pairs[:, 1]]  # (draws, d)
    V /= np.maximum(np.sqrt((V * V).sum(axis=1, keepdims=True)), np.finfo(float).tiny)
    return np.asarray(V[np.argmax((sample @ V.T).var(axis=0))])
