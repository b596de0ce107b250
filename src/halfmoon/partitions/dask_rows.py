"""Dask: the one file that imports it.

A task is one partition; it is pure, so that a lost worker costs time and changes no
bit. No worker is named, no data are pinned, and nothing is scattered: what a task needs
is in its graph, and can be made again from there.
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

from halfmoon.blocks import worker_count
from halfmoon.partitions.engines import Engine, Partition, in_order
from halfmoon.partitions.table import Reader

__all__ = [
    "Answer",
    "Opened",
    "connected",
    "engine_for",
    "lazily",
    "opened",
    "pieces_like",
]

CONNECT_SECONDS = 10
AHEAD = 2  # partitions in work or waiting, for each thread


@dataclass(frozen=True)
class Opened:
    """A collection of rows, taken apart.

    Attributes
    ----------
    parts : list of Delayed
    sizes : tuple of int or None
        Rows in each part, where they are known.
    reader : Reader
    """

    parts: list[Any]
    sizes: tuple[int, ...] | None
    reader: Reader

    def rows_in_parts(self, client: Any = None) -> tuple[int, ...]:
        """Rows in each part, counted where they are not known."""
        if self.sizes is not None:
            return self.sizes
        return tuple(engine_for(client).map(len, [(part,) for part in self.parts]))


def opened(X: Any) -> Opened:
    """A dask array, or data frame, of shape (n, d) as its partitions."""
    if X.ndim != 2:
        raise ValueError(
            f"X is a {type(X).__name__} of {X.ndim} dimension(s); a table of rows and "
            f"columns is needed."
        )
    if _is_frame(X):
        columns = tuple(X.columns)
        kinds = {np.dtype(kind) if isinstance(kind, np.dtype) else None
                 for kind in X.dtypes}  # fmt: skip
        low = kinds == {np.dtype(np.float32)}
        reader = Reader(columns, len(columns), "float32" if low else "float64")
        return Opened(list(X.to_delayed()), None, reader)
    X = one_piece_of_columns(X)
    sizes = X.chunks[0]
    known = not any(np.isnan(size) for size in sizes)
    dtype = "float32" if X.dtype == np.float32 else "float64"
    reader = Reader(None, int(X.shape[1]), dtype)
    return Opened(list(X.to_delayed()[:, 0]), sizes if known else None, reader)


def one_piece_of_columns(X: Any) -> Any:
    """A dask array, (n, d), cut along its rows only."""
    return X if len(X.chunks[1]) == 1 else X.rechunk({1: -1})


def pieces_like(y: Any, X: Opened, name: str) -> list[Any]:
    """A collection beside X, such as its labels, cut as X is."""
    if _is_frame(y):
        parts = list(y.to_delayed())
    else:
        if X.sizes is not None and not np.isnan(y.shape[0]):
            if sum(X.sizes) != y.shape[0]:
                raise ValueError(
                    f"Found input variables with inconsistent numbers of samples: "
                    f"{name} has {y.shape[0]} rows beside {sum(X.sizes)} rows in X."
                )
            y = y.rechunk({0: X.sizes})
        if y.ndim == 2:
            y = one_piece_of_columns(y)
        parts = list(y.to_delayed().ravel())
    if len(parts) != len(X.parts):
        raise ValueError(
            f"{name} has {len(parts)} partition(s) beside {len(X.parts)} of X, and the "
            f"numbers of rows are not known; partitions with the same rows are needed. "
            f"Take both from one data frame, or call compute_chunk_sizes() first."
        )
    return parts


# ---- who does the work ---------------------------------------------------------------


def engine_for(client: Any = None) -> Engine:
    """A given client, else the current one, else Dask's own scheduler."""
    if client is None and "distributed" in sys.modules:
        try:
            client = sys.modules["distributed"].get_client()
        except ValueError:  # there is none
            client = None
    if client is None:
        return OwnScheduler()
    if client.asynchronous:
        raise ValueError(
            "The client is asynchronous, and halfmoon waits for its results. Give a "
            "client without asynchronous=True."
        )
    return OnCluster(client)


