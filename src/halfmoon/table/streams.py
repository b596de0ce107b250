"""Fill a stream of Arrow's batches: a reader in, a reader out.

The first pass reads a table in memory, or the temporary file that a stream was kept in;
the second is made batch by batch, as they are asked for. Nothing is held whole.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from halfmoon.table.cells import Cells, column_types
from halfmoon.table.earlier_runs import earlier_runs
from halfmoon.table.files import Batch, Table
from halfmoon.table.files.arrow_types import refuse_target_type
from halfmoon.table.files.columnar_writer import ColumnarWriter
from halfmoon.table.files.format import Format
from halfmoon.table.learning import given_labels, learn
from halfmoon.table.second_pass import Job, new_columns
from halfmoon.table.settings import Settings
from halfmoon.table.stages import Stages

__all__ = ["filled_reader"]


def filled_reader(
    table: Table, settings: Settings, stages: Stages
) -> pa.RecordBatchReader:
    """Learn from a table, and give its batches with their blanks filled in.

    Parameters
    ----------
    table : table of `halfmoon.table.files`
        Closed when the last batch was read.
    settings : Settings
    stages : Stages
    """
    runs = earlier_runs(table)
    if settings.target in table.columns:
        refuse_target_type(settings.target, table.schema.field(settings.target).type)
    given = given_labels(table, settings, runs)
    model, found = learn(table, settings, stages, runs, given)
    skip = [row.number for row in found.totals]
    job = Job(model, given.again(), skip, runs.get(settings.target, ()))
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
