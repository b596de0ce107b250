"""One map-reduce over row blocks: a function of a block, summed or stacked.

Everything that halfmoon learns from a table is a sum over its rows, so this is the
only loop over rows there is. It knows nothing of what is being summed.

- Blocks are lifted to float64; the table itself may be float32, a memory map or CSR.
- Workers are threads, each with BLAS held to one thread, because NumPy lets go of the
  interpreter lock inside matrix products. One block alone gets all of BLAS.
- Results are taken in the order of the blocks, so that the sum is the same to the last
  bit for a given block size, whatever the number of workers.
- An exception in a block stops the rest and comes out unchanged; so does Ctrl-C.
- Rows in partitions (`halfmoon.partitions`) stay there: each partition is one task,
  which walks through its blocks as above, with one worker, and returns their sum.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, TypeAlias, cast

import joblib
import numpy as np
from threadpoolctl import ThreadpoolController

from halfmoon.memory import MEMORY_LIMIT, format_bytes, parse_bytes
from halfmoon.partitions.table import PartitionedRows
from halfmoon.rows import Array, Rows

__all__ = [
    "Progress",
    "Stream",
    "alone",
    "blas_for",
    "side_by_side",
    "worker_count",
]

Progress: TypeAlias = Callable[[int, int], None]  # rows done, rows in all
Block: TypeAlias = Callable[[], tuple[Rows, ...]]  # reads one block of each table

# Temporaries of one block. Larger ones leave the cache and answer Ctrl-C later;
# smaller ones leave matrix products too thin to run at full rate.
BLOCK_BYTES = 48_000_000

TURN = 0.25  # seconds between looks at Ctrl-C

# Matrix products with fewer operations are over before a second thread has begun.
SMALL_OPERATIONS = 100_000_000

_inside_worker = threading.local()
_around: ContextVar[Stream | None] = ContextVar("halfmoon_stream", default=None)


def worker_count(n_jobs: int | None = None) -> int:
    """Number of workers: None or -1 is every core that this process may use."""
    cores = _cores()
    if n_jobs is None:
        return cores
    if n_jobs == 0:
        raise ValueError("n_jobs is 0; give a number, or None for all cores.")
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)


def blas_for(operations: float) -> AbstractContextManager[Any]:
    """A context with BLAS held to one thread, if there is but little work to do."""
    if operations > SMALL_OPERATIONS:
        return nullcontext()
    return _held_blas()


@dataclass(frozen=True)
class Stream:
    """How to walk through the rows of a table: memory, workers, progress.

    Parameters
    ----------
    memory_limit : int or str
        Bytes that the blocks in work may take together.
    n_jobs : int or None
        Number of threads; None is all cores.
    progress : callable or None
        Called with (rows done, rows in all) after each block.
    block_rows : int or None
        Rows in a block, the last one being shorter; None follows from the memory limit.
    client : distributed.Client or None
        What runs the partitions of rows that are in some; None is the current client
        of `distributed`, if there is one, else Dask's own scheduler.

    Examples
    --------
    >>> X = np.arange(10.0).reshape(5, 2)
    >>> Stream(block_rows=2).sum(lambda block: block.T @ block, X, row_bytes=32)
    array([[120., 140.],
           [140., 165.]])
    >>> Stream(block_rows=2).map(lambda block: block.sum(axis=1), X, row_bytes=8)
    array([ 1.,  5.,  9., 13., 17.])
    """

    memory_limit: int | str = MEMORY_LIMIT
    n_jobs: int | None = None
    progress: Progress | None = None
    block_rows: int | None = None
    client: Any = None

    def __getstate__(self) -> dict[str, Any]:
        """What is stored: a client is of this process alone."""
        return {**vars(self), "client": None}

    @classmethod
    def inherited(cls) -> Stream:
        """The stream of the work around this one, without its progress.

        It serves passes over rows deep within a basis, a smoother or the choice of
        landmarks, to which nobody hands a stream.

        Examples
        --------
        >>> with Stream("1MB", n_jobs=1).handed_down():
        ...     Stream.inherited().n_jobs
        1
        >>> Stream.inherited() == Stream()
        True
        """
        return _around.get() or cls()

    @contextmanager
    def handed_down(self) -> Iterator[None]:
        """A context in which `inherited` has the memory limit and the workers of this.

        Every function that this stream is given for its blocks runs in one.
        """
        token = _around.set(Stream(self.memory_limit, self.n_jobs, client=self.client))
        try:
            yield
        finally:
            _around.reset(token)

    def sum(
        self,
        function: Callable[..., Any],
        *tables: Rows,  # each (n, ...)
        row_bytes: int,
    ) -> Any:
        """Sum over blocks of ``function(*blocks)``, an array or a tuple of arrays.

        Parameters
        ----------
        function : callable
            Takes one block of each table; returns an array, or a tuple of arrays.
        *tables : arrays, memory maps or CSR arrays with the same number of rows
        row_bytes : int
            Bytes of temporaries that `function` needs for one row.
        """
        # Closed at once where adding fails or is interrupted: workers stop as well.
        with closing(self._in_order(function, tables, row_bytes)) as results:
            first = next(results)
            if not isinstance(first, tuple):
                total = np.array(first)
                for result in results:
                    total += result
                return total
            totals = tuple(np.array(part) for part in first)
            for result in results:
                for total, part in zip(totals, result, strict=True):
                    total += part
            return totals

    def map(
        self,
        function: Callable[..., Array],
        *tables: Rows,  # each (n, ...)
        row_bytes: int,
    ) -> Array:
        """Stack ``function(*blocks)``, which gives a row of output for each row."""
        if isinstance(tables[0], PartitionedRows):
            raise TypeError("Rows in partitions can be summed up, not stacked.")
        results = list(self._in_order(function, tables, row_bytes))
        return results[0] if len(results) == 1 else np.concatenate(results)

    def rows_in_block(self, row_bytes: int) -> int:
        """Rows in a block, such that all workers together keep to the memory limit."""
        if self.block_rows is not None:
            if self.block_rows < 1:
                raise ValueError(
                    f"block_rows is {self.block_rows}; 1 or more is needed, or None."
                )
            return self.block_rows
        budget = parse_bytes(self.memory_limit)
        workers = 1 if _is_alone() else worker_count(self.n_jobs)
        if budget // workers < row_bytes:
            raise MemoryError(
                f"One row needs {format_bytes(row_bytes)} in each of {workers} "
                f"worker(s), beyond memory_limit={format_bytes(budget)}. Raise "
                f"memory_limit, lower n_components, or set n_jobs=1."
            )
        return max(1, min(BLOCK_BYTES, budget // workers) // row_bytes)

    def _in_order(
        self, function: Callable[..., Any], tables: tuple[Rows, ...], row_bytes: int
    ) -> Generator[Any, None, None]:
        """Results of the blocks, in the order of the blocks."""
        if isinstance(tables[0], PartitionedRows):
            yield from self._by_partition(function, tables, row_bytes)
            return
        blocks, n = _partition(tables, self.rows_in_block(row_bytes))
        if len(blocks) == 1:
            with self.handed_down():
                result = function(*blocks[0]())
            yield result
            self._report(n, n)
            return
        workers = min(worker_count(self.n_jobs), len(blocks))
        nested = _is_nested()

        def work(block: Block) -> tuple[int, Any]:
            _inside_worker.flag = True
            try:
                parts = block()
                with self.handed_down():
                    return parts[0].shape[0], function(*parts)
            finally:
                _inside_worker.flag = nested

        if nested:  # in a worker already, where BLAS is held
            walk: Iterator[Any] = map(work, blocks)
        elif workers == 1:
            walk = _one_by_one(work, blocks)
        else:
            walk = side_by_side(work, blocks, workers)
        done = 0
        for rows, result in walk:
            yield result
            done += rows
            self._report(done, n)

    def _by_partition(
        self, function: Callable[..., Any], tables: tuple[Any, ...], row_bytes: int
    ) -> Iterator[Any]:
        """The sum of each partition that has rows, in the order of the partitions."""
        table, *others = tables
        if others:
            raise ValueError(
                "Rows in partitions cannot be walked through beside other tables."
            )
        stream = Stream(self.memory_limit, n_jobs=1, block_rows=self.block_rows)
        work = partial(_sum_of_partition, stream, function, row_bytes)
        done = 0
        # Held here as well: tasks that are threads of this process come and go.
        with _held_blas(), closing(table.map(work, self.client)) as results:
            for rows, result in results:
                if rows:
                    yield result
                    done += rows
                    self._report(done, table.n)

    def _report(self, done: int, n: int) -> None:
        if self.progress is not None:
            self.progress(done, n)


def _partition(tables: tuple[Rows, ...], block_rows: int) -> tuple[list[Block], int]:
    """Blocks of the tables, each to be read when it is worked on.

    The one place that knows how tables are cut: whatever comes in chunks of its own
    is to be cut along these here.
    """
    n = tables[0].shape[0]
    if any(table.shape[0] != n for table in tables):
        raise ValueError(
            f"Tables of {[table.shape[0] for table in tables]} rows cannot be walked "
            f"through together; the same number of rows is needed."
        )
    if n == 0:
        raise ValueError("There are no rows to walk through; at least one is needed.")

    def block(start: int) -> Block:
        rows = slice(start, min(start + block_rows, n))
        return lambda: tuple(_lift(table[rows]) for table in tables)

    return [block(start) for start in range(0, n, block_rows)], n


@contextmanager
def alone() -> Iterator[None]:
    """A context for one task among many: one thread, one of BLAS, blocks of one worker.

    What comes out is then the same to the last bit wherever the task runs.
    """
    before = _is_nested(), _is_alone()
    _inside_worker.flag = _inside_worker.alone = True
    try:
        with _held_blas():
            yield
    finally:
        _inside_worker.flag, _inside_worker.alone = before


def _sum_of_partition(
    stream: Stream, function: Callable[..., Any], row_bytes: int, rows: Rows
) -> tuple[int, Any]:
    """The number of rows in a partition, and their sum; None where there are none."""
    n = rows.shape[0]
    with alone():
        return n, stream.sum(function, rows, row_bytes=row_bytes) if n else None


def _is_nested() -> bool:
    return getattr(_inside_worker, "flag", False)


def _is_alone() -> bool:
    return getattr(_inside_worker, "alone", False)


def _held_blas() -> AbstractContextManager[Any]:
    """A context with BLAS held to one thread."""
    return cast(AbstractContextManager[Any], _blas().limit(limits=1, user_api="blas"))


def _one_by_one(work: Callable[[Block], Any], blocks: list[Block]) -> Iterator[Any]:
    with _held_blas():  # as in every worker: same rounding
        yield from map(work, blocks)


def side_by_side(
    work: Callable[[Any], Any], items: Iterable[Any], workers: int
) -> Iterator[Any]:
    """Results of a function in the order of what it is given, by some threads.

    BLAS is held to one thread in each. An exception stops the rest and comes out
    unchanged; so does Ctrl-C.
    """
    waiting: deque[Future[Any]] = deque()
    pool = ThreadPoolExecutor(workers, thread_name_prefix="halfmoon")
    interrupted = True
    try:
        with _held_blas():
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) > workers:  # one ahead: no worker waits for the sum
                    yield _result(waiting.popleft())
            while waiting:
                yield _result(waiting.popleft())
        interrupted = False
    except Exception:
        interrupted = False
        raise
    finally:
        # A block in work cannot be cut short, so Ctrl-C does not wait for it.
        pool.shutdown(wait=not interrupted, cancel_futures=True)


def _result(future: Future[Any]) -> Any:
    """The result of a block, waited for in short turns.

    A single long wait may sleep through a Ctrl-C that came just before it.
    """
    while not future.done():
        wait([future], timeout=TURN)
    return future.result()


def _lift(block: Rows) -> Rows:
    low = block.dtype.kind == "f" and block.dtype != np.float64
    return block.astype(np.float64) if low else block


@cache
def _cores() -> int:
    return int(joblib.cpu_count())  # reads files of the system: once is enough


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()