@contextmanager
def connected(address: str, workers: int | None = None) -> Iterator[Engine]:
    """A context with the engine of a scheduler.

    Parameters
    ----------
    address : str
        Such as "tcp://10.0.0.1:8786"; or "local", for processes of this machine, which
        end with the context.
    workers : int or None
        Of "local"; None is one for each core.
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
    """Dask without a cluster: threads, processes, or as its configuration says."""

    @property
    def threads(self) -> int:
        """See `Engine`."""
        if dask.config.get("scheduler", None) in ("synchronous", "sync"):
            return 1
        return int(dask.config.get("num_workers", None) or worker_count())

    def map(
        self, function: Callable[..., Any], partitions: Sequence[Partition]
    ) -> Iterator[Any]:
        """See `Engine`. A batch at a time, because results may not fit all at once."""
        tasks = _tasks(function, partitions)
        while batch := list(itertools.islice(tasks, AHEAD * self.threads)):
            results = deque(dask.compute(*batch))
            while results:
                yield results.popleft()


@dataclass(frozen=True)
class OnCluster:
    """A client of `distributed`."""

    client: Any

    @property
    def threads(self) -> int:
        """See `Engine`."""
        return max(1, sum(self.client.nthreads().values()))

    def map(
        self, function: Callable[..., Any], partitions: Sequence[Partition]
    ) -> Iterator[Any]:
        """See `Engine`."""
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
                f"Partition {done} was given up: every worker that took it on was lost "
                f"({error.allowed_failures + 1} in all). Most often it needs more "
                f"memory than a worker has. Use smaller partitions, fewer threads a "
                f"worker or more memory; distributed.scheduler.allowed-failures says "
                f"how many lost workers a partition may have."
            ) from error


def _tasks(
    function: Callable[..., Any], partitions: Sequence[Partition]
) -> Iterator[Any]:
    call, name = dask.delayed(function, pure=False), uuid4().hex
    for number, partition in enumerate(partitions):
        yield call(*partition, dask_key_name=f"halfmoon-{name}-{number}")


# ---- answers -------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """What a method gives for one row: one array, or several of the same shape.

    Attributes
    ----------
    values : list of ndarrays of shape (1, ...)
    names : list of str
        Of the arrays, as columns of data frames.
    columns : list or None
        Of each array, where it has more than one.
    """

    values: list[Any]
    names: list[str]
    columns: list[Any] | None


def lazily(
    function: Callable[[Any, Any], list[Any]], model: Any, X: Any, one: Answer
) -> Any:
    """``function(model, rows)`` of each partition, when it is asked for.

    Parameters
    ----------
    function : callable
        Gives as many arrays as `one` has, for rows of any number but 0.
    model : object
        One task of the graph, so that it is sent once.
    X : dask array or data frame of shape (b, d)
    one : Answer

    Returns
    -------
    dask array, series or data frame, or a tuple of them
    """
    model = dask.delayed(model, pure=False, traverse=False)
    return (_frames if _is_frame(X) else _arrays)(function, model, X, one)


def _arrays(function: Any, model: Any, X: Any, one: Answer) -> Any:
    X = one_piece_of_columns(X)
    shape = one.values[0].shape[1:]
    dtype = np.result_type(*one.values)
    several = len(one.values) > 1
    if several:
        shape = (len(one.values), *shape)
    chunks = (X.chunks[0], *((size,) for size in shape))
    changed = {0: {"drop_axis": 1}, 1: {}, 2: {"new_axis": 2}}[len(shape)]
    both = X.map_blocks(
        _answer_block, function, model, shape, several,
        dtype=dtype, chunks=chunks, meta=np.empty((0,) * (1 + len(shape)), dtype),
        **changed,
    )  # fmt: skip
    return tuple(both[:, i] for i in range(shape[0])) if several else both


def _answer_block(
    rows: Any, function: Any, model: Any, shape: Any, several: bool
) -> Any:
    if rows.shape[0] == 0:
        return np.empty((0, *shape))
    values = function(model, rows)
    return np.stack(values, axis=1) if several else values[0]


def _frames(function: Any, model: Any, X: Any, one: Answer) -> Any:
    meta = _frame(one.values, one, X._meta.index).iloc[:0]
    both = X.map_partitions(_answer_frame, function, model, one, meta=meta)
    width = len(meta.columns) // len(one.values)
    found = [
        both[list(meta.columns[i * width : (i + 1) * width])]
        for i in range(len(one.values))
    ]
    if one.columns is None:
        found = [each[name] for each, name in zip(found, one.names, strict=True)]
    elif len(found) > 1:
        found = [each.rename(columns=dict(zip(each.columns, one.columns, strict=True)))
                 for each in found]  # fmt: skip
    return found[0] if len(found) == 1 else tuple(found)


def _answer_frame(part: Any, function: Any, model: Any, one: Answer) -> Any:
    if len(part) == 0:
        return _frame(one.values, one, part.index[:0]).iloc[:0]
    return _frame(function(model, part), one, part.index)


def _frame(values: list[Any], one: Answer, index: Any) -> Any:
    """Arrays side by side as a data frame with the index of the rows."""
    import pandas as pd

    index = index if len(index) == len(values[0]) else None
    several = len(values) > 1
    columns: dict[Any, Any] = {}
    for name, part in zip(one.names, values, strict=True):
        if one.columns is None:
            columns[name] = part
        else:
            for j, column in enumerate(one.columns):
                columns[f"{name} {column}" if several else column] = part[:, j]
    return pd.DataFrame(columns, index=index)


def _is_frame(X: Any) -> bool:
    return hasattr(X, "to_dask_array")
