r"""What long work costs: operations, bytes, and seconds, before it is begun.

For n rows of d columns and a basis of p kernel sections, in multiplications and
additions, an exponential counting as 20 of them:

==========================  ================================================
pass                        operations
==========================  ================================================
energy by gradients         n (4 p^2 + 2 p d + 25 p): two products of p by p
covariance                  n (2 p^2 + 2 p d + 25 p)
answers for t targets       n (2 p d + 25 p + 2 p t)
==========================  ================================================

Over m partitions a sum moves its function to each (the landmarks, 8 p d bytes) and its
result home (8 p^2 bytes for each p-by-p matrix); the rows stay where they are, but for
the labeled ones and a sample. Seconds follow from a probe: the same work on as many
rows as take a fraction of a second, here.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from halfmoon.memory import format_bytes

__all__ = [
    "Cost",
    "answer_operations",
    "duration",
    "energy_cost",
    "energy_operations",
    "in_words",
    "probe_rows",
    "seconds_a_call",
]

FLOAT = 8  # bytes
EXPONENTIAL = 20  # operations
PROBE_SECONDS = 0.2
PROBE_BYTES = 48_000_000  # as in a block of rows: what fits a cache is faster
MATRICES = 2  # that an energy brings home: A'A and (D * A)'A


@dataclass(frozen=True)
class Cost:
    """What a pass over rows takes.

    Attributes
    ----------
    rows : int
    operations : float
    bytes_moved : float
        Between partitions and home.
    seconds : float or None
        None where nothing was measured.
    """

    rows: int
    operations: float
    bytes_moved: float = 0.0
    seconds: float | None = None

    def __str__(self) -> str:
        work = f"{self.operations:.2g} operations"
        if self.bytes_moved:
            work += f", {format_bytes(self.bytes_moved)} moved"
        if self.seconds is None:
            return f"{self.rows:,} rows: {work}."
        return f"{in_words(self.seconds, self.rows)} That is {work}."


def energy_operations(n: int, d: int, p: int) -> float:
    """Of the energy of gradients of p kernel sections over n rows."""
    return float(n) * p * (4 * p + 2 * d + EXPONENTIAL + 5)


def answer_operations(n: int, d: int, p: int, t: int = 1) -> float:
    """Of the values of t functions of p kernel sections at n rows."""
    return float(n) * p * (2 * d + EXPONENTIAL + 5 + 2 * t)


def energy_cost(
    n: int,
    d: int,
    p: int,
    *,
    partitions: int = 0,
    rate: float | None = None,
    workers: int = 1,
    reading: float = 0.0,
) -> Cost:
    r"""The cost of an energy over n rows.

    Parameters
    ----------
    n, d, p : int
    partitions : int
        0 where the rows are in memory, and nothing moves.
    rate : float or None
        Operations a second of one worker.
    workers : int
    reading : float
        Seconds that reading all rows takes, as measured.

    Examples
    --------
    A thousand million rows, 500 partitions, 30 GFlop/s of each of 64 workers:

    >>> cost = energy_cost(10**9, 20, 1_000, partitions=500, rate=3e10, workers=64)
    >>> print(str(cost).replace(". ", ".\n"))
    About 35 minutes: 1,000,000,000 rows at 472,000 a second.
    That is 4.1e+15 operations, 8.08 GB moved.
    """
    operations = energy_operations(n, d, p)
    moved = partitions * FLOAT * (p * d + MATRICES * p * p)
    seconds = None if rate is None else reading + operations / (rate * workers)
    return Cost(n, operations, float(moved), seconds)


def probe_rows(p: int) -> int:
    """Rows of a probe with p kernel sections: as many as in a block of `Stream`."""
    return max(1, PROBE_BYTES // (2 * FLOAT * p))


def seconds_a_call(
    work: Callable[[], object],
    least: float = PROBE_SECONDS,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Seconds that work takes: the least of several times within a short while.

    Parameters
    ----------
    work : callable
    least : float
        Seconds to try for.
    clock : callable
        Of elapsed time, or `time.process_time`.
    """
    work()  # what is done once, such as imports, does not count
    best, start = np.inf, clock()
    while clock() - start < least or best == np.inf:
        before = clock()
        work()
        best = min(best, clock() - before)
    return float(best)


def in_words(seconds: float, rows: int) -> str:
    """How long it will take, for a person to read.

    Examples
    --------
    >>> in_words(222.0, 10_000_000)
    'About 4 minutes: 10,000,000 rows at 45,000 a second.'
    >>> in_words(40.0, 1_000_000)
    'About 40 seconds: 1,000,000 rows at 25,000 a second.'
    """
    rate = rows / seconds if seconds > 0 else float(rows)
    return f"About {duration(seconds)}: {rows:,} rows at {_rounded(rate):,} a second."


def duration(seconds: float) -> str:
    """A length of time, to the nearest unit.

    Examples
    --------
    >>> duration(222.0)
    '4 minutes'
    """
    for unit, size in (("day", 86_400.0), ("hour", 3_600.0), ("minute", 60.0)):
        if seconds >= 1.5 * size:
            return _several(round(seconds / size), unit)
    return _several(max(1, round(seconds)), "second")


def _several(number: int, unit: str) -> str:
    return f"{number} {unit}{'s' * (number != 1)}"


def _rounded(number: float) -> int:
    """To three digits."""
    return int(float(f"{number:.3g}"))
