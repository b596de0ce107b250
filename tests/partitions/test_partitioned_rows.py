"""Engines: results in the order of the partitions, whoever computes them."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from halfmoon._partitioned_rows import PartitionedRows, Reader, in_order
from halfmoon.blocks import Stream
from helpers import InTurn
from optional_modules import optional

dask = optional("dask")
dask_rows = optional("halfmoon._partitions.dask_rows")

READER = Reader(None, 3, "float64")


class ByExecutor:
    """An engine of someone else, on threads."""

    def __init__(self, executor, ahead):
        self.executor, self.ahead = executor, ahead
        self.threads = executor._max_workers

    def map(self, function, partitions):
        submit = self.executor.submit
        return in_order(lambda p: submit(function, *p), partitions, self.ahead)


def engines():
    pool = ThreadPoolExecutor(3)
    return [InTurn(), ByExecutor(pool, ahead=2), dask_rows.OwnScheduler()]


@pytest.mark.parametrize("engine", engines(), ids=lambda e: type(e).__name__)
def test_results_come_in_the_order_of_the_partitions(engine):
    def late(number, length):
        time.sleep(length)
        return number

    partitions = [(0, 0.03), (1, 0.0), (2, 0.02), (3, 0.0), (4, 0.0)]
    assert list(engine.map(late, partitions)) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("engine", engines(), ids=lambda e: type(e).__name__)
def test_an_error_comes_out_as_it_is(engine):
    def fails(number):
        if number == 2:
            raise OverflowError("partition two")
        return number

    with pytest.raises(OverflowError, match="partition two"):
        list(engine.map(fails, [(i,) for i in range(5)]))


def test_few_partitions_are_ahead_of_the_one_that_is_taken():
    begun = []
    with ThreadPoolExecutor(4) as pool:
        results = ByExecutor(pool, ahead=3).map(begun.append, [(i,) for i in range(50)])
        next(results)
        time.sleep(0.05)
        assert len(begun) <= 3
        results.close()


def in_partitions(X, sizes, engine):
    ends = np.cumsum(sizes)
    parts = [X[end - size : end] for size, end in zip(sizes, ends, strict=True)]
    return PartitionedRows(
        list(enumerate(parts)), READER, lambda client: engine, len(X), X[:1]
    )


SIZES = [300, 0, 1, 499, 400]


def moments(rows):
    return rows.T @ rows, rows.sum(axis=0)


def test_a_sum_over_partitions_is_the_sum_over_rows(table):
    X, _ = table
    rows = in_partitions(X, SIZES, InTurn())
    second, first = Stream().sum(moments, rows, row_bytes=24)
    np.testing.assert_allclose(second, X.T @ X, rtol=1e-13)
    np.testing.assert_allclose(first, X.sum(axis=0), rtol=1e-13, atol=1e-12)


def test_every_engine_gives_the_same_bits(table):
    X, _ = table
    stream = Stream(block_rows=64)
    with dask.config.set(scheduler="threads", num_workers=3):
        sums = [
            stream.sum(moments, in_partitions(X, SIZES, engine), row_bytes=24)
            for engine in engines()
        ]
    for second, first in sums[1:]:
        assert_array_equal(second, sums[0][0])
        assert_array_equal(first, sums[0][1])


def test_progress_counts_the_rows_of_partitions(table):
    X, _ = table
    reported = []
    stream = Stream(progress=lambda done, n: reported.append((done, n)))
    stream.sum(moments, in_partitions(X, SIZES, InTurn()), row_bytes=24)
    assert reported == [(300, 1200), (301, 1200), (800, 1200), (1200, 1200)]


def test_rows_in_partitions_are_not_stacked(table):
    rows = in_partitions(table[0], SIZES, InTurn())
    with pytest.raises(TypeError, match="only be summed, not stacked"):
        Stream().map(lambda block: block, rows, row_bytes=24)
    with pytest.raises(ValueError, match="together with other tables"):
        Stream().sum(moments, rows, table[0], row_bytes=24)


def test_a_partition_has_one_worker_and_blocks_of_one_worker(table):
    """So that neither cores nor jobs change what a partition computes."""
    X, _ = table
    sizes = []

    def counts(block):
        sizes.append(len(block))
        return np.zeros(1)

    rows = in_partitions(X, [1200], InTurn())
    for n_jobs in (1, 4):
        sizes.clear()
        Stream("24kB", n_jobs=n_jobs).sum(counts, rows, row_bytes=48)
        assert sizes == [500, 500, 200]
