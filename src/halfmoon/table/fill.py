"""Fill the blank labels of a table: read it, learn from it, read it again and write.

Memory does not grow with the table. The first pass keeps the labeled rows and a sample
of the others, from which the model is learned; the second predicts batch by batch and
writes every row as it was, with what is new.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

import numpy as np
import pyarrow as pa

from halfmoon.report.findings import Note
from halfmoon.table.allowance import Allowance
from halfmoon.table.blanks import Blanks
from halfmoon.table.cells import Cells, column_types
from halfmoon.table.errors import ModelError
from halfmoon.table.files import Table, TableOutput, new_table
from halfmoon.table.label_checks import checked_labels, mark_notes
from halfmoon.table.model import TableModel
from halfmoon.table.scan import Scan, scan
from halfmoon.table.selection import (
    added_columns,
    chosen_features,
    known_columns,
    listed,
    refuse_taken,
)
from halfmoon.table.settings import Settings
from halfmoon.table.tally import Tally
from halfmoon.table.unsure_rows import UnsureRows

__all__ = ["Filled", "Stages", "fill_table", "predict_table"]


class Stages(Protocol):
    """Told how far a run has come: one stage after the other."""

    def stage(self, name: str) -> Callable[[float, float], None]:
        """Begin a stage; what comes back is called with done and in all."""


class Silent:
    """Stages of which nobody is told."""

    def stage(self, name: str) -> Callable[[float, float], None]:
        """Begin a stage."""
        return lambda done, in_all: None


@dataclass(repr=False)
class Filled:
    """What came of filling a table.

    Attributes
    ----------
    model : TableModel
    scan : Scan or None
        The first pass; None where there was none, because the model was there.
    tally : Tally
        The second.
    escaped : int
        Cells that a spreadsheet would have taken for formulas.
    sha256 : str
        Of the table.
    seconds : float
    notes : tuple of Note
        Of how the file was read.
    """

    model: TableModel
    scan: Scan | None
    tally: Tally
    escaped: int
    sha256: str
    seconds: float
    notes: tuple[Note, ...] = ()

    def __repr__(self) -> str:
        filled = f"{self.tally.n:,} cells of {self.model.target!r} filled"
        given = "" if self.scan is None else f" from {self.scan.n_labeled:,} labels"
        return f"Filled({filled}{given} in {self.seconds:.1f} s)"


def fill_table(
    table: Table,
    destination: Any,
    settings: Settings,
    *,
    overwrite: bool = False,
    formulas: str = "escape",
    stages: Stages | None = None,
) -> Filled:
    """Learn from the labels of a table and write it with its blanks filled in.

    Parameters
    ----------
    table : table of `halfmoon.table.files`
    destination : path, binary stream or FrameWriter
        Where the filled table goes; it appears there when it is whole.
    settings : Settings
    overwrite : bool
        Replace a file that is there.
    formulas : "escape" or "keep"
        What to do with labels that a spreadsheet would take for formulas.
    stages : Stages or None
        Told how far it has come.
    """
    start, stages = time.monotonic(), stages or Silent()
    types: dict[str, Any] = {}  # known when the model is
    with new_table(
        destination, like=table, overwrite=overwrite, formulas=formulas, types=types
    ) as out:
        model, found = learn(table, settings, stages)
        types |= column_types(model)
        model.unread_.clear()  # from now on of the rows that are filled in
        blanks = Blanks(settings.unlabeled)
        tally = write_filled(
            table,
            out,
            model,
            blanks,
            stages.stage("Filling in"),
            skip=[row.number for row in found.totals],
        )
    seconds = time.monotonic() - start
    return Filled(
        model, found, tally, out.escaped, _sha256(table), seconds, tuple(table.notes)
    )


def predict_table(
    table: Table,
    destination: Any,
    model: TableModel,
    *,
    overwrite: bool = False,
    formulas: str = "escape",
    stages: Stages | None = None,
) -> Filled:
    """Write a table with what a model says of its rows; as `fill_table`."""
    start, stages = time.monotonic(), stages or Silent()
    refuse_taken(table.columns, added_columns(model.target, model.kind))
    missing = [u.name for u in model.table_.used if u.name not in table.columns]
    if missing:
        raise ModelError(
            f"The table has no column {missing[0]!r}, which the model learned from; it "
            f"needs {listed([use.name for use in model.table_.used])} and the table "
            f"has {listed(table.columns)}."
        )
    blanks = Blanks(model.record_["settings"]["unlabeled"])
    with new_table(
        destination,
        like=table,
        overwrite=overwrite,
        formulas=formulas,
        types=column_types(model),
    ) as out:
        tally = write_filled(table, out, model, blanks, stages.stage("Predicting"))
    seconds = time.monotonic() - start
    return Filled(
        model, None, tally, out.escaped, _sha256(table), seconds, tuple(table.notes)
    )


def learn(table: Table, settings: Settings, stages: Stages) -> tuple[TableModel, Scan]:
    """The first pass, and the model that is learned from what it kept."""
    features = chosen_features(table.columns, settings)
    known = known_columns(table.columns, settings)
    for task in ("classes", "numbers") if settings.task is None else (settings.task,):
        refuse_taken(table.columns, added_columns(settings.target, task))
    allowance = Allowance.within(settings.memory)
    found = scan(
        table,
        settings.target,
        features,
        Blanks(settings.unlabeled),
        most_bytes=allowance.rows,
        seed=settings.seed,
        progress=stages.stage("Reading"),
    )
    checked = checked_labels(found.labels, settings)
    unmatched = mark_notes(settings.target, found.blanks, found.labels)
    found = replace(
        found,
        labels=checked.labels,
        n_labeled=found.n_labeled - checked.n_ignored,
        n_ignored=found.n_ignored + checked.n_ignored,
        notes=(*found.notes, *unmatched, *checked.notes),
    )
    model = TableModel(
        target=settings.target,
        kind=checked.kind,
        known=known,
        keep=features if settings.features else (),
        budget=settings.budget,
        memory_limit=allowance.learning,
        random_state=settings.seed,
        level=settings.level,
        order=checked.order,
    )
    learning = stages.stage("Learning")
    model.fit(
        found.rows,
        found.labels,
        progress=lambda share, what: learning(share, 1.0),
        positions=found.numbers,
    )
    return model, found


def _sha256(table: Table) -> str:
    with table.source.open() as file:
        return hashlib.file_digest(cast(Any, file), "sha256").hexdigest()


def write_filled(
    table: Table,
    out: TableOutput,
    model: TableModel,
    blanks: Blanks,
    progress: Callable[[float, float], None] | None = None,
    skip: Sequence[int] = (),
) -> Tally:
    """The second pass: every row as it was, its blank filled in.

    Parameters
    ----------
    table : table of `halfmoon.table.files`
        With or without a column of the target's name.
    out : new table of `halfmoon.table.files`
    model : TableModel
    blanks : Blanks
        What counts as blank.
    progress : callable or None
    skip : sequence of int
        Numbers of rows that stay as they are, blank or not.

    Returns
    -------
    Tally
    """
    target, cells = model.target, Cells.of(model)
    used = [use.name for use in model.table_.used]
    tally = Tally(cells.edges, UnsureRows(used))
    for batch in table.batches(progress=progress):
        rows, blank = batch.rows, np.ones(len(batch), dtype=bool)
        if target in table.columns:
            blank = blanks.mask(rows.column(target))
        left = np.isin(batch.start + np.arange(len(batch)), skip) & blank
        blank &= ~left
        where = np.flatnonzero(blank)
        unknown = rows.take(pa.array(where))
        prediction = model.predict(unknown)
        if len(where):
            tally.add(prediction, unknown, batch.start + where)
        labels, source, *others = cells.columns(prediction, blank)
        source = [
            None if skipped else x for x, skipped in zip(source, left, strict=True)
        ]
        new = dict(zip(cells.added, [source, *others], strict=True))
        if target in table.columns:
            out.write(batch, replace={target: labels}, append=new)
        else:
            out.write(batch, replace={}, append={target: labels, **new})
    return tally
