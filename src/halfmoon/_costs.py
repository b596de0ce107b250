r"""Cost of long computations in operations, bytes and seconds, before they start.

For n rows of d columns and a basis of p kernel sections, in multiplications and
additions, where an exponential counts as 20:

==========================  ================================================
pass                        operations
==========================  ================================================
energy by gradients         n (4 p^2 + 2 p d + 25 p): two products of p by p
covariance                  n (2 p^2 + 2 p d + 25 p)
==========================  ================================================

Over m partitions, a sum sends its function to each (the landmarks, 8 p d bytes) and
gets back the results (8 p^2 bytes for each p-by-p matrix). The rows stay where they
are, except for the labeled ones and a sample. Seconds follow from a probe: the same
work on this machine, on as many rows as take a fraction of a second.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from halfmoon._memory import format_bytes

__all__ = [
    "Cost",
    "duration",
    "energy_cost",
    "energy_operations",
    "in_words",
    "probe_rows",
    "seconds_a_call",
]

FLOAT_BYTES = 8
EXPONENTIAL_OPERATIONS = 20
PROBE_SECONDS = 0.2
PROBE_BYTES = 48_000_000  # as in a row block; what fits in the cache is faster
ENERGY_MATRICES = 2  # sent back by an energy: A'A and (D * A)'A


@dataclass(frozen=True)
class Cost:
    """The cost of a pass over rows."""

    rows: int
    operations: float
    bytes_moved: float = 0.0  # to and from the partitions
    seconds: float | None = None  # None if nothing was measured

    def __str__(self) -> str:
        work = f"{self.operations:.2g} operations"
        if self.bytes_moved:
            work += f", {format_bytes(self.bytes_moved)} moved"
        if self.seconds is None:
            return f"{self.rows:,} rows: {work}."
        return f"{in_words(self.seconds, self.rows)} That is {work}."


def energy_operations(n: int, d: int, p: int) -> float:
    """Return the operations for the energy of p kernel sections over n rows."""
    return float(n) * p * (4 * p + 2 * d + EXPONENTIAL_OPERATIONS + 5)


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
    r"""Return the cost of an energy over n rows.

    Without partitions nothing is moved. `rate` is in operations per second of one
    worker, `reading` the measured seconds for reading all rows.

    Examples
    --------
    A billion rows in 500 partitions, with 64 workers of 30 GFlop/s each:

    >>> cost = energy_cost(10**9, 20, 1_000, partitions=500, rate=3e10, workers=64)
    >>> print(str(cost).replace(". ", ".\n"))
    About 35 minutes: 1,000,000,000 rows at 472,000 a second.
    That is 4.1e+15 operations, 8.08 GB moved.
    """
    operations = energy_operations(n, d, p)
    moved = partitions * FLOAT_BYTES * (p * d + ENERGY_MATRICES * p * p)
    seconds = None if rate is None else reading + operations / (rate * workers)
    return Cost(n, operations, float(moved), seconds)


def probe_rows(p: int) -> int:
    """Return the rows of a probe with p kernel sections: those of a row block."""
    return max(1, PROBE_BYTES // (2 * FLOAT_BYTES * p))


def seconds_a_call(
    work: Callable[[], object],
    least: float = PROBE_SECONDS,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Return the seconds that a call takes: the minimum of several runs.

    It is measured for at least `least` seconds of the clock.
    """
    work()  # a first run, because imports and caches do not count
    best, start = np.inf, clock()
    while clock() - start < least or best == np.inf:
        before = clock()
        work()
        best = min(best, clock() - before)
    return float(best)


def in_words(seconds: float, rows: int) -> str:
    """Return the expected duration as a sentence.

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
    """Return a duration as text, to the nearest unit.

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
    """Round to three digits."""
    return int(float(f"{number:.3g}"))
