"""Fill the blank labels of a table: read it, learn from it, read it again and write.

Memory does not grow with the table. The first pass keeps the labeled rows and a sample
of the others, from which the model is learned; the second predicts batch by batch and
writes every row as it was, with what is new.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, cast, overload

import pyarrow as pa

from halfmoon.report.findings import Note
from halfmoon.table.cells import column_types
from halfmoon.table.earlier_runs import earlier_runs
from halfmoon.table.errors import ModelError
from halfmoon.table.files import Table, new_table, open_table
from halfmoon.table.files.arrow_types import refuse_target_type
from halfmoon.table.forecast import Forecast
from halfmoon.table.learning import given_labels, learn, settings_of
from halfmoon.table.model import TableModel
from halfmoon.table.scan import Scan
from halfmoon.table.scored_rows import ScoredRows
from halfmoon.table.second_pass import Job, write_filled
from halfmoon.table.selection import (
    listed,
    refuse_taken,
)
from halfmoon.table.settings import Settings
from halfmoon.table.stages import Silent, Stages
from halfmoon.table.streams import filled_reader
from halfmoon.table.tally import Tally
from halfmoon.table.unseen import Unseen

__all__ = [
    "Filled",
    "fill_table",
    "fill_targets",
    "predict_table",
    "refuse_unfit",
]


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
    scored : ScoredRows or None
        Rows with a known label beside their predictions, where the model was there.
    """

    model: TableModel
    scan: Scan | None
    tally: Tally
    escaped: int
    sha256: str
    seconds: float
    notes: tuple[Note, ...] = ()
    scored: ScoredRows | None = None

    def __repr__(self) -> str:
        filled = f"{self.tally.n:,} cells of {self.model.target!r} filled"
        given = "" if self.scan is None else f" from {self.scan.n_labeled:,} labels"
        return f"Filled({filled}{given} in {self.seconds:.1f} s)"


@overload
def fill_table(
    table: Any,
    destination: None,
    settings: Settings,
    *,
    overwrite: bool = False,
    formulas: str = "escape",
    stages: Stages | None = None,
) -> pa.RecordBatchReader: ...
@overload
def fill_table(
    table: Any,
    destination: Any,
    settings: Settings,
    *,
    overwrite: bool = False,
    formulas: str = "escape",
    stages: Stages | None = None,
) -> Filled: ...
def fill_table(
    table: Any,
    destination: Any,
    settings: Settings,
    *,
    overwrite: bool = False,
    formulas: str = "escape",
    stages: Stages | None = None,
) -> Filled | pa.RecordBatchReader:
    """Learn from the labels of a table and write it with its blanks filled in.

    Parameters
    ----------
    table : table of `halfmoon.table.files`, or object with ``__arrow_c_stream__``
        A table or reader of pyarrow, a data frame of pandas or polars, a relation of
        DuckDB. What can be read only once is kept in a temporary file.
    destination : path, binary stream, FrameWriter or None
        Where the filled table goes; it appears there when it is whole. With None its
        batches are given back, each predicted when it is asked for.
    settings : Settings
    overwrite : bool
        Replace a file that is there.
    formulas : "escape" or "keep"
        What to do with labels that a spreadsheet would take for formulas.
    stages : Stages or None
        Told how far it has come.

    Returns
    -------
    Filled, or pyarrow.RecordBatchReader if there is no destination

    Examples
    --------
    >>> rows = pa.table({"x": [0.5, 1.5] * 20, "side": [*"ab" * 4, *[None] * 32]})
    >>> reader = fill_table(rows.to_reader(), None, Settings("side", budget=1))
    >>> reader.schema.names
    ['x', 'side', 'side_source', 'side_confidence']
    >>> reader.read_all()["side"].null_count
    0
    """
    with ExitStack() as opened:
        if not isinstance(table, Table):
            table = opened.enter_context(open_table(table))
        if destination is None:
            reader = filled_reader(table, settings, stages or Silent())
            opened.pop_all()  # closed with the last batch
            return reader
        (filled,) = fill_targets(
            table,
            destination,
            [settings],
            overwrite=overwrite,
            formulas=formulas,
            stages=stages,
        )
    return filled


