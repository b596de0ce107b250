"""How much memory a run may use, and how it is divided.

The limit is on the whole process, so what Python and its libraries take counts first.
Rows are read in batches and only a sample is kept. The limit therefore sets how many
rows are learned from, never how many can be filled.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from halfmoon._memory import format_bytes, parse_bytes
from halfmoon.table._table_errors import CommandError, MemoryLimitError

__all__ = ["MemoryBudget", "limit_with_held", "peak_bytes", "resident_bytes"]

BATCH_BYTES = 130_000_000  # for batches that are read and written, and for the report
MIN_FIT_BYTES = 200_000_000  # two regions of 1,200 labels at once take most of it
ROWS_SHARE = 0.05  # of the rest, for rows as they were read: as numbers they grow
FIT_SHARE = 0.6  # of the rest
STEP_BYTES = 50_000_000  # to which a suggested limit is rounded up


@dataclass(frozen=True)
class MemoryBudget:
    """Bytes that the kept rows and the fit may take.

    Examples
    --------
    >>> MemoryBudget.within("1GB", taken=300_000_000).learning
    342000000
    """

    rows: int
    learning: int

    @classmethod
    def within(cls, limit: str | int, taken: int | None = None) -> MemoryBudget:
        """Divide what a limit such as "1GB" leaves.

        `taken` are the bytes that the process holds already; None measures them.
        """
        try:
            limit = parse_bytes(limit)
        except ValueError as error:
            raise CommandError(f"`memory`: {error}") from error
        taken = resident_bytes() if taken is None else taken
        rest = limit - taken - BATCH_BYTES
        if rest < MIN_FIT_BYTES:
            needed = BATCH_BYTES + MIN_FIT_BYTES
            enough = STEP_BYTES * -(-(taken + needed) // STEP_BYTES)
            libraries = (
                f"halfmoon and its libraries take {format_bytes(taken)} before any row "
                f"is read, and "
            )
            raise MemoryLimitError(
                f"{format_bytes(limit)} of memory is too little: "
                f"{libraries if taken else ''}{format_bytes(needed)} are needed for a "
                f"table of any size. Allow more: "
                f"`memory='{format_bytes(enough).replace(' ', '')}'`."
            )
        return cls(int(ROWS_SHARE * rest), int(FIT_SHARE * rest))


def limit_with_held(limit: str | int) -> str:
    """Return the limit of a process in which a run may add `limit` to what it holds."""
    MemoryBudget.within(limit, taken=0)  # refuses too little
    return str(resident_bytes() + parse_bytes(limit))


def resident_bytes() -> int:
    """Return the memory of the process; where that is unknown, its peak."""
    status = Path("/proc/self/statm")
    if status.exists():
        import resource

        return int(status.read_text().split()[1]) * resource.getpagesize()
    return peak_bytes()


def peak_bytes() -> int:
    """Return the peak memory of the process, 0 where that is unknown."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * unit
