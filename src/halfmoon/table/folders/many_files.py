"""A function of many files, some of them at once, the results in their order.

``mapped(function, files)`` is all that a folder asks of an engine: the function is
pure, takes one file and gives a small result, so that threads, processes or other
machines may run it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from halfmoon.blocks import alone, side_by_side, worker_count
from halfmoon.memory import parse_bytes
from halfmoon.table.allowance import BESIDE, resident_bytes

__all__ = ["files_at_once", "mapped"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def files_at_once(memory: str | int | None) -> int:
    """How many files may be worked on at once: one a core, if memory allows it."""
    cores = worker_count()
    if memory is None:
        return cores
    left = parse_bytes(memory) - resident_bytes()
    return max(1, min(cores, left // BESIDE))


def mapped(
    function: Callable[[Item], Result], items: Iterable[Item], workers: int
) -> Iterator[Result]:
    """Results of a function, in the order of what it is given.

    Each worker has one thread of BLAS, so that the results do not depend on how many
    workers there are. An exception in one stops the rest and comes out unchanged.
    """

    def work(item: Item) -> Result:
        with alone():
            return function(item)

    # Filters of warnings belong to the process: workers that set and reset them for
    # themselves would undo each other's.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from side_by_side(work, items, workers)
