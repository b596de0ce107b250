"""A pass over rows, region by region: each region is prepared once for its rows."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from itertools import chain
from typing import TypeAlias

import numpy as np

from halfmoon._memory import parse_bytes
from halfmoon._rows import Array, Indices, Rows, as_rows
from halfmoon.blocks import Stream, worker_count

__all__ = ["OfRows", "map_by_region", "over_groups"]

MAX_GROUP_ROWS = 16_384  # of one region, for one worker at a time

OfRows: TypeAlias = Callable[[Rows], Array]  # (b, d) to (b, q)


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

    Parameters
    ----------
    function : callable
        From the number of a region to the function of its rows.
    X : array or CSR of shape (n, d)
    regions : ndarray of shape (n,)
        The region of each row.
    row_bytes, region_bytes : int
        Bytes of temporaries for one row, and for one region.
    stream : Stream

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
    within_limit = parse_bytes(stream.memory_limit) // max(1, group_bytes)
    workers = max(1, min(worker_count(stream.n_jobs), within_limit))
    ends, report = np.cumsum(sizes), stream.progress
    if report is None:
        return replace(stream, block_rows=1, n_jobs=workers)

    def in_rows(groups: int, _: int) -> None:
        report(int(ends[groups - 1]), int(ends[-1]))

    return replace(stream, block_rows=1, n_jobs=workers, progress=in_rows)
