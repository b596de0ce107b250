"""Fill the blank labels of a table in two passes, in memory of fixed size.

The first pass samples labeled and unlabeled rows, from which the model learns. The
second pass predicts batch by batch and writes every row again, with what is new.
"""

from __future__ import annotations

import hashlib
import io
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pyarrow as pa

from halfmoon.table._columns.column_names import earlier_runs, quoted, refuse_taken
from halfmoon.table._files import Batch, Table, new_table, open_table
from halfmoon.table._files.arrow_types import refuse_target_type
from halfmoon.table._files.formats import Format
from halfmoon.table._models.table_model import TableModel
from halfmoon.table._run_settings import Settings, Stages
from halfmoon.table._runs.learn_from_table import given_labels, learn, settings_of
from halfmoon.table._runs.output_columns import Cells, column_types
from halfmoon.table._runs.preview import preview
from halfmoon.table._runs.rows_without_data import without_data_notes
from halfmoon.table._runs.run_costs import TimeForecast, limit_with_held
from halfmoon.table._runs.scored_rows import ScoredRows, Unseen
from halfmoon.table._runs.second_pass import Filled, Job, new_columns, write_filled
from halfmoon.table._table_errors import ModelError

__all__ = ["fill_table", "fill_targets", "predict_table", "refuse_unfit"]


def fill_table(
    table: Any,
    destination: Any,
    settings: Settings,
    *,
    overwrite: bool = False,
    formulas: str = "escape",
    stages: Stages | None = None,
) -> Any:
    """Learn from the labels of a table and write it with its blanks filled.

    Parameters
    ----------
    table : table of `open_table`, or object with ``__arrow_c_stream__``
        The latter is a table or reader of pyarrow, a data frame of pandas or polars,
        or a relation of DuckDB. A stream is copied to a temporary file.
    destination : path, binary stream, FrameWriter or None
        Where the filled table goes. A file appears when it is complete. With None, a
        reader is returned, which fills each batch when it is asked for.
    settings : Settings
        Here ``memory`` is the limit in addition to what the process holds already.
    overwrite : bool
        Whether to replace an existing file.
    formulas : "escape" or "keep"
        Whether labels that a spreadsheet would take for formulas get an apostrophe.
    stages : Stages or None
        Shows the progress.

    Returns
    -------
    Filled, or pyarrow.RecordBatchReader without a destination

    Examples
    --------
    >>> rows = pa.table({"x": [0.5, 1.5] * 20, "side": [*"ab" * 4, *[None] * 32]})
    >>> reader = fill_table(rows.to_reader(), None, Settings("side", budget=1))
    >>> reader.schema.names
    ['x', 'side', 'side_source', 'side_confidence']
    >>> reader.read_all()["side"].null_count
    0
    """
    settings = replace(settings, memory=limit_with_held(settings.memory))
    with ExitStack() as opened:
        if not isinstance(table, Table):
            table = opened.enter_context(open_table(table))
        if destination is None:
            reader = _filled_reader(table, settings, stages or Stages())
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


def _filled_reader(
    table: Table, settings: Settings, stages: Stages
) -> pa.RecordBatchReader:
    """Return a reader that fills each batch on demand, and closes the table at its end.

    The table is in memory, or a temporary copy of a stream.
    """
    from halfmoon.table._files.columnar_table import ColumnarWriter

    if settings.target in table.columns:
        refuse_target_type(settings.target, table.schema.field(settings.target).type)
    model, scan = learn(table, settings, stages)
    job = Job.after(scan, model)
    job.cells = Cells.of(model, table.schema)
    types = column_types(model, table.schema)
    writer = ColumnarWriter(io.BytesIO(), table, Format("feather"), types, "the stream")

    def rows(batch: Batch) -> Any:
        return writer.rows_of(batch, *new_columns(table, [job], batch))

    schema = rows(table.empty()).schema

    def batches() -> Iterator[Any]:
        with table:
            yield from map(rows, table.batches(stages.stage("Filling in")))

    return pa.RecordBatchReader.from_batches(schema, batches())


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
    """Fill several targets of a table. No target learns from another.

    Parameters
    ----------
    table, destination, overwrite, formulas, stages
        As in `fill_table`.
    several : sequence of Settings
        One for each target.
    typed : mapping of str to mapping of int to str, or None
        For each target, labels that are not in the table itself, by the number of
        their row, from 0.

    Returns
    -------
    list of Filled
        One for each target; the first counts the escaped cells.
    """
    start, stages = time.monotonic(), stages or Stages()
    targets = [settings.target for settings in several]
    runs = earlier_runs(table)
    types: dict[str, Any] = {}  # filled once the models are there
    jobs: list[Job] = []
    with new_table(
        destination, like=table, overwrite=overwrite, formulas=formulas, types=types
    ) as out:
        for name in (n for n in targets if n in table.columns):
            refuse_target_type(name, table.schema.field(name).type)
        for settings in several:
            labels = (typed or {}).get(settings.target)
            model, scan = learn(
                table, settings, stages, runs=runs, typed=labels, targets=targets
            )
            types |= column_types(model, table.schema)
            jobs.append(Job.after(scan, model))
        models = [job.model for job in jobs]
        forecast = TimeForecast.of(models, scan, size=table.source.size)
        forecast.tell(stages.say)
        write_filled(table, out, jobs, stages.stage("Filling in"))
    notes = (*table.notes, *forecast.notes())
    return Filled.of(jobs, out.escaped, _sha256(table), start, notes)


def predict_table(
    table: Table,
    destination: Any,
    model: TableModel,
    *,
    overwrite: bool = False,
    formulas: str = "escape",
    stages: Stages | None = None,
) -> Filled:
    """Write a table with the predictions of a model; otherwise like `fill_table`.

    Given labels stay, and are compared with their predictions.
    """
    start, stages = time.monotonic(), stages or Stages()
    runs = earlier_runs(table)
    refuse_unfit(model, table, runs)
    settings = settings_of(model, table.columns)
    given = None if settings is None else given_labels(table, settings, runs)
    model, skip, seen = preview(table, model, given and given.again())
    unseen = Unseen(model)
    job = Job(model, given, skip, scored=ScoredRows(model), unseen=unseen)
    with new_table(
        destination,
        like=table,
        overwrite=overwrite,
        formulas=formulas,
        types=column_types(model, table.schema),
    ) as out:
        write_filled(table, out, [job], stages.stage("Predicting"))
    notes = (*table.notes, *(given.notes() if given else ()), *unseen.notes())
    notes = (*notes, *seen, *without_data_notes(job.n_without_data))
    (filled,) = Filled.of([job], out.escaped, _sha256(table), start, notes)
    return filled


def refuse_unfit(
    model: TableModel, table: Table, runs: Mapping[str, tuple[str, ...]]
) -> None:
    """Refuse a table whose rows the model cannot predict."""
    refuse_taken(set(table.columns) - set(runs.get(model.target, ())), model.added)
    needed = [use.name for use in model.columns_.used]
    missing = [name for name in needed if name not in table.columns]
    if missing:
        raise ModelError(
            f"The table has no column {missing[0]!r}, which the model learned from. "
            f"The model needs {quoted(needed)}; the table has {quoted(table.columns)}."
        )


def _sha256(table: Table) -> str:
    digest = hashlib.sha256()
    for piece in table.source.pieces():
        digest.update(piece)
    return digest.hexdigest()
