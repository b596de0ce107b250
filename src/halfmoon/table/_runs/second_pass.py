"""The second pass: write every row again with its blanks filled; what came of it.

One thread reads and writes the batches in their order, while others predict.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from halfmoon._notes import Note
from halfmoon.blocks import alone, free_workers, side_by_side
from halfmoon.table._files import BATCH_ROWS, Batch, Table, TableOutput
from halfmoon.table._files.arrow_types import as_list, null_where
from halfmoon.table._labels.given_labels import GivenLabels
from halfmoon.table._models.predictions import Prediction
from halfmoon.table._models.table_model import TableModel
from halfmoon.table._models.weak_table_model import WeakTableModel
from halfmoon.table._runs.first_pass import Scan
from halfmoon.table._runs.output_columns import Cells
from halfmoon.table._runs.rows_without_data import not_data
from halfmoon.table._runs.running_counts import RunningCounts, UnsureRows
from halfmoon.table._runs.scored_rows import ScoredRows, Unseen

__all__ = ["Filled", "Job", "in_threads", "new_columns", "write_filled"]

CLEARED = ""  # empties a cell; None would leave its text
MAX_CELLS_AHEAD = 1_000_000  # of a batch, if several are predicted at once


@dataclass(frozen=True)
class _Asked:
    """What is to be predicted in a batch of n rows."""

    batch: Batch
    rows: pa.RecordBatch  # (b,), those to predict
    known: Sequence[Any] | None  # their partial labels, for `WeakTableModel`
    labels: Any  # (n,), None if the table has no such column
    blank: NDArray[np.bool_]  # (n,), where the rows are
    partial: NDArray[np.bool_]  # (n,), those of them that have a partial label
    skipped: NDArray[np.bool_]  # (n,), rows that are not filled


@dataclass
class Job:
    """A target to fill."""

    model: TableModel
    given: GivenLabels | None  # its labels; None if the table has no such column
    skip: Sequence[int] = ()  # numbers of rows that are not filled
    scored: ScoredRows | None = None  # compares known labels with predictions
    unseen: Unseen | None = None  # counts values that the model has not seen
    scan: Scan | None = None  # the first pass, if the model has just learned

    n_without_data: int = 0  # rows that are empty or belong to the header
    cells: Cells = field(init=False)  # how predictions are written
    tally: RunningCounts = field(init=False)  # counts over the predictions

    def __post_init__(self) -> None:
        self.cells = Cells.of(self.model)
        used = [use.name for use in self.model.columns_.used]
        self.tally = RunningCounts(self.cells.edges, UnsureRows(used))

    @classmethod
    def after(cls, scan: Scan, model: TableModel) -> Self:
        """Return the job of filling the table that a model has just learned from."""
        skip = [row.number for row in scan.totals]
        return cls(model, scan.given.again(), skip, scan=scan)

    def asked(self, batch: Batch) -> _Asked:
        """Return what is to be predicted in a batch; count and score what is known."""
        n = len(batch)
        labels, blank, partial = None, np.ones(n, dtype=bool), np.zeros(n, dtype=bool)
        skipped = not_data(batch).rows
        self.n_without_data += int(skipped.sum())
        totals = np.isin(batch.start + np.arange(n), self.skip)
        if self.given is not None:
            labels, blank = self.given.of(batch)
            partial = self.given.is_open(labels, blank) & ~skipped
            if self.scored is not None:
                exact = ~blank & ~partial & ~skipped & ~totals
                self._score(self.scored, batch, labels, exact)
            blank = blank | partial
        if self.unseen is not None:
            self.unseen.see(_rows_where(batch.plain, ~skipped & ~totals))
        skipped |= totals & blank
        blank &= ~skipped
        rows, known = _rows_where(batch.plain, blank), None
        if isinstance(self.model, WeakTableModel) and labels is not None:
            # A blank may hold what an earlier run predicted.
            where = np.flatnonzero(blank)
            read = self.model.read_known(labels.take(pa.array(where)))
            known = [
                x if p else None for x, p in zip(read, partial[where], strict=True)
            ]
        return _Asked(batch, rows, known, labels, blank, partial, skipped)

    def predict(self, asked: _Asked) -> Prediction:
        """Predict the rows; several threads may do so at once."""
        return self.model.predict(asked.rows, asked.known)

    def columns(self, asked: _Asked, prediction: Prediction) -> dict[str, Any]:
        """Return the target and the added columns; None for a cell that stays."""
        batch, blank, partial = asked.batch, asked.blank, asked.partial
        n = len(batch)
        where = np.flatnonzero(blank)
        if len(where):
            numbers = batch.start + where
            self.tally.add(prediction, asked.rows, numbers, partial[where])
        target, source, *others = self.cells.columns(prediction, blank)
        if len(self.cells.added) > len(others) + 1:  # candidates, as they were written
            cells = [None] * n if asked.labels is None else asked.labels.to_pylist()
            others.append([cells[i] if partial[i] else None for i in range(n)])
        typed = {} if self.given is None else self.given.typed_in(batch)
        if typed:
            target = as_list(target)
            for place, label in typed.items():
                target[place] = label
        if asked.skipped.any():
            source = null_where(source, pa.array(asked.skipped))
        new = dict(zip(self.cells.added, [source, *others], strict=True))
        earlier = () if self.given is None else self.given.earlier
        stale = {name: [None] * n for name in earlier if name not in new}
        return {self.model.target: target, **new, **stale}

    def _score(self, scored: ScoredRows, batch: Batch, labels: Any, where: Any) -> None:
        """Compare the labels of rows, shape (b,) of bool, with their predictions."""
        if self.given is not None and where.any():
            places = pa.array(np.flatnonzero(where))
            rows = batch.plain.take(places)
            exact = self.given.exact(labels).take(places)
            scored.add(exact, self.model.predict(rows), rows)


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
            cls(job.model, job.scan, job.tally, n, sha256, seconds, notes, job.scored)
            for job, n in zip(jobs, chain([escaped], repeat(0)), strict=False)
        ]

    def __repr__(self) -> str:
        filled = f"{self.tally.n:,} cells of {self.model.target!r} filled"
        given = "" if self.scan is None else f" from {self.scan.n_labeled:,} labels"
        return f"Filled({filled}{given} in {self.seconds:.1f} s)"


def _rows_where(rows: pa.RecordBatch, mask: NDArray[np.bool_]) -> pa.RecordBatch:
    """Return some rows."""
    return rows if mask.all() else rows.filter(pa.array(mask))


def new_columns(
    table: Table, jobs: Sequence[Job], batch: Batch
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return columns of a batch with replaced cells, and columns that are new."""
    asked = [job.asked(batch) for job in jobs]
    return _with_predictions(table, jobs, asked, _predictions(jobs, asked))


