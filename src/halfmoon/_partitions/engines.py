"""Engines, which run a function on partitions: one method, `map`.

An engine applies a function to each partition and returns the results in the order of
the partitions. The functions are pure, so an engine may rerun a partition elsewhere if
a worker is lost. Results are added in order, so they are the same to the last bit
wherever and whenever they are computed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, Protocol

__all__ = ["ByExecutor", "Engine", "InTurn", "in_order"]

Partition = tuple[Any, ...]  # the arguments of one call


class Engine(Protocol):
    """Runs a function on partitions."""

    @property
    def threads(self) -> int:
        """Number of partitions that run at once; used for forecasts only."""

    def map(
        self, function: Callable[..., Any], partitions: Sequence[Partition]
    ) -> Iterator[Any]:
        """Yield ``function(*partition)`` for each partition, in their order.

        A few results may be computed ahead, but not all: they may not fit in memory.
        """


class InTurn:
    """Runs one partition after the other, here. Other engines must agree with it.

    Examples
    --------
    >>> list(InTurn().map(lambda a, b: a * b, [(2, 3), (4, 5)]))
    [6, 20]
    """

    threads = 1

    def map(
        self, function: Callable[..., Any], partitions: Sequence[Partition]
    ) -> Iterator[Any]:
        for partition in partitions:
            yield function(*partition)


@dataclass(frozen=True)
class ByExecutor:
    """Runs partitions on any `concurrent.futures.Executor`: threads or processes.

    Parameters
    ----------
    executor : Executor
    ahead : int
        Number of partitions that are running, or done and waiting, at once.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(2) as pool:
    ...     list(ByExecutor(pool).map(pow, [(2, 3), (3, 2)]))
    [8, 9]
    """

    executor: Executor
    ahead: int = 8

    @property
    def threads(self) -> int:
        return int(getattr(self.executor, "_max_workers", 1))

    def map(
        self, function: Callable[..., Any], partitions: Sequence[Partition]
    ) -> Iterator[Any]:
        yield from in_order(
            lambda partition: self.executor.submit(function, *partition),
            partitions,
            self.ahead,
        )


def in_order(
    submit: Callable[[Partition], Any],
    partitions: Sequence[Partition],
    ahead: int,
) -> Iterator[Any]:
    """Yield the results of futures in the order of the partitions.

    Parameters
    ----------
    submit : callable
        Starts the work on a partition and returns its future.
    partitions : sequence
    ahead : int
        Number of futures held at once.
    """
    waiting: deque[Any] = deque()
    try:
        for partition in partitions:
            waiting.append(submit(partition))
            if len(waiting) >= ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:  # after an error, or if the caller stops early
        for future in waiting:
            future.cancel()
