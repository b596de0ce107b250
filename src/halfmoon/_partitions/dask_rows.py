"""Dask arrays and data frames. Only this file imports Dask.

A task is one partition. Tasks are pure, so a lost worker costs time but changes no bit.
No worker is named, no data are pinned, and nothing is scattered: the graph of a task
contains what it needs, so it can run again.
"""

from __future__ import annotations

import itertools
import logging
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import dask
import dask.array
import numpy as np

from halfmoon._partitioned_rows import Engine, Partition, Reader, in_order
from halfmoon.blocks import worker_count

__all__ = [
    "OutputExample",
    "Partitions",
    "connected",
    "engine_for",
    "lazy_frame",
    "map_lazily",
    "partitions_of",
    "split_like",
]

CONNECT_SECONDS = 10
AHEAD = 2  # partitions running or waiting, for each thread


@dataclass(frozen=True)
class Partitions:
    """The partitions of a Dask collection of rows."""

    parts: list[Any]  # Delayed
    sizes: tuple[int, ...] | None  # number of rows in each part, if known
    reader: Reader

    def rows_in_parts(self, client: Any = None) -> tuple[int, ...]:
        """Return the number of rows in each part, which may take a pass to count."""
        if self.sizes is not None:
            return self.sizes
        return tuple(engine_for(client).map(len, [(part,) for part in self.parts]))


def partitions_of(X: Any) -> Partitions:
    """Return the partitions of a Dask array or data frame of shape (n, d)."""
    if X.ndim != 2:
        raise ValueError(
            f"X is a {type(X).__name__} of {X.ndim} dimension(s); a table of rows and "
            f"columns is needed."
        )
    if _is_frame(X):
        columns = tuple(X.columns)
        single = set(map(str, X.dtypes)) == {"float32"}
        reader = Reader(columns, len(columns), "float32" if single else "float64")
        return Partitions(list(X.to_delayed()), None, reader)
    X = one_piece_of_columns(X)
    sizes = X.chunks[0]
    known = not any(np.isnan(size) for size in sizes)
    dtype = "float32" if X.dtype == np.float32 else "float64"
    reader = Reader(None, int(X.shape[1]), dtype)
    return Partitions(list(X.to_delayed()[:, 0]), sizes if known else None, reader)


def one_piece_of_columns(X: Any) -> Any:
    """Return a Dask array, (n, d), that is chunked along its rows only."""
    return X if len(X.chunks[1]) == 1 else X.rechunk({1: -1})


def split_like(y: Any, X: Partitions, name: str) -> list[Any]:
    """Return the parts of a collection, such as labels, with the partitions of X."""
    if _is_frame(y):
        parts = list(y.to_delayed())
    else:
        if X.sizes is not None and not np.isnan(y.shape[0]):
            if sum(X.sizes) != y.shape[0]:
                raise ValueError(
                    f"Found input variables with inconsistent numbers of samples: "
                    f"{name} has {y.shape[0]} rows, but X has {sum(X.sizes)} rows."
                )
            y = y.rechunk({0: X.sizes})
        if y.ndim == 2:
            y = one_piece_of_columns(y)
        parts = list(y.to_delayed().ravel())
    if len(parts) != len(X.parts):
        raise ValueError(
            f"{name} has {len(parts)} partition(s), but X has {len(X.parts)}, and "
            f"their sizes are not known; partitions with the same rows are needed. "
            f"Take both from one data frame, or call compute_chunk_sizes() first."
        )
    return parts


# ---- engines -------------------------------------------------------------------------


def engine_for(client: Any = None) -> Engine:
    """Return the engine of a client: the given or current one, or Dask without one."""
    if client is None and "distributed" in sys.modules:
        try:
            client = sys.modules["distributed"].get_client()
        except ValueError:  # there is none
            client = None
    if client is None:
        return OwnScheduler()
    if client.asynchronous:
        raise ValueError(
            "The client is asynchronous, but halfmoon waits for results. Use a client "
            "without asynchronous=True."
        )
    return OnCluster(client)


