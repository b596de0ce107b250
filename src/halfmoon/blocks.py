"""Map-reduce over row blocks: a function of a block, summed or stacked.

Everything that halfmoon learns from a table is a sum over its rows, so this is the only
loop over rows. It does not depend on what is summed.

- Blocks are converted to float64; the table may be float32, a memory map or CSR.
- Workers are threads, because NumPy releases the interpreter lock in matrix products.
  Each worker limits BLAS to one thread. A single block uses all BLAS threads.
- Results are combined in the order of the blocks, so for a given block size the sum is
  the same to the last bit for any number of workers.
- An exception in a block stops the others and is raised unchanged; so is Ctrl-C.
- Rows in partitions (`halfmoon._partitions`) stay there: each partition is one task,
  which sums its blocks as above with one worker.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, TypeAlias, cast

import joblib
import numpy as np
import scipy.sparse as sp
from threadpoolctl import ThreadpoolController

from halfmoon._memory import MEMORY_LIMIT, format_bytes, parse_bytes
from halfmoon._partitioned_rows import PartitionedRows, in_order
from halfmoon._rows import Array, Rows

__all__ = ["Stream"]

Progress: TypeAlias = Callable[[int, int], None]  # rows done, total rows
Block: TypeAlias = Callable[[], tuple[Rows, ...]]  # reads one block of each table

# Temporaries of one block. Larger blocks do not fit the cache and delay Ctrl-C; smaller
# ones make matrix products too thin to run at full speed.
BLOCK_BYTES = 48_000_000

POLL_SECONDS = 0.25  # between checks for Ctrl-C

# With fewer operations, a tenth of a second, BLAS threads cost more than they gain:
# they wait for each other in every step of a factorization. With two threads of
# OpenBLAS, eigenvectors of 500 to 1,500 rows took 1.1 to 1.7 times as long.
SMALL_OPERATIONS = 10_000_000_000

_this_thread = threading.local()
_inherited: ContextVar[Stream | None] = ContextVar("halfmoon_stream", default=None)


def worker_count(n_jobs: int | None = None) -> int:
    """Return the number of workers; None or -1 means all cores of this process."""
    if n_jobs == 0:
        raise ValueError("n_jobs is 0; a number, or None for all cores, is needed.")
    n_jobs = -1 if n_jobs is None else n_jobs
    return n_jobs if n_jobs > 0 else max(1, _cores() + 1 + n_jobs)


def free_workers(n_jobs: int | None = None) -> int:
    """Return the number of workers to start: one, if this is a worker already."""
    return 1 if _flag("in_worker") else worker_count(n_jobs)


def blas_for(operations: float) -> AbstractContextManager[Any]:
    """Return a context that limits BLAS to one thread if there is little work."""
    if operations > SMALL_OPERATIONS:
        return nullcontext()
    return _single_threaded_blas()


@dataclass(frozen=True)
class Stream:
    """How to process a table by row blocks: memory, workers, progress.

    Parameters
    ----------
    memory_limit : int or str
        Bytes for all blocks in work together.
    n_jobs : int or None
        Number of threads; None means all cores.
    progress : callable or None
        Called with (rows done, total rows) after each block.
    block_rows : int or None
        Rows in a block; the last block may be shorter. None follows from the memory
        limit.
    client : distributed.Client or None
        Runs rows in partitions. None is the current client of `distributed`, or Dask's
        own scheduler if there is none.

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
        """Return the state without the client, which belongs to this process."""
        return {**vars(self), "client": None}

    @classmethod
    def inherited(cls) -> Stream:
        """Return the stream of the enclosing work, without its progress.

        Bases, smoothers and the choice of landmarks use it for their passes over rows,
        because no stream is passed to them.

        Examples
        --------
        >>> with Stream("1MB", n_jobs=1).handed_down():
        ...     Stream.inherited().n_jobs
        1
        >>> Stream.inherited() == Stream()
        True
        """
        return _inherited.get() or cls()

    @contextmanager
    def handed_down(self) -> Iterator[None]:
        """Make `inherited` return this memory limit and these workers, as a context.

        The functions that `sum` and `map` call run in such a context.
        """
        stream = Stream(self.memory_limit, self.n_jobs, client=self.client)
        token = _inherited.set(stream)
        try:
            yield
        finally:
            _inherited.reset(token)

    @property
    def limit(self) -> int:
        """The memory limit in bytes."""
        return parse_bytes(self.memory_limit)

    def require(self, needed: int, what: str, advice: str) -> None:
        """Raise a MemoryError if something needs more bytes than the limit."""
        if needed > self.limit:
            raise MemoryError(
                f"{what} {format_bytes(needed)}, beyond memory_limit="
                f"{format_bytes(self.limit)}. {advice}"
            )

    def sum(
        self,
        function: Callable[..., Any],
        *tables: Rows,  # each (n, ...)
        row_bytes: int,
    ) -> Any:
        """Return the sum of ``function(*blocks)`` over all blocks.

        Parameters
        ----------
        function : callable
            Takes one block of each table; returns an array or a tuple of arrays.
        *tables : arrays, memory maps or CSR arrays with the same number of rows
        row_bytes : int
            Bytes that `function` holds at once for each row.
        """
        # Closed at once if adding fails or is interrupted, so that workers stop too.
        with closing(self.in_order(function, *tables, row_bytes=row_bytes)) as results:
            first = next(results)
            several = isinstance(first, tuple)
            totals = tuple(np.array(part) for part in (first if several else (first,)))
            del first
            for result in results:
                parts = result if several else (result,)
                for total, part in zip(totals, parts, strict=True):
                    total += part
                del result, parts, part  # not held while the next block is in work
            return totals if several else totals[0]

    def map(
        self,
        function: Callable[..., Array],
        *tables: Rows,  # each (n, ...)
        row_bytes: int,
    ) -> Array:
        """Return ``function(*blocks)`` of all blocks, stacked, one output row a row."""
        if isinstance(tables[0], PartitionedRows):
            raise TypeError("Rows in partitions can only be summed, not stacked.")
        n = tables[0].shape[0]
        with closing(self.in_order(function, *tables, row_bytes=row_bytes)) as results:
            stacked = first = next(results)
            filled = len(first)
            if filled < n:  # filled block by block, so that results are not held twice
                stacked = np.empty((n, *first.shape[1:]), first.dtype)
                stacked[:filled] = first
            for result in results:
                start, filled = filled, filled + len(result)
                if filled <= n:
                    stacked[start:filled] = result
        if filled != n:
            raise ValueError(
                f"The function returned {filled} rows in all; one output row for each "
                f"of the {n} rows is needed."
            )
        return stacked

    def rows_in_block(self, row_bytes: int) -> int:
        """Return the rows in a block for which all workers respect the memory limit."""
        if self.block_rows is not None:
            if self.block_rows < 1:
                raise ValueError(
                    f"block_rows is {self.block_rows}; 1 or more is needed, or None."
                )
            return self.block_rows
        workers = 1 if _flag("alone") else worker_count(self.n_jobs)
        share = self.limit // workers
        if share < row_bytes:
            raise MemoryError(
                f"One row needs {format_bytes(row_bytes)} in each of {workers} "
                f"worker(s), more than memory_limit={format_bytes(self.limit)}. Raise "
                f"memory_limit, lower n_components, or set n_jobs=1."
            )
        return max(1, min(BLOCK_BYTES, share) // row_bytes)

    def in_order(
        self, function: Callable[..., Any], *tables: Rows, row_bytes: int
    ) -> Generator[Any, None, None]:
        """Yield ``function(*blocks)`` of all blocks, in their order; see `sum`."""
        if isinstance(tables[0], PartitionedRows):
            yield from self._by_partition(function, tables, row_bytes)
            return
        row_bytes += sum(_converted_bytes(table) for table in tables)
        blocks, n = _split(tables, self.rows_in_block(row_bytes))
        if len(blocks) == 1:
            with self.handed_down():
                result = function(*blocks[0]())
            yield result
            self._report(n, n)
            return
        workers = min(worker_count(self.n_jobs), len(blocks))
        nested = _flag("in_worker")

        def work(block: Block) -> tuple[int, Any]:
            _this_thread.in_worker = True
            try:
                parts = block()
                with self.handed_down():
                    return parts[0].shape[0], function(*parts)
            finally:
                _this_thread.in_worker = nested

        if nested:  # in a worker already, which limits BLAS
            results: Iterator[Any] = map(work, blocks)
        else:
            results = side_by_side(work, blocks, workers)
        done = 0
        for rows, result in results:
            yield result
            del result  # as in `sum`
            done += rows
            self._report(done, n)

    def _by_partition(
        self, function: Callable[..., Any], tables: tuple[Any, ...], row_bytes: int
    ) -> Iterator[Any]:
        """Yield the sum of each partition that has rows, in their order."""
        table, *others = tables
        if others:
            raise ValueError(
                "Rows in partitions cannot be summed together with other tables; give "
                "one table."
            )
        stream = Stream(self.memory_limit, n_jobs=1, block_rows=self.block_rows)
        work = partial(_sum_of_partition, stream, function, row_bytes)
        done = 0
        # BLAS is limited here too: the tasks may be threads of this process.
        with _single_threaded_blas(), closing(table.map(work, self.client)) as results:
            for rows, result in results:
                if rows:
                    yield result
                    done += rows
                    self._report(done, table.n)

    def _report(self, done: int, n: int) -> None:
        if self.progress is not None:
            self.progress(done, n)


def _split(tables: tuple[Rows, ...], block_rows: int) -> tuple[list[Block], int]:
    """Return functions that read the blocks of the tables, and the number of rows."""
    n = tables[0].shape[0]
    if any(table.shape[0] != n for table in tables):
        raise ValueError(
            f"The tables have {[table.shape[0] for table in tables]} rows; the same "
            f"number of rows is needed."
        )
    if n == 0:
        raise ValueError("The table has no rows; at least one is needed.")

    def block(start: int) -> Block:
        rows = slice(start, min(start + block_rows, n))
        return lambda: tuple(_as_float64(table[rows]) for table in tables)

    return [block(start) for start in range(0, n, block_rows)], n


@contextmanager
def alone() -> Iterator[None]:
    """Run one task among many: one thread, one BLAS thread, blocks for one worker.

    The results of a task are then the same to the last bit wherever it runs.
    """
    before = _flag("in_worker"), _flag("alone")
    _this_thread.in_worker = _this_thread.alone = True
    try:
        with _single_threaded_blas():
            yield
    finally:
        _this_thread.in_worker, _this_thread.alone = before


def _sum_of_partition(
    stream: Stream, function: Callable[..., Any], row_bytes: int, rows: Rows
) -> tuple[int, Any]:
    """Return the number of rows in a partition and their sum; None without rows."""
    n = rows.shape[0]
    with alone():
        return n, stream.sum(function, rows, row_bytes=row_bytes) if n else None


def _flag(name: str) -> bool:
    return getattr(_this_thread, name, False)


def _single_threaded_blas() -> AbstractContextManager[Any]:
    return cast(AbstractContextManager[Any], _blas().limit(limits=1, user_api="blas"))


def side_by_side(
    work: Callable[[Any], Any], items: Iterable[Any], workers: int, ahead: int = 1
) -> Generator[Any, None, None]:
    """Yield the results of a function for each item, in order, computed by threads.

    Each thread uses one BLAS thread. An exception stops the others and is raised
    unchanged; so is Ctrl-C. Some items are taken `ahead` of those in work, so that no
    thread waits for the caller or for an item that takes long to make.
    """
    if workers == 1:
        with _single_threaded_blas():  # as in every thread, for the same rounding
            yield from map(work, items)
        return
    pool = ThreadPoolExecutor(workers, thread_name_prefix="halfmoon")
    interrupted = True
    try:
        with _single_threaded_blas():
            yield from in_order(
                lambda item: pool.submit(work, item), items, workers + ahead, _result
            )
        interrupted = False
    except Exception:
        interrupted = False
        raise
    finally:
        # A running block cannot be stopped, so Ctrl-C does not wait for it.
        pool.shutdown(wait=not interrupted, cancel_futures=True)


def _result(future: Future[Any]) -> Any:
    while not future.done():  # one long wait could miss a Ctrl-C just before it
        wait([future], timeout=POLL_SECONDS)
    return future.result()


def _as_float64(block: Rows) -> Rows:
    return block.astype(np.float64) if _is_converted(block) else block


def _is_converted(table: Rows) -> bool:
    return table.dtype.kind == "f" and table.dtype != np.float64


def _converted_bytes(table: Rows) -> int:
    """Return the bytes of a row in float64 and of a copy, if blocks are converted."""
    entries = table.nnz if sp.issparse(table) else table.size
    return -(-16 * entries // table.shape[0]) if _is_converted(table) else 0


_cores = cache(joblib.cpu_count)  # reads system files, so only once
_blas = cache(ThreadpoolController)
