r"""Cost of long computations in operations, bytes and seconds, before they start.

The energy by gradients of p kernel sections over n rows of d columns takes

.. math:: n (4 p^2 + 2 p d + 25 p)

multiplications and additions: two products of p by p for each row, distances, and an
exponential, which counts as 20. Over m partitions, a sum sends its function to each
(the landmarks, 8 p d bytes) and gets back the results (8 p^2 bytes for each p-by-p
matrix). The rows stay where they are, except for the labeled ones and a sample. Seconds
follow from a probe: the same work on this machine, on as many rows as take a fraction
of a second.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from halfmoon._memory import format_bytes

__all__ = [
    "EXPONENTIAL_OPERATIONS",
    "EnergyCost",
    "in_words",
    "rough_duration",
    "seconds_a_call",
    "work_in_words",
]

FLOAT_BYTES = 8
EXPONENTIAL_OPERATIONS = 20
PROBE_SECONDS = 0.2
ENERGY_MATRICES = 2  # sent back by an energy: A'A and (D * A)'A


class EnergyCost(NamedTuple):
    """The cost of an energy by gradients over rows in partitions."""

    n: int  # rows
    d: int  # columns
    p: int  # kernel sections
    partitions: int = 0

    @property
    def operations(self) -> float:
        """Multiplications and additions."""
        a_section = 4 * self.p + 2 * self.d + EXPONENTIAL_OPERATIONS + 5
        return float(self.n) * self.p * a_section

    @property
    def bytes_moved(self) -> int:
        """Bytes to and from the partitions."""
        numbers = self.p * self.d + ENERGY_MATRICES * self.p**2
        return self.partitions * FLOAT_BYTES * numbers

    def seconds(self, rate: float, workers: int = 1, reading: float = 0.0) -> float:
        """Return the seconds for workers with a rate, in operations per second each.

        `reading` is the measured seconds for reading all rows.
        """
        return reading + self.operations / (rate * workers)

    def in_words(self, seconds: float) -> str:
        """Return the expected duration and the work as two sentences.

        Examples
        --------
        A billion rows in 500 partitions, with 64 workers of 30 GFlop/s each:

        >>> cost = EnergyCost(10**9, 20, 1_000, 500)
        >>> cost.in_words(cost.seconds(3e10, workers=64))  # doctest: +ELLIPSIS
        'About 35 minutes: 1,000,000,000 rows at 472,000 a second. That is 4.1e+15 ...'
        """
        return in_words(
            seconds, self.n, work_in_words(self.operations, self.bytes_moved)
        )


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


def work_in_words(operations: float, bytes_moved: float) -> str:
    """Return the amount of work as text.

    Examples
    --------
    >>> work_in_words(4.53e11, 2_500_000_000)
    '4.5e+11 operations, 2.5 GB moved'
    """
    return f"{operations:.2g} operations, {format_bytes(int(bytes_moved))} moved"


def in_words(seconds: float, rows: int, work: str = "") -> str:
    """Return the expected duration as a sentence, and the work as another.

    Examples
    --------
    >>> in_words(222.0, 10_000_000)
    'About 4 minutes: 10,000,000 rows at 45,000 a second.'
    >>> in_words(40.0, 1_000_000)
    'About 40 seconds: 1,000,000 rows at 25,000 a second.'
    """
    rate = rows / seconds if seconds > 0 else float(rows)
    sentence = f"{rows:,} rows at {_rounded(rate):,} a second."
    return f"About {rough_duration(seconds)}: {sentence}" + (
        f" That is {work}." if work else ""
    )


def rough_duration(seconds: float) -> str:
    """Return a duration as text, to the nearest unit.

    Examples
    --------
    >>> rough_duration(222.0)
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