def fill_targets(
    table: Table,
    destination: Any,
    several: Sequence[Settings],
    *,
    typed: Mapping[str, Mapping[int, str]] | None = None,
    overwrite: bool = False,
    formulas: str = "escape",
    stages: Stages | None = None,
) -> list[Filled]:
    """Fill several targets of a table, none of them learning from another.

    Parameters
    ----------
    table, destination, overwrite, formulas, stages
        Of `fill_table`.
    several : sequence of Settings
        One for each target.
    typed : mapping of str to mapping of int to str, or None
        Of each target, labels that stand in no cell, by the number of the row, from 0.

    Returns
    -------
    list of Filled
        One for each target; escaped cells are counted in the first.
    """
    start, stages = time.monotonic(), stages or Silent()
    targets = [settings.target for settings in several]
    runs = earlier_runs(table)
    types: dict[str, Any] = {}  # known when the models are
    jobs, scans = [], []
    with new_table(
        destination, like=table, overwrite=overwrite, formulas=formulas, types=types
    ) as out:
        for name in (n for n in targets if n in table.columns):
            refuse_target_type(name, table.schema.field(name).type)
        for settings in several:
            labels = (typed or {}).get(settings.target, {})
            given = given_labels(table, settings, runs, labels)
            model, found = learn(table, settings, stages, runs, given, targets)
            types |= column_types(model, table.schema)
            model.unread_.clear()  # from now on of the rows that are filled in
            skip = [row.number for row in found.totals]
            earlier = runs.get(settings.target, ())
            jobs.append(Job(model, given.again(), skip, earlier))
            scans.append(found)
        forecast = Forecast.of([job.model for job in jobs], scans[0])
        forecast.tell(stages.say)
        write_filled(table, out, jobs, stages.stage("Filling in"))
    seconds, sha256 = time.monotonic() - start, _sha256(table)
    notes = (*table.notes, *forecast.notes())
    return [
        Filled(job.model, found, job.tally, escaped, sha256, seconds, notes)
        for job, found, escaped in zip(
            jobs, scans, [out.escaped, *[0] * (len(jobs) - 1)], strict=True
        )
    ]


def predict_table(
    table: Table,
    destination: Any,
    model: TableModel,
    *,
    overwrite: bool = False,
    formulas: str = "escape",
    stages: Stages | None = None,
) -> Filled:
    """Write a table with what a model says of its rows; as `fill_table`.

    Labels that are given stay, and are compared with what the model says of them.
    """
    start, stages = time.monotonic(), stages or Silent()
    runs = earlier_runs(table)
    earlier = runs.get(model.target, ())
    refuse_unfit(model, table, runs)
    settings = settings_of(model, table.columns)
    given = None if settings is None else given_labels(table, settings, runs)
    scored, unseen = ScoredRows(model), Unseen(model)
    job = Job(model, given, earlier=earlier, scored=scored, unseen=unseen)
    with new_table(
        destination,
        like=table,
        overwrite=overwrite,
        formulas=formulas,
        types=column_types(model, table.schema),
    ) as out:
        write_filled(table, out, [job], stages.stage("Predicting"))
    seconds = time.monotonic() - start
    notes = (*table.notes, *(given.notes() if given else ()), *unseen.notes())
    sha256 = _sha256(table)
    return Filled(model, None, job.tally, out.escaped, sha256, seconds, notes, scored)


def refuse_unfit(
    model: TableModel, table: Table, runs: Mapping[str, tuple[str, ...]]
) -> None:
    """Refuse a table that a model cannot be asked of."""
    refuse_taken(set(table.columns) - set(runs.get(model.target, ())), model.added)
    missing = [u.name for u in model.table_.used if u.name not in table.columns]
    if missing:
        raise ModelError(
            f"The table has no column {missing[0]!r}, which the model learned from; it "
            f"needs {listed([use.name for use in model.table_.used])} and the table "
            f"has {listed(table.columns)}."
        )


def _sha256(table: Table) -> str:
    with table.source.open() as file:
        return hashlib.file_digest(cast(Any, file), "sha256").hexdigest()
