"""How long filling in a table will take, before it is begun, and how long it took.

Every row is read and written once more, which takes about twice as long as the first
pass took to read it, and is predicted; the rate of predictions is that of some rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from halfmoon.costs import duration, in_words, seconds_a_call
from halfmoon.report.findings import Note
from halfmoon.table.scan import Scan

__all__ = ["Forecast"]

LONG = 60.0  # seconds: what takes less needs no forecast
PROBE_ROWS = 500
PROBE_SECONDS = 0.1
READ_AND_WRITTEN = 2.0  # times as long as reading


class Predicts(Protocol):
    """A model of a table."""

    def predict(self, rows: Any) -> Any:
        """What it says of rows."""


@dataclass(frozen=True)
class Forecast:
    """What filling in is expected to take, from the moment that it is made.

    Attributes
    ----------
    rows : int
        In all.
    seconds : float
        Expected; 0 of tables that were learned from as a whole.
    """

    rows: int
    seconds: float
    begun: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, models: Sequence[Predicts], scan: Scan) -> Self:
        """The forecast for models of targets, one for each, after a first pass."""
        if scan.n_rows <= scan.rows.num_rows:
            return cls(scan.n_rows, 0.0)
        some = scan.rows.slice(0, PROBE_ROWS)
        asked = [
            seconds_a_call(lambda model=model: model.predict(some), PROBE_SECONDS)  # type: ignore[misc]
            for model in models
        ]
        a_row = sum(asked) / max(1, some.num_rows)
        return cls(scan.n_rows, READ_AND_WRITTEN * scan.seconds + scan.n_rows * a_row)

    def tell(self, say: Callable[[str], None]) -> None:
        """Say in a line how long it will take, if that is long."""
        if self.seconds >= LONG:
            say(in_words(self.seconds, self.rows))

    def notes(self) -> Iterator[Note]:
        """What was expected beside what it has taken until now."""
        if self.seconds >= LONG:
            taken = duration(time.monotonic() - self.begun)
            yield Note(
                f"Filling in was expected to take {duration(self.seconds)}, and took "
                f"{taken}."
            )
