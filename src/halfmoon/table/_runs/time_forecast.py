"""A forecast of how long it takes to fill a table.

Reading and writing every row takes about twice as long as reading it in the first pass.
The time of predictions is measured on a batch: fewer rows take longer each.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

from halfmoon._costs import duration, in_words, seconds_a_call
from halfmoon._report.findings import Note
from halfmoon.blocks import alone
from halfmoon.table._files.table_interface import BATCH_ROWS
from halfmoon.table._runs.first_pass import Scan

__all__ = ["TimeForecast"]

LONG_SECONDS = 60.0  # a shorter run needs no forecast
PROBE_ROWS = (500, BATCH_ROWS)  # more only if the first were quick
PROBE_SECONDS = 0.1
WRITE_FACTOR = 2.0  # time of reading and writing relative to reading


@dataclass(frozen=True)
class TimeForecast:
    """The expected duration of the second pass, which begins now."""

    rows: int  # to write
    seconds: float  # 0 for a table that was learned from as a whole
    begun: float = field(default_factory=time.monotonic)

    @classmethod
    def of(
        cls, models: Sequence[Any], scan: Scan, at_once: int = 1, share: float = 1.0
    ) -> Self:
        """Return the forecast for one model for each target, after the first pass.

        `at_once` is the number of files that are filled at once, each in one thread,
        and `share` that of the rows that are still to be written.
        """
        rows = round(share * scan.n_rows)
        if scan.n_rows <= scan.rows.num_rows:
            return cls(rows, 0.0)
        with alone() if at_once > 1 else nullcontext():
            a_row = sum(_seconds_a_row(model, scan.rows) for model in models)
        reading_and_writing = WRITE_FACTOR * share * scan.seconds
        return cls(rows, (reading_and_writing + rows * a_row) / at_once)

    def tell(self, say: Callable[[str], None]) -> None:
        """Say how long it will take, if that is long."""
        if self.seconds >= LONG_SECONDS:
            say(in_words(self.seconds, self.rows))

    def notes(self) -> Iterator[Note]:
        """Note the expected and the actual duration, if it is long."""
        if self.seconds >= LONG_SECONDS:
            taken = duration(time.monotonic() - self.begun)
            yield Note(
                f"Filling was expected to take {duration(self.seconds)} and took "
                f"{taken}."
            )


def _seconds_a_row(model: Any, rows: Any) -> float:
    """Return the measured time of a prediction in a batch."""
    seconds = 0.0
    for size in PROBE_ROWS:
        probe = rows.slice(0, size)
        seconds = seconds_a_call(partial(model.predict, probe), PROBE_SECONDS)
        if seconds > PROBE_SECONDS:
            break
    return seconds / max(1, probe.num_rows)
