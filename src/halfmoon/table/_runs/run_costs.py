"""How much memory a run may use, how it is divided, and how long a run will take.

The limit is on the whole process, so what Python and its libraries take counts first.
Rows are read in batches and only a sample is kept. The limit therefore sets how many
rows are learned from, never how many can be filled.

To forecast the time, reading and writing every row takes about twice as long as reading
it in the first pass. The time of predictions is measured on a batch: fewer rows take
longer each. A prediction compares a row of d columns with the p rows or landmarks of
each member of the average: p (2 d + 25) operations, as in `halfmoon._costs`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self

from halfmoon._costs import (
    EXPONENTIAL_OPERATIONS,
    in_words,
    rough_duration,
    seconds_a_call,
    work_in_words,
)
from halfmoon._memory import format_bytes, parse_bytes
from halfmoon._notes import Note
from halfmoon.blocks import alone
from halfmoon.problem._local_fits import LocalFit
from halfmoon.table._files.table_interface import BATCH_ROWS
from halfmoon.table._runs.first_pass import Scan
from halfmoon.table._table_errors import CommandError, MemoryLimitError

__all__ = [
    "MemoryBudget",
    "TimeForecast",
    "limit_with_held",
    "peak_bytes",
    "resident_bytes",
]

BATCH_BYTES = 130_000_000  # for batches that are read and written, and for the report
MIN_FIT_BYTES = 200_000_000  # two regions of 1,200 labels at once take most of it
ROWS_SHARE = 0.05  # of the rest, for rows as they were read: as numbers they grow
FIT_SHARE = 0.6  # of the rest
STEP_BYTES = 50_000_000  # to which a suggested limit is rounded up

LONG_SECONDS = 60.0  # a shorter run needs no forecast
PROBE_ROWS = (500, BATCH_ROWS)  # more only if the first were quick
PROBE_SECONDS = 0.1
WRITE_FACTOR = 2.0  # time of reading and writing relative to reading


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
    """Return the peak memory of the process, 0 where that is unknown.

    Linux counts it for this program alone. The peak of `getrusage` includes the memory
    of the process that started it.
    """
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    for line in lines:
        if line.startswith("VmHWM"):
            return 1024 * int(line.split()[1])
    try:
        import resource
    except ImportError:  # Windows
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * unit


@dataclass(frozen=True)
class TimeForecast:
    """The expected duration of the second pass, which begins now."""

    rows: int  # to write
    seconds: float  # 0 for a table that was learned from as a whole
    begun: float = field(default_factory=time.monotonic)
    operations: float = 0.0  # of the predictions
    bytes_moved: float = 0.0  # read and written

    @classmethod
    def of(
        cls,
        models: Sequence[Any],
        scan: Scan,
        at_once: int = 1,
        share: float = 1.0,
        size: int = 0,
    ) -> Self:
        """Return the forecast for one model for each target, after the first pass.

        `at_once` is the number of files that are filled at once, each in one thread,
        and `share` that of the rows that are still to be written. `size` is that of the
        table in bytes.
        """
        rows = round(share * scan.n_rows)
        work = {
            "operations": float(rows) * sum(map(_operations_a_row, models)),
            "bytes_moved": 2.0 * share * size,
        }
        if scan.n_rows - scan.n_ignored <= scan.rows.num_rows:
            return cls(rows, 0.0, **work)
        with alone() if at_once > 1 else nullcontext():
            a_row = sum(_seconds_a_row(model, scan.rows) for model in models)
        reading_and_writing = WRITE_FACTOR * share * scan.seconds
        return cls(rows, (reading_and_writing + rows * a_row) / at_once, **work)

    def tell(self, say: Callable[[str], None]) -> None:
        """Say how long it will take, if that is long."""
        if self.seconds >= LONG_SECONDS:
            say(in_words(self.seconds, self.rows, self._work))

    def notes(self) -> Iterator[Note]:
        """Note the expected and the actual duration, if it is long."""
        if self.seconds >= LONG_SECONDS:
            taken = rough_duration(time.monotonic() - self.begun)
            work = f" That was {self._work}." if self._work else ""
            yield Note(
                f"Filling was expected to take {rough_duration(self.seconds)} and took "
                f"{taken}.{work}"
            )

    @property
    def _work(self) -> str:
        """The amount of work; empty if it is not known."""
        known = self.operations and self.bytes_moved
        return work_in_words(self.operations, self.bytes_moved) if known else ""


def _operations_a_row(model: Any) -> float:
    """Return the operations of a prediction, 0 for a model that is no average."""
    solution = getattr(getattr(model, "estimator_", None), "solution_", None)
    members = getattr(solution, "members", ())
    if not members:
        return 0.0
    a_value = 2 * len(model.encoder_.names) + EXPONENTIAL_OPERATIONS + 5
    fits = [member.fit for member in members]
    compared = [
        len(fit.duals[0] if isinstance(fit, LocalFit) else fit.theta) for fit in fits
    ]
    return float(sum(compared) * a_value)


def _seconds_a_row(model: Any, rows: Any) -> float:
    """Return the measured time of a prediction in a batch."""
    seconds = 0.0
    for size in PROBE_ROWS:
        probe = rows.slice(0, size)
        seconds = seconds_a_call(partial(model.predict, probe), PROBE_SECONDS)
        if seconds > PROBE_SECONDS:
            break
    return seconds / max(1, probe.num_rows)
