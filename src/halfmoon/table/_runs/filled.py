"""What came of filling a table."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from halfmoon._notes import Note
from halfmoon.table._models.table_model import TableModel
from halfmoon.table._runs.first_pass import Scan
from halfmoon.table._runs.running_counts import RunningCounts
from halfmoon.table._runs.scored_rows import ScoredRows
from halfmoon.table._runs.second_pass import Job

__all__ = ["Filled"]


@dataclass(repr=False)
class Filled:
    """The result of filling a table.

    Attributes
    ----------
    model : TableModel
    scan : Scan or None
        What the first pass found; None if the model was learned before.
    tally : RunningCounts
        What the second pass counted.
    escaped : int
        Cells that got an apostrophe, because a spreadsheet would take them for
        formulas.
    sha256 : str
        Checksum of the table.
    seconds : float
    notes : tuple of Note
        On reading the file.
    scored : ScoredRows or None
        Known labels compared with predictions, if the model was learned before.
    """

    model: TableModel
    scan: Scan | None
    tally: RunningCounts
    escaped: int
    sha256: str
    seconds: float
    notes: tuple[Note, ...] = ()
    scored: ScoredRows | None = None

    @classmethod
    def of(
        cls,
        jobs: Sequence[Job],
        escaped: int,
        sha256: str,
        start: float,
        notes: Iterable[Note],
    ) -> list[Self]:
        """Return what came of each target; the first counts the escaped cells."""
        seconds, notes = time.monotonic() - start, tuple(notes)
        return [
            cls(
                job.model,
                job.scan,
                job.tally,
                0 if i else escaped,
                sha256,
                seconds,
                notes,
                job.scored,
            )
            for i, job in enumerate(jobs)
        ]

    def __repr__(self) -> str:
        filled = f"{self.tally.n:,} cells of {self.model.target!r} filled"
        given = "" if self.scan is None else f" from {self.scan.n_labeled:,} labels"
        return f"Filled({filled}{given} in {self.seconds:.1f} s)"
