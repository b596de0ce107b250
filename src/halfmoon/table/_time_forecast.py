"""A forecast of how long it takes to fill a table.

Reading and writing every row takes about twice as long as reading it in the first pass.
The time of predictions is measured on some rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

from halfmoon._costs import duration, in_words, seconds_a_call
from halfmoon._report.findings import Note
from halfmoon.table._first_pass import Scan

__all__ = ["TimeForecast"]

LONG_SECONDS = 60.0  # a shorter run needs no forecast
PROBE_ROWS = 500
PROBE_SECONDS = 0.1
WRITE_FACTOR = 2.0  # time of reading and writing relative to reading


@dataclass(frozen=True)
class TimeForecast:
    """The expected duration of the second pass, which begins now."""

    rows: int  # of the table
    seconds: float  # 0 for a table that was learned from as a whole
    begun: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, models: Sequence[Any], scan: Scan) -> Self:
        """Return the forecast for one model for each target, after the first pass."""
        if scan.n_rows <= scan.rows.num_rows:
            return cls(scan.n_rows, 0.0)
        probe = scan.rows.slice(0, PROBE_ROWS)
        probe_seconds = sum(
            seconds_a_call(partial(model.predict, probe), PROBE_SECONDS)
            for model in models
        )
        predicting = scan.n_rows * probe_seconds / max(1, probe.num_rows)
        return cls(scan.n_rows, WRITE_FACTOR * scan.seconds + predicting)

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