@contextmanager
def connected(address: str, workers: int | None = None) -> Iterator[Engine]:
    """Connect to a scheduler and yield its engine.

    The address is such as "tcp://10.0.0.1:8786"; or "local" for a number of processes
    on this machine, by default one for each core, which end with the context.
    """
    from distributed import Client, LocalCluster

    if address != "local":
        try:
            client = Client(address, timeout=CONNECT_SECONDS)
        except (OSError, TimeoutError, ValueError) as error:
            raise ConnectionError(
                f"No Dask scheduler answers at {address!r} ({type(error).__name__}). "
                f"Start one with 'dask scheduler', or use 'local'."
            ) from error
        with client:
            yield OnCluster(client)
        return
    with (
        LocalCluster(
            n_workers=workers or worker_count(),
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield OnCluster(client)


class OwnScheduler:
    """Runs partitions by Dask without a cluster, in threads or processes."""

    @property
    def threads(self) -> int:
        if dask.config.get("scheduler", None) in ("synchronous", "sync"):
            return 1
        return int(dask.config.get("num_workers", None) or worker_count())

    def map(
        self, function: Callable[..., Any], partitions: Sequence[Partition]
    ) -> Iterator[Any]:
        # In batches, because all results together may not fit in memory.
        tasks = _tasks(function, partitions)
        while batch := list(itertools.islice(tasks, AHEAD * self.threads)):
            results = deque(dask.compute(*batch))
            while results:
                yield results.popleft()


@dataclass(frozen=True)
class OnCluster:
    """Runs partitions on a client of `distributed`."""

    client: Any

    @property
    def threads(self) -> int:
        return max(1, sum(self.client.nthreads().values()))

    def map(
        self, function: Callable[..., Any], partitions: Sequence[Partition]
    ) -> Iterator[Any]:
        from distributed import KilledWorker

        tasks = _tasks(function, partitions)
        done = 0
        try:
            for result in in_order(
                lambda _: self.client.compute(next(tasks)),
                partitions,
                AHEAD * self.threads + 1,
            ):
                yield result
                done += 1
        except KilledWorker as error:
            raise RuntimeError(
                f"Partition {done} failed: all {error.allowed_failures + 1} workers "
                f"that tried it were lost. Most often it, or a partition that ran at "
                f"the same time, needs more memory than a worker has. Use smaller "
                f"partitions, fewer threads per worker or more memory, or raise "
                f"distributed.scheduler.allowed-failures."
            ) from error


def _tasks(
    function: Callable[..., Any], partitions: Sequence[Partition]
) -> Iterator[Any]:
    call, name = dask.delayed(function, pure=False), uuid4().hex
    for number, partition in enumerate(partitions):
        yield call(*partition, dask_key_name=f"halfmoon-{name}-{number}")


# ---- predictions ---------------------------------------------------------------------


@dataclass(frozen=True)
class OutputExample:
    """The output of a method for one row: one array, or several of the same shape."""

    values: list[Any]  # arrays of shape (1, ...)
    names: list[str]  # of the arrays, for columns of data frames
    columns: list[Any] | None  # names of the columns of each array, if it has several


def map_lazily(
    function: Callable[[Any, Any], list[Any]], model: Any, X: Any, one: OutputExample
) -> Any:
    """Return ``function(model, rows)`` of each partition as a lazy collection.

    The function returns as many arrays as `one` has, for one row or more. X is a Dask
    array or data frame; the result is of the same kind, or a tuple of several. The
    model is one task of the graph, so that it is sent once.
    """
    model = dask.delayed(model, pure=False, traverse=False)
    return (_frames if _is_frame(X) else _arrays)(function, model, X, one)


def _arrays(function: Any, model: Any, X: Any, one: OutputExample) -> Any:
    X = one_piece_of_columns(X)
    shape = one.values[0].shape[1:]
    dtype = np.result_type(*one.values)
    several = len(one.values) > 1
    if several:
        shape = (len(one.values), *shape)
    chunks = (X.chunks[0], *((size,) for size in shape))
    changed = {0: {"drop_axis": 1}, 1: {}, 2: {"new_axis": 2}}[len(shape)]
    both = X.map_blocks(
        _output_block, function, model, shape, several,
        dtype=dtype, chunks=chunks, meta=np.empty((0,) * (1 + len(shape)), dtype),
        **changed,
    )  # fmt: skip
    return tuple(both[:, i] for i in range(shape[0])) if several else both


def _output_block(
    rows: Any, function: Any, model: Any, shape: Any, several: bool
) -> Any:
    if rows.shape[0] == 0:
        return np.empty((0, *shape))
    values = function(model, rows)
    return np.stack(values, axis=1) if several else values[0]


def _frames(function: Any, model: Any, X: Any, one: OutputExample) -> Any:
    meta = _frame(one.values, None).iloc[:0]
    numbered = X.map_partitions(_output_frame, function, model, meta, meta=meta)
    width = len(meta.columns) // len(one.values)
    found = []
    for i, name in enumerate(one.names):
        if one.columns is None:
            found.append(numbered[i].rename(name))
            continue
        part = numbered[list(range(i * width, (i + 1) * width))]
        names = dict(zip(part.columns, one.columns, strict=True))
        found.append(part.rename(columns=names))
    return found[0] if len(found) == 1 else tuple(found)


def _output_frame(part: Any, function: Any, model: Any, empty: Any) -> Any:
    if len(part) == 0:
        return empty.set_index(part.index)
    return _frame(function(model, part), part.index)


def _frame(values: list[Any], index: Any) -> Any:
    """Return arrays as numbered columns of a data frame."""
    import pandas as pd

    columns = [column for part in values for column in np.atleast_2d(part.T)]
    return pd.DataFrame(dict(enumerate(columns)), index=index)


def lazy_frame(
    function: Any, arguments: Sequence[tuple[Any, ...]], like: Any, divisions: Any
) -> Any:
    """Return a data frame whose partitions are values of a function, as pandas frames.

    `arguments` are those for each partition, `like` an empty partition.
    """
    import dask.dataframe

    delayed = dask.delayed(function)
    parts = [delayed(*each) for each in arguments]
    return dask.dataframe.from_delayed(
        parts, meta=like, divisions=divisions, verify_meta=False
    )


def _is_frame(X: Any) -> bool:
    return hasattr(X, "to_dask_array")
