"""Passes over rows region by region: order, groups, workers, memory."""

from __future__ import annotations

import threading
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from halfmoon.blocks import Stream
from halfmoon.problem import (
    _by_region as by_region,
)
from halfmoon.problem._by_region import map_by_region, over_groups


@pytest.mark.parametrize("group_rows", [1, 4, 100])
@pytest.mark.parametrize("block_rows", [None, 1, 3])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_each_row_is_predicted_once_by_its_region(
    rng, n_jobs, block_rows, group_rows, monkeypatch
):
    monkeypatch.setattr(by_region, "MAX_GROUP_ROWS", group_rows)
    X, regions = rng.normal(size=(23, 2)), rng.choice([0, 2, 5], 23)
    made, seen = [], []

    def function(region):
        made.append(region)

        def of_rows(rows):
            seen.append(len(rows))
            return np.c_[rows, np.full(len(rows), region)]

        return of_rows

    stream = Stream(n_jobs=n_jobs, block_rows=block_rows)
    values = map_by_region(
        function, X, regions, row_bytes=8, region_bytes=8, stream=stream
    )
    assert_array_equal(values, np.c_[X, regions])
    assert sum(seen) == 23
    counts = [int((regions == r).sum()) for r in (0, 2, 5)]
    assert len(made) == sum(-(-count // group_rows) for count in counts)
    assert max(seen) <= min(group_rows, block_rows or 23)


def test_workers_that_the_memory_limit_allows():
    stream = Stream("100MB", n_jobs=8)
    assert over_groups(stream, [3, 4], 10_000_000).n_jobs == 8
    assert over_groups(stream, [3, 4], 40_000_000).n_jobs == 2
    assert over_groups(stream, [3, 4], 400_000_000).n_jobs == 1


def test_progress_counts_rows():
    reports = []
    stream = Stream(n_jobs=1, progress=lambda *counts: reports.append(counts))
    X, regions = np.ones((5, 1)), np.array([0, 0, 1, 1, 1])
    map_by_region(
        lambda region: lambda rows: rows,
        *(X, regions),
        row_bytes=8,
        region_bytes=8,
        stream=stream,
    )
    assert reports == [(2, 5), (5, 5)]


def test_one_worker_starts_no_thread(monkeypatch):
    monkeypatch.setattr(threading.Thread, "start", None)
    X, regions = np.ones((5, 1)), np.array([0, 0, 1, 1, 1])
    map_by_region(
        lambda region: lambda rows: rows,
        *(X, regions),
        row_bytes=8,
        region_bytes=8,
        stream=Stream(n_jobs=1, block_rows=1),
    )


def test_blocks_keep_to_the_memory_limit():
    X, regions = np.zeros((4_000, 2)), np.arange(4_000) % 2

    def function(region):
        return lambda rows: np.ones((len(rows), 1_000)).sum(axis=1, keepdims=True)

    stream = Stream("2MB", n_jobs=1)
    tracemalloc.start()
    map_by_region(function, X, regions, row_bytes=8_000, region_bytes=8, stream=stream)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3_000_000  # 32 MB if both regions were one block each
