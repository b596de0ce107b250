"""Write one file of a folder with its blanks filled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from halfmoon._partitions import Engine
from halfmoon.blocks import alone
from halfmoon.table._files import Batch, Table, new_table, open_table
from halfmoon.table._files.joined_table import as_schema
from halfmoon.table._folders.file_outcomes import (
    FileOutcome,
    job_state,
    with_separate_counts,
)
from halfmoon.table._folders.folder_listing import FolderFile
from halfmoon.table._folders.folder_table import with_partition
from halfmoon.table._models.scored_rows import ScoredRows, Unseen
from halfmoon.table._models.table_model import TableModel
from halfmoon.table._runs.learn_from_table import given_labels
from halfmoon.table._runs.output_columns import column_types
from halfmoon.table._runs.run_settings import Settings
from halfmoon.table._runs.second_pass import Job, write_filled

__all__ = ["FilePlan", "fill_file", "fill_on_engine"]


@dataclass(frozen=True)
class FilePlan:
    """What is the same for all files of a folder.

    Attributes
    ----------
    out : Path
        The output folder.
    models : sequence of TableModel
        One for each target.
    several : sequence of Settings or None
        For each target how to read its labels; None if there are none.
    schema : pyarrow.Schema
        Schema of all files together. A column that is null in one file may have a type
        in others, and integers in one file may be decimals in others.
    runs : mapping of str to tuple of str
        Targets that an earlier run filled, with the columns that it added.
    skip : sequence of sequences of int
        For each target the numbers of the rows that stay unchanged.
    compares : bool
        Whether to compare known labels with predictions.
    formulas : "escape" or "keep"
    options : mapping
        Options of `open_table`.
    """

    out: Path
    models: Sequence[TableModel]
    several: Sequence[Settings | None]
    schema: Any
    runs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    skip: Sequence[Sequence[int]] = ()
    compares: bool = False
    formulas: str = "escape"
    options: Mapping[str, Any] = field(default_factory=dict)

    def jobs(self, table: Table) -> list[Job]:
        """Return a new job for each target."""
        jobs = []
        for i, (shared, settings) in enumerate(
            zip(self.models, self.several, strict=True)
        ):
            model = with_separate_counts(shared)
            earlier = self.runs.get(model.target, ())
            given = None
            if settings is not None:
                given = given_labels(table, settings, self.runs)
            job = Job(model, given, self.skip[i] if self.skip else (), earlier)
            if self.compares:
                job.scored, job.unseen = ScoredRows(model), Unseen(model)
            jobs.append(job)
        return jobs

    def seen(self, file: FolderFile, before: int, batch: Batch) -> Batch:
        """Return a batch of a file as it is in the table of all files."""
        joined = with_partition(batch, file, before)
        return replace(joined, rows=as_schema(joined.rows, self.schema))

    def types(self, schema: Any) -> Iterator[tuple[str, Any]]:
        """Yield the types of new columns, and of targets whose type changes."""
        for model in self.models:
            place = schema.get_field_index(model.target)
            if place >= 0 and pa.types.is_null(schema.field(place).type):
                kind = self.schema.field(model.target).type
                kind = pa.string() if pa.types.is_null(kind) else kind
                schema = schema.set(place, pa.field(model.target, kind))
                yield model.target, kind
            yield from column_types(model, schema).items()


def fill_file(
    plan: FilePlan,
    file: FolderFile,
    before: int = 0,
    progress: Callable[[float, float], None] | None = None,
) -> FileOutcome:
    """Write a filled file, which appears at its path when it is whole.

    `before` is the number of rows in the files before this one.
    """
    path = plan.out / file.name
    path.parent.mkdir(parents=True, exist_ok=True)
    with open_table(file.path, **plan.options) as table:
        jobs = plan.jobs(table)
        types = dict(plan.types(table.schema))
        with new_table(
            path,
            like=table,
            overwrite=True,
            formulas=plan.formulas,
            types=types,
            tidy=False,  # the manifest has done so, once for all files
        ) as out:
            write_filled(table, out, jobs, progress, partial(plan.seen, file, before))
        rows = table.n_rows or 0
    size = path.stat().st_size
    return FileOutcome(file.name, rows, out.escaped, size, list(map(job_state, jobs)))


def fill_on_engine(
    engine: Engine, plan: FilePlan, todo: Sequence[tuple[FolderFile, int]]
) -> Iterator[FileOutcome]:
    """Fill files on an engine; yield their outcomes in order.

    Its workers must see the folders under the same paths. If a worker is lost, a file
    may be filled twice, with the same output. `todo` holds the files, each with the
    number of rows before it.
    """
    plan = replace(plan, out=plan.out.resolve())
    partitions = [
        (replace(file, path=file.path.resolve()), before) for file, before in todo
    ]
    return engine.map(partial(_fill_alone, plan), partitions)


def _fill_alone(plan: FilePlan, file: FolderFile, before: int) -> FileOutcome:
    with alone():
        return fill_file(plan, file, before)
