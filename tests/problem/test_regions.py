"""Regions of a table: the rows they are fitted to, and the regions of new rows.

Passes over rows region by region: order, groups, workers, memory.
"""

from __future__ import annotations

import threading
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from halfmoon.blocks import Stream
from halfmoon.problem import _regions as by_region
from halfmoon.problem._regions import Regions, map_by_region, over_groups


@pytest.mark.parametrize(
    ("l", "size", "regions"), [(30, 30, 1), (30, 29, 2), (100, 31, 4), (1_000, 100, 16)]
)
def test_regions_are_divided_until_they_are_small(rng, l, size, regions):
    # 55 % of 100 are 55, and of these 31; of 1,000: 550, 303, 167, 92.
    partition = Regions.of(rng.normal(size=(l, 3)), size, rng)
    assert len(partition.regions) == regions
    counts = {len(rows) for rows in partition.regions}
    assert len(counts) == 1
    assert max(counts) <= size
    assert partition.directions.shape == (regions - 1, 3)
    assert_array_equal(np.unique(np.concatenate(partition.regions)), np.arange(l))


def test_halves_overlap_about_the_middle():
    Z = np.arange(20.0)[:, None]
    partition = Regions.of(Z, 12, np.random.default_rng(0))
    left, right = sorted((m.tolist() for m in partition.regions), key=min)
    assert left == list(range(11))
    assert right == list(range(9, 20))
    regions = partition.find(np.array([[-5.0], [9.4], [9.6], [40.0]]))
    assert regions[0] == regions[1] != regions[2] == regions[3]
    assert 0 in partition.regions[regions[0]]
    assert 19 in partition.regions[regions[3]]


@pytest.mark.parametrize("l", [2, 3, 7, 8])
def test_the_boundary_is_halfway_between_two_rows(l):
    Z = np.arange(float(l))[:, None]
    partition = Regions.of(Z, l - 1, np.random.default_rng(0))
    boundary = float(partition.thresholds[0] * partition.directions[0, 0])
    assert boundary % 1 == 0.5
    assert abs(boundary - (l - 1) / 2) <= 0.5
    assert all(i in partition.regions[r] for i, r in enumerate(partition.find(Z)))


def test_a_row_is_found_by_walking_down_the_tree(rng):
    Z, new = rng.normal(size=(400, 4)), rng.normal(size=(50, 4))
    partition = Regions.of(Z, 60, rng)
    for row, region in zip(new, partition.find(new), strict=True):
        node = 0
        while node < len(partition.thresholds):
            beyond = row @ partition.directions[node] > partition.thresholds[node]
            node = 2 * node + (2 if beyond else 1)
        assert region == node - len(partition.thresholds)
    # Nearly all rows are in a region that learns from them: the cut is in the overlap.
    regions = partition.find(Z)
    assert all(i in partition.regions[region] for i, region in enumerate(regions))
    assert partition.find(Z[:0]).shape == (0,)


def test_directions_follow_the_spread():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(500, 5)) * np.array([10.0, 1.0, 1.0, 1.0, 1.0])
    partition = Regions.of(Z, 300, rng)
    v = partition.directions[0]
    assert np.linalg.norm(v) == pytest.approx(1.0)
    assert abs(v[0]) > 0.98


def test_equal_rows_are_divided_as_well(rng):
    partition = Regions.of(np.ones((50, 2)), 20, rng)
    assert all(len(rows) <= 20 for rows in partition.regions)
    assert_array_equal(partition.find(np.ones((3, 2))), np.zeros(3))


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
