"""The walk over row blocks: sums, order, workers, memory, errors, interrupts."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_info, threadpool_limits

import halfmoon
from halfmoon.blocks import BLOCK_BYTES, Stream, blas_for, worker_count
from helpers import BLOCK_ROWS, peak_bytes

N_JOBS = [1, 2, 3, -1, None]


@pytest.fixture
def X(rng):
    return rng.normal(size=(11, 3))


def gram(block):
    return block.T @ block


# ---- what comes out ------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", N_JOBS)
@pytest.mark.parametrize("block_rows", BLOCK_ROWS)
def test_blocks_add_up(X, block_rows, n_jobs):
    y = np.arange(11.0)
    stream = Stream(n_jobs=n_jobs, block_rows=block_rows)
    assert_allclose(stream.sum(gram, X, row_bytes=8), X.T @ X, rtol=1e-12)
    moments = stream.sum(lambda B, c: (B.T @ B, B.T @ c, len(B)), X, y, row_bytes=8)
    assert isinstance(moments, tuple)
    for actual, expected in zip(moments, (X.T @ X, X.T @ y, 11), strict=True):
        assert_allclose(actual, expected, rtol=1e-12)


@pytest.mark.parametrize("n_jobs", N_JOBS)
@pytest.mark.parametrize("block_rows", BLOCK_ROWS)
def test_blocks_stack_in_order(X, block_rows, n_jobs):
    stream = Stream(n_jobs=n_jobs, block_rows=block_rows)

    def slower_first(block):
        time.sleep(0.002 * (block[0, 0] == X[0, 0]))
        return block[:, :2] * 2

    assert_array_equal(stream.map(slower_first, X, row_bytes=8), X[:, :2] * 2)


@pytest.mark.parametrize("block_rows", [1, 7, 64, 300])
def test_workers_do_not_change_a_bit(rng, block_rows):
    X = rng.normal(size=(300, 20)) * np.logspace(-8, 8, 300)[:, None]
    sums = [
        Stream(n_jobs=n_jobs, block_rows=block_rows).sum(gram, X, row_bytes=8)
        for n_jobs in N_JOBS
    ]
    for other in sums[1:]:
        assert_array_equal(other, sums[0])


def test_one_row():
    X = np.array([[3.0, 4.0]])
    assert_array_equal(Stream().sum(gram, X, row_bytes=8), [[9, 12], [12, 16]])
    assert_array_equal(Stream().map(lambda B: B.sum(axis=1), X, row_bytes=8), [7.0])


# ---- what goes in --------------------------------------------------------------------


@pytest.mark.parametrize("block_rows", BLOCK_ROWS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_low_precision_is_lifted_by_the_block(X, dtype, block_rows):
    low = X.astype(dtype)
    before, seen = low.copy(), []

    def function(block):
        seen.append(block.dtype)
        block += 1.0  # the function may change its block
        return gram(block)

    actual = Stream(block_rows=block_rows).sum(function, low, row_bytes=8)
    lifted = low.astype(np.float64) + 1.0
    assert_allclose(actual, lifted.T @ lifted, rtol=1e-13)
    assert set(seen) == {np.dtype(np.float64)}
    assert low.dtype == dtype
    assert_array_equal(low, before)


@pytest.mark.parametrize("block_rows", BLOCK_ROWS)
def test_memory_maps_are_read_by_the_block(X, tmp_path, block_rows):
    path = tmp_path / "rows.npy"
    np.save(path, X.astype(np.float32))
    mapped = np.load(path, mmap_mode="r")
    lifted = X.astype(np.float32).astype(np.float64)
    actual = Stream(block_rows=block_rows).sum(gram, mapped, row_bytes=8)
    assert_allclose(actual, lifted.T @ lifted, rtol=1e-13)
    assert_array_equal(np.load(path), X.astype(np.float32))


@pytest.mark.parametrize("block_rows", BLOCK_ROWS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_csr_rows_stay_csr(X, dtype, block_rows):
    X[np.abs(X) < 0.5] = 0
    csr = sp.csr_array(X.astype(dtype))

    def function(block):
        assert block.format == "csr"
        assert block.dtype == np.float64
        return gram(block).toarray()

    actual = Stream(block_rows=block_rows).sum(function, csr, row_bytes=8)
    lifted = X.astype(dtype).astype(np.float64)
    assert_allclose(actual, lifted.T @ lifted, rtol=1e-13, atol=1e-15)
    assert csr.dtype == dtype


@pytest.mark.parametrize("block_rows", BLOCK_ROWS)
def test_integers_stay_integers(X, block_rows):
    stream = Stream(block_rows=block_rows)
    rows = stream.map(lambda B, i: i, X, np.arange(11), row_bytes=8)
    assert rows.dtype.kind == "i"
    assert_array_equal(rows, np.arange(11))
    assert_array_equal(
        stream.map(lambda B, i: X[i] - B, X, np.arange(11), row_bytes=8), 0 * X
    )


@pytest.mark.parametrize("block_rows", [11, 50, 1])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_sums_never_write_into_the_table(block_rows, n_jobs):
    # The function gives its block itself, a view of the table.
    X = np.arange(22.0).reshape(11, 2)
    before, stream = X.copy(), Stream(n_jobs=n_jobs, block_rows=block_rows)
    for expected in (before, before) if block_rows > 1 else (before.sum(axis=0),) * 2:
        total = stream.sum(lambda B: B, X, row_bytes=8)
        assert_array_equal(np.squeeze(total), expected)
        total += 1.0
        (total,) = stream.sum(lambda B: (B,), X, row_bytes=8)
        total += 1.0
        assert_array_equal(X, before)


# ---- errors --------------------------------------------------------------------------


def test_tables_have_equally_many_rows(X):
    with pytest.raises(ValueError, match=r"The tables have \[11, 10\] rows; the same"):
        Stream().sum(lambda B, C: 0.0, X, X[:10], row_bytes=8)


def test_empty_tables_are_refused(X):
    for walk in (Stream().sum, Stream().map):
        with pytest.raises(ValueError, match="The table has no rows; at least one"):
            walk(gram, X[:0], row_bytes=8)


def test_worker_count():
    cores = worker_count()
    assert cores >= 1
    assert worker_count(-1) == cores
    assert worker_count(-cores - 9) == 1
    assert worker_count(3) == 3
    with pytest.raises(ValueError, match="n_jobs is 0; a number, or None"):
        worker_count(0)


def test_no_workers_are_refused(X):
    with pytest.raises(ValueError, match="n_jobs is 0"):
        Stream(n_jobs=0).sum(gram, X, row_bytes=8)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("walk", ["sum", "map"])
def test_an_error_comes_out_unchanged_and_stops_the_rest(n_jobs, walk):
    X = np.arange(100.0).reshape(100, 1)
    error, calls, lock = KeyError("row 5 is bad"), [], threading.Lock()

    def function(block):
        with lock:
            calls.append(int(block[0, 0]))
        time.sleep(0.001)
        if block[0, 0] == 5:
            raise error
        return block

    with pytest.raises(KeyError) as caught:
        getattr(Stream(n_jobs=n_jobs, block_rows=1), walk)(function, X, row_bytes=8)
    assert caught.value is error
    done = len(calls)
    # Submitted at most one block ahead of each worker.
    assert max(calls) <= 5 + (n_jobs if n_jobs > 1 else 0)
    time.sleep(0.05)
    assert len(calls) == done
    assert not [t for t in threading.enumerate() if t.name.startswith("halfmoon")]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_sum_that_does_not_add_stops_the_rest(n_jobs):
    # The first block is short of a column: the error is in the sum, not in a block.
    X, calls = np.arange(100.0).reshape(100, 1), []

    def function(block):
        calls.append(block)
        time.sleep(0.001)
        return np.zeros(2 if block[0, 0] == 0 else 3)

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with pytest.raises(ValueError, match="operands could not be broadcast"):
            Stream(n_jobs=n_jobs, block_rows=1).sum(function, X, row_bytes=8)
        time.sleep(0.05)
        assert len(calls) <= 6
        assert blas_threads() == before


def test_an_error_in_progress_comes_out(X):
    def progress(done, n):
        raise RuntimeError("stop")

    for n_jobs in (1, 2):
        with pytest.raises(RuntimeError, match="stop"):
            Stream(n_jobs=n_jobs, block_rows=2, progress=progress).sum(
                gram, X, row_bytes=8
            )


@pytest.mark.parametrize("rows", [1, 4])
def test_map_needs_an_output_row_for_each_row(X, rows):
    stream = Stream(block_rows=3)
    with pytest.raises(ValueError, match="one output row for each of the 11 rows"):
        stream.map(lambda B: np.zeros((rows, 2)), X, row_bytes=8)


# ---- progress, nesting, BLAS ---------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("block_rows", BLOCK_ROWS)
@pytest.mark.parametrize("walk", ["sum", "map"])
def test_progress_counts_rows(X, block_rows, n_jobs, walk):
    seen = []
    stream = Stream(
        n_jobs=n_jobs, block_rows=block_rows, progress=lambda *rows: seen.append(rows)
    )
    axis = 0 if walk == "sum" else 1
    getattr(stream, walk)(lambda B: B.sum(axis=axis), X, row_bytes=8)
    ends = [min(end, 11) for end in range(block_rows, 11 + block_rows, block_rows)]
    assert seen == [(end, 11) for end in ends]


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_streams_nest(X, n_jobs):
    stream = Stream(n_jobs=n_jobs, block_rows=2)
    names = set()

    def inner(block):
        names.add(threading.current_thread().name)
        return gram(block)

    def function(block):
        mine = threading.current_thread().name
        total = stream.sum(inner, X, row_bytes=8)  # six blocks, in this very thread
        assert mine in names
        return block @ total

    actual = stream.map(function, X, row_bytes=8)
    assert_allclose(actual, X @ (X.T @ X), rtol=1e-12)
    assert len(names) <= n_jobs


def blas_threads():
    return [i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas"]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_blas_has_one_thread_in_workers_and_all_in_a_single_block(X, n_jobs):
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        if max(before) < 2:
            pytest.skip("this BLAS cannot be given two threads")
        seen = []

        def function(block):
            seen.append(blas_threads())
            return gram(block)

        Stream(n_jobs=n_jobs, block_rows=4).sum(function, X, row_bytes=8)
        assert seen == [[1] * len(before)] * 3
        assert blas_threads() == before

        seen.clear()
        Stream(n_jobs=n_jobs, block_rows=11).sum(function, X, row_bytes=8)
        assert seen == [before]

        def failing(block):
            raise KeyError

        with pytest.raises(KeyError):
            Stream(n_jobs=n_jobs, block_rows=4).sum(failing, X, row_bytes=8)
        assert blas_threads() == before


# ---- memory --------------------------------------------------------------------------


def test_rows_in_block():
    assert Stream(block_rows=7).rows_in_block(10**12) == 7
    assert Stream("1MB", n_jobs=1).rows_in_block(1_000) == 1_000
    assert Stream("1MB", n_jobs=4).rows_in_block(1_000) == 250
    assert Stream("100GB", n_jobs=1).rows_in_block(1_000) == BLOCK_BYTES // 1_000
    assert Stream("1kB", n_jobs=1).rows_in_block(1_000) == 1
    # A row larger than a usual block, but within the limit
    assert Stream("1GB", n_jobs=1).rows_in_block(2 * BLOCK_BYTES) == 1


def test_a_row_that_does_not_fit():
    message = (
        r"One row needs 1 kB in each of 2 worker\(s\), more than memory_limit=1\.99 "
        r"kB\. Raise memory_limit, lower n_components, or set n_jobs=1\."
    )
    with pytest.raises(MemoryError, match=message):
        Stream(1_990, n_jobs=2).sum(gram, np.ones((3, 1)), row_bytes=1_000)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_a_sum_keeps_to_its_memory(n_jobs):
    X = np.ones((60_000, 2), dtype=np.float32)
    p, limit = 100, 6_000_000  # all values at once would take 48 MB

    def function(block):
        wide = np.repeat(block, p // 2, axis=1)  # the 8 p bytes of each row
        return np.array([wide.sum(), 1.0])

    stream, out = Stream(limit, n_jobs=n_jobs), []
    peak = peak_bytes(lambda: out.append(stream.sum(function, X, row_bytes=8 * p + 16)))
    total, blocks = out[0]
    assert total == 60_000 * p
    assert blocks > 6
    assert peak < 1.1 * limit
    assert peak > 0.5 * limit / n_jobs  # and makes use of it


# ---- Ctrl-C --------------------------------------------------------------------------

LONG = """
import signal, sys, time
import numpy as np
from halfmoon.blocks import Stream

