"""The seam to whatever runs work beside its data: one method, `map`.

An engine applies a function to each partition and gives the results in the order of the
partitions. That is all that halfmoon asks of one: the functions are pure, so that an
engine may run a partition again, elsewhere, when a worker was lost, and results are
added in their order, so that who computed them, and when, changes no bit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, Protocol

__all__ = ["ByExecutor", "Engine", "InTurn", "in_order"]

Partition = tuple[Any, ...]  # the arguments of one call, as the engine has them


class Engine(Protocol):
    """What runs a function over partitions.

    Attributes
    ----------
    threads : int
        Partitions that are worked on at once; only for forecasts.
    """

    @property
    def threads(self) -> int:
        """Partitions that are worked on at once."""

    def map(
        self, function: Callable[..., Any], partitions: Sequence[Partition]
    ) -> Iterator[Any]:
        """``function(*partition)`` of each partition, in the order of the partitions.

        A few results may be ahead of the one that is taken; not all of them, because
        together they may not fit memory.
        """


class InTurn:
    """One partition after the other, here: the twin of every other engine.

    Examples
    --------
    >>> list(InTurn().map(lambda a, b: a * b, [(2, 3), (4, 5)]))
    [6, 20]
    """

    threads = 1

    def map(
        self, function: Callable[..., Any], partitions: Sequence[Partition]
    ) -> Iterator[Any]:
        """See `Engine`."""
        for partition in partitions:
            yield function(*partition)


@dataclass(frozen=True)
class ByExecutor:
    """Any `concurrent.futures.Executor`: threads, processes, or those of others.

    Parameters
    ----------
    executor : Executor
    ahead : int
        Partitions that are in work, or done and waiting, at once.

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
        """See `Engine`."""
        return int(getattr(self.executor, "_max_workers", 1))

    def map(
        self, function: Callable[..., Any], partitions: Sequence[Partition]
    ) -> Iterator[Any]:
        """See `Engine`."""
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
    """Results of futures in the order of the partitions, a few of them ahead.

    Parameters
    ----------
    submit : callable
        Begins the work on a partition and returns a future of it.
    partitions : sequence
    ahead : int
        Futures held at once.
    """
    waiting: deque[Any] = deque()
    try:
        for partition in partitions:
            waiting.append(submit(partition))
            if len(waiting) >= ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:  # an error, or nobody wants the rest
        for future in waiting:
            future.cancel()
