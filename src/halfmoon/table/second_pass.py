"""The second pass: every row written as it was, with its blanks filled in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from halfmoon.table.cells import Cells
from halfmoon.table.files import Batch, Table, TableOutput
from halfmoon.table.files.arrow_types import null_where
from halfmoon.table.files.values import as_list
from halfmoon.table.given_labels import GivenLabels
from halfmoon.table.model import TableModel
from halfmoon.table.scored_rows import ScoredRows
from halfmoon.table.tally import Tally
from halfmoon.table.unseen import Unseen
from halfmoon.table.unsure_rows import UnsureRows
from halfmoon.table.weak_model import WeakTableModel

__all__ = ["Job", "new_columns", "write_filled"]

CLEARED = ""  # a cell that is emptied; None would leave what it holds


@dataclass
class Job:
    """A target to be filled in.

    Parameters
    ----------
    model : TableModel
    given : GivenLabels or None
        Its labels; None if the table has no such column.
    skip : sequence of int
        Numbers of rows that stay as they are, blank or not.
    earlier : sequence of str
        Columns that an earlier run added, to be replaced.
    scored : ScoredRows or None
        Compares rows whose label is known with what is predicted for them.
    unseen : Unseen or None
        Counts values that the model has not seen.

    Attributes
    ----------
    tally : Tally
        What the predictions add up to.
    """

    model: TableModel
    given: GivenLabels | None
    skip: Sequence[int] = ()
    earlier: Sequence[str] = ()
    scored: ScoredRows | None = None
    unseen: Unseen | None = None

    cells: Cells = field(init=False)
    tally: Tally = field(init=False)

    def __post_init__(self) -> None:
        self.cells = Cells.of(self.model)
        used = [use.name for use in self.model.table_.used]
        self.tally = Tally(self.cells.edges, UnsureRows(used))

    def columns(self, batch: Batch) -> dict[str, Any]:
        """The target and the columns beside it, None where a cell stays or is empty."""
        blank = np.ones(len(batch), dtype=bool)
        within, labels_here = np.zeros(len(batch), dtype=bool), None
        if self.given is not None:
            labels_here, blank = self.given.of(batch)
            within = self.given.is_open(labels_here, blank)
            scored = np.flatnonzero(~blank & ~within)
            if self.scored is not None and len(scored):
                exact = self.given.exact(labels_here)
                self._score(self.scored, batch, exact, scored)
            blank = blank | within
        if self.unseen is not None:
            self.unseen.see(batch.rows)
        left = np.isin(batch.start + np.arange(len(batch)), self.skip) & blank
        blank &= ~left
        where = np.flatnonzero(blank)
        unknown = batch.plain.take(pa.array(where))
        known = None
        if isinstance(self.model, WeakTableModel) and labels_here is not None:
            some = within[where]  # a blank may hold what an earlier run predicted
            read = self.model.read_known(labels_here.take(pa.array(where)))
            known = [x if w else None for x, w in zip(read, some, strict=True)]
        prediction = self.model.predict(unknown, known)
        if len(where):
            numbers = batch.start + where
            self.tally.add(prediction, unknown, numbers, within[where])
        labels, source, *others = self.cells.columns(prediction, blank)
        if len(self.cells.added) > len(others) + 1:  # candidates, as they were written
            kept: list[Any] = [None] * len(batch)
            for i in np.flatnonzero(within):
                kept[i] = cast(Any, labels_here)[i].as_py()
            others.append(kept)
        typed = {} if self.given is None else self.given.typed_in(batch)
        if typed:
            labels = as_list(labels)
            for place, label in typed.items():
                labels[place] = label
        if left.any():
            source = null_where(source, pa.array(left))
        new = dict(zip(self.cells.added, [source, *others], strict=True))
        nothing: list[Any] = [None] * len(batch)
        stale = {name: nothing for name in self.earlier if name not in new}
        return {self.model.target: labels, **new, **stale}

    def _score(
        self, scored: ScoredRows, batch: Batch, labels: Any, where: NDArray[np.intp]
    ) -> None:
        rows = batch.rows.take(pa.array(where))
        scored.add(labels.take(pa.array(where)), self.model.predict(rows), rows)


def new_columns(
    table: Table, jobs: Sequence[Job], seen: Batch
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is new in a batch: columns with replaced cells, and added columns.

    Parameters
    ----------
    table : table of `halfmoon.table.files`
    jobs : sequence of Job
    seen : Batch
        A batch of the table, as the jobs see it.
    """
    replaced: dict[str, Any] = {}
    added: dict[str, Any] = {}
    for job in jobs:
        for name, values in job.columns(seen).items():
            if name not in table.columns:
                added[name] = values
            elif name == job.model.target:
                replaced[name] = values
            else:  # of an earlier run: nothing of it stays
                replaced[name] = [CLEARED if v is None else v for v in as_list(values)]
    return replaced, added


def write_filled(
    table: Table,
    out: TableOutput,
    jobs: Sequence[Job],
    progress: Callable[[float, float], None] | None = None,
    seen: Callable[[Batch], Batch] = lambda batch: batch,
) -> None:
    """Write every row as it was, its blanks filled in.

    Parameters
    ----------
    table : table of `halfmoon.table.files`
        With or without columns of the targets' names.
    out : new table of `halfmoon.table.files`
    jobs : sequence of Job
        One for each target.
    progress : callable or None
    seen : callable
        What the jobs see of a batch, such as columns that are not in the file.
    """
    schema = None if out.format.is_text else table.schema
    for job in jobs:
        job.cells = Cells.of(job.model, schema)

    def write(batch: Batch) -> None:
        replaced, added = new_columns(table, jobs, seen(batch))
        out.write(batch, replace=replaced, append=added)

    for batch in table.batches(progress=progress):
        write(batch)
    if not table.n_rows:  # the new columns are there all the same
        write(table.empty())