signal.signal(signal.SIGINT, signal.default_int_handler)  # even if started ignored
n_jobs, seconds = int(sys.argv[1]), float(sys.argv[2])
started, finished = [], []
M = np.ones((150, 150)) / 150

def products(block):
    started.append(block)
    if len(started) == n_jobs:
        print("started", flush=True)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        M @ M
    finished.append(block)
    return block

try:
    Stream(n_jobs=n_jobs, block_rows=1).sum(products, np.ones((1000, 1)), row_bytes=8)
except KeyboardInterrupt:
    begun, done = len(started), len(finished)
    print("interrupted", flush=True)
    time.sleep(0.5)
    print(begun, done, len(started), flush=True)
"""


def interrupt(n_jobs, seconds):
    """Seconds until Ctrl-C came out; blocks begun and done then; begun later."""
    source = str(Path(halfmoon.__file__).parents[1])
    path = os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen(
        [sys.executable, "-c", LONG, str(n_jobs), str(seconds)],
        env={**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout.readline() == "started\n"
            sent = time.monotonic()
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "interrupted\n"
            waited = time.monotonic() - sent
            return waited, *map(int, process.stdout.readline().split())
        finally:
            process.kill()


@pytest.mark.skipif(os.name == "nt", reason="needs SIGINT")
@pytest.mark.parametrize("n_jobs", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_ctrl_c_stops_a_sum(n_jobs):
    waited, begun, _, later = interrupt(n_jobs, seconds=0.2)
    assert waited < 3
    assert later == begun < 50  # no block begins after the interrupt


@pytest.mark.skipif(os.name == "nt", reason="needs SIGINT")
def test_ctrl_c_does_not_wait_for_the_blocks_in_work():
    _, begun, done, _ = interrupt(n_jobs=2, seconds=8)
    assert begun == 2
    assert done == 0


@pytest.mark.parametrize("rows", [0, -1])
def test_a_block_has_at_least_one_row(rows):
    with pytest.raises(ValueError, match=f"block_rows is {rows}; 1 or more"):
        Stream(block_rows=rows).sum(np.sum, np.ones((3, 2)), row_bytes=8)


def test_little_work_holds_blas_to_one_thread_and_much_does_not():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with blas_for(1e6):
            assert set(blas_threads()) == {1}
        assert blas_threads() == before
        with blas_for(1e12):
            assert blas_threads() == before


def test_what_needs_more_than_the_limit():
    Stream("2MB").require(2_000_000, "The matrix needs", "Raise memory_limit.")
    with pytest.raises(MemoryError) as error:
        Stream("1MB").require(2_000_000, "The matrix needs", "Raise memory_limit.")
    assert str(error.value) == (
        "The matrix needs 2 MB, beyond memory_limit=1 MB. Raise memory_limit."
    )
