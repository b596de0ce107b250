"""How much memory a run may still use, and how it is shared out.

The limit is on the whole process: what Python and its libraries take is taken off
first. A table's rows are read in batches and a sample of them is kept, so the limit
sets how many rows are learned from, and never how many can be filled in.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from halfmoon.memory import format_bytes, parse_bytes
from halfmoon.table.errors import CommandError, MemoryLimitError

__all__ = ["Allowance", "peak_bytes", "resident_bytes"]

BESIDE = 130_000_000  # for batches that are read and written, and for the report
LEAST = 200_000_000  # for fitting: two cells of 1,200 labels at once take most of it
KEPT = 0.05  # of the rest, for rows as they were read: typed and as numbers they grow
LEARNING = 0.6  # of the rest, for fitting


@dataclass(frozen=True)
class Allowance:
    """What the parts of a run may hold, in bytes.

    Examples
    --------
    >>> Allowance.within("1GB", taken=300_000_000).learning
    342000000
    """

    rows: int
    learning: int

    @classmethod
    def within(cls, limit: str | int, taken: int | None = None) -> Allowance:
        """Share out what a limit leaves beside what is taken now.

        Parameters
        ----------
        limit : int or str
            For the whole process, such as "1GB".
        taken : int or None
            Bytes; None is what the process holds.
        """
        try:
            in_all = parse_bytes(limit)
        except ValueError as error:
            raise CommandError(f"memory (--memory): {error}") from error
        taken = resident_bytes() if taken is None else taken
        rest = in_all - taken - BESIDE
        if rest < LEAST:
            enough = 50_000_000 * -(-(taken + BESIDE + LEAST) // 50_000_000)
            raise MemoryLimitError(
                f"{_as_option(in_all)} of memory is too little: halfmoon and its "
                f"libraries take {format_bytes(taken)} before any row is read, and "
                f"{format_bytes(BESIDE + LEAST)} are needed to work, whatever the "
                f"size of the table. Allow {_as_option(enough)} or more of memory "
                f"(--memory)."
            )
        return cls(int(KEPT * rest), int(LEARNING * rest))


def _as_option(amount: int) -> str:
    """An amount as it may stand on a command line, without a blank."""
    return format_bytes(amount).replace(" ", "")


def resident_bytes() -> int:
    """What the process holds in memory now, or has held where that cannot be told."""
    status = Path("/proc/self/statm")
    if status.exists():
        import resource

        return int(status.read_text().split()[1]) * resource.getpagesize()
    return peak_bytes()


def peak_bytes() -> int:
    """The most that the process has held in memory; 0 where that cannot be told."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * unit
