r"""A table divided into overlapping regions with equal numbers of labeled rows.

A region with more than `size` labeled rows is divided in two, at the median along a
direction in which its rows spread. Of several random differences v between two of its
rows, the direction is the one with the largest variance of z'v / |v|. Each half is
fitted to a few rows beyond the median, so that predictions do not jump there:

.. math:: \text{left: the first 55 % by } z'v, \quad \text{right: the last 55 %}

A new row belongs to the half on its side of the median. Labels are not used.

`map_by_region` is a pass over rows in which each region is prepared once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeAlias

import numpy as np

from halfmoon._rows import TINY, Array, Indices, Rows, as_rows
from halfmoon.blocks import Stream, worker_count

__all__ = ["HALF_SHARE", "OfRows", "Regions", "map_by_region", "over_groups"]

HALF_SHARE = 0.55  # of the labeled rows of a region, in each of its halves
N_DIRECTIONS = 12  # random directions to choose from
MAX_VARIANCE_ROWS = 1_000  # over which the variance is measured
MAX_GROUP_ROWS = 16_384  # of one region, for one worker at a time
OfRows: TypeAlias = Callable[[Rows], Array]  # (b, d) to (b, q)


@dataclass(eq=False)
class Regions:
    """A binary tree in the order of a heap: node i has the halves 2i + 1 and 2i + 2.

    A row with z'v above the threshold goes to the second half.
    """

    directions: Array  # (m - 1, d)
    thresholds: Array  # (m - 1,)
    regions: list[Indices]  # m, labeled rows that each region is fitted to, sorted

    @classmethod
    def of(
        cls,
        Z: Array,  # (l, d), coordinates of the labeled rows
        size: int,
        rng: np.random.Generator,
    ) -> Regions:
        """Divide rows into regions of at most `size`, all at the same depth.

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
    V /= np.maximum(np.sqrt((V * V).sum(axis=1, keepdims=True)), TINY)
    return np.asarray(V[np.argmax((sample @ V.T).var(axis=0))])


def map_by_region(
    function: Callable[[int], OfRows],
    X: Rows,  # (n, d)
    regions: Indices,  # (n,)
    *,
    row_bytes: int,
    region_bytes: int,
    stream: Stream,
) -> Array:  # (n, q)
    """Stack ``function(region)(rows)`` in the order of the rows.

    `row_bytes` and `region_bytes` are the temporaries for one row, and for one region.

    Examples
    --------
    >>> X, regions = np.arange(4.0)[:, None], np.array([1, 0, 1, 0])
    >>> power = lambda region: lambda rows: rows**region
    >>> sizes = {"row_bytes": 8, "region_bytes": 0}
    >>> map_by_region(power, X, regions, **sizes, stream=Stream())[:, 0]
    array([0., 1., 2., 1.])
    """
    order = np.argsort(regions, kind="stable")
    found, starts = np.unique(regions[order], return_index=True)
    groups = [
        (int(region), rows)
        for region, inside in zip(found, np.split(order, starts[1:]), strict=True)
        for rows in np.array_split(inside, -(-len(inside) // MAX_GROUP_ROWS))
    ]
    within = replace(stream, progress=None)

    def of_group(number: Indices) -> Array:
        region, inside = groups[int(number[0])]
        of_rows = function(region)
        # Row numbers are divided into blocks, not X, which may be a memory map.
        return within.map(
            lambda block: of_rows(as_rows(X[block])), inside, row_bytes=row_bytes
        )

    sizes = [len(rows) for _, rows in groups]
    results = over_groups(stream, sizes, region_bytes).in_order(
        of_group, np.arange(len(groups)), row_bytes=1
    )
    with closing(results):
        first = next(results)
        values = np.empty((len(order), *first.shape[1:]), first.dtype)
        in_turn = chain([first], results)
        for of_rows, (_, rows) in zip(in_turn, groups, strict=True):
            values[rows] = of_rows
    return values


def over_groups(stream: Stream, sizes: list[int], group_bytes: int) -> Stream:
    """Return a stream over groups of rows, one group a block.

    Its progress counts rows. It has as many workers as the memory limit allows for
    groups of `group_bytes`, but at least one.
    """
    within_limit = stream.limit // max(1, group_bytes)
    workers = max(1, min(worker_count(stream.n_jobs), within_limit))
    ends, report = np.cumsum(sizes), stream.progress
    if report is None:
        return replace(stream, block_rows=1, n_jobs=workers)

    def in_rows(groups: int, _: int) -> None:
        report(int(ends[groups - 1]), int(ends[-1]))

    return replace(stream, block_rows=1, n_jobs=workers, progress=in_rows)