def _predictions(jobs: Sequence[Job], asked: Sequence[_Asked]) -> list[Prediction]:
    return [job.predict(each) for job, each in zip(jobs, asked, strict=True)]


def _with_predictions(
    table: Table,
    jobs: Sequence[Job],
    asked: Sequence[_Asked],
    predictions: Sequence[Prediction],
) -> tuple[dict[str, Any], dict[str, Any]]:
    replaced: dict[str, Any] = {}
    added: dict[str, Any] = {}
    for job, each, prediction in zip(jobs, asked, predictions, strict=True):
        for name, values in job.columns(each, prediction).items():
            if name not in table.columns:
                added[name] = values
            elif name == job.model.target:
                replaced[name] = values
            else:  # of an earlier run, which is replaced as a whole
                replaced[name] = [CLEARED if v is None else v for v in as_list(values)]
    return replaced, added


def write_filled(
    table: Table,
    out: TableOutput,
    jobs: Sequence[Job],
    progress: Callable[[float, float], None] | None = None,
    seen: Callable[[Batch], Batch] = lambda batch: batch,
) -> None:
    """Write every row of a table again with its blanks filled.

    `seen` turns a batch into what the jobs see, such as columns that are not in the
    file.
    """
    schema = None if out.format.is_text else table.schema
    for job in jobs:
        job.cells = Cells.of(job.model, schema)
        job.model.columns_.unread.clear()  # only cells of predicted rows count

    # Batches with many columns fill the memory, and predicting them has threads itself.
    wide = BATCH_ROWS * len(table.columns) > MAX_CELLS_AHEAD
    threads = 1 if wide else free_workers()

    def ask(batch: Batch) -> tuple[Batch, list[_Asked]]:
        shown = seen(batch)
        return batch, [job.asked(shown) for job in jobs]

    def predict(asking: tuple[Batch, list[_Asked]]) -> tuple[Any, ...]:
        batch, asked = asking
        with alone() if threads > 1 else nullcontext():
            return batch, asked, _predictions(jobs, asked)

    asking = map(ask, table.batches(progress=progress))
    # Closed at once if writing fails, so that the threads stop too.
    with closing(in_threads(predict, asking, threads)) as results:
        for batch, asked, predictions in results:
            replaced, added = _with_predictions(table, jobs, asked, predictions)
            out.write(batch, replace=replaced, append=added)
    if not table.n_rows:  # an empty table gets the new columns too
        empty = table.empty()
        replaced, added = new_columns(table, jobs, seen(empty))
        out.write(empty, replace=replaced, append=added)


def in_threads(
    function: Callable[[Any], Any], items: Iterable[Any], threads: int
) -> Generator[Any, None, None]:
    """Yield the results of a function for each item, in order; see `side_by_side`."""
    if threads == 1:
        yield from map(function, items)
        return
    # Warning filters belong to the process: threads that change and restore them would
    # undo each other's changes.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from side_by_side(function, items, threads)
