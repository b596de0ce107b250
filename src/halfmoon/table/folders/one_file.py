"""One file of a folder, written again with its blanks filled in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from halfmoon.blocks import alone
from halfmoon.partitions import Engine
from halfmoon.table.cells import column_types
from halfmoon.table.files import Table, new_table, open_table
from halfmoon.table.folders.folder_table import with_partition
from halfmoon.table.folders.listing import FolderFile
from halfmoon.table.folders.outcomes import Outcome, with_own_counts
from halfmoon.table.learning import given_labels
from halfmoon.table.model import TableModel
from halfmoon.table.scored_rows import ScoredRows
from halfmoon.table.second_pass import Job, write_filled
from halfmoon.table.settings import Settings
from halfmoon.table.unseen import Unseen

__all__ = ["FilePlan", "elsewhere", "fill_file"]


@dataclass(frozen=True)
class FilePlan:
    """What all files of a folder have in common.

    Attributes
    ----------
    out : Path
        The folder of the outputs.
    models : sequence of TableModel
        One for each target.
    several : sequence of Settings or None
        Of each target, how its labels are read; None if there are none.
    runs : mapping of str to tuple of str
        Targets that an earlier run filled, with the columns that it added.
    skip : sequence of sequences of int
        Of each target, numbers of rows that stay as they are.
    schema : pyarrow.Schema or None
        Of all files together: a column of which a file has no value at all may have
        a type in the others.
    compares : bool
        Rows whose label is known are compared with what is predicted for them.
    formulas : "escape" or "keep"
    options : mapping
        Of `open_table`.
    """

    out: Path
    models: Sequence[TableModel]
    several: Sequence[Settings | None]
    runs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    skip: Sequence[Sequence[int]] = ()
    schema: Any = None
    compares: bool = False
    formulas: str = "escape"
    options: Mapping[str, Any] = field(default_factory=dict)

    def jobs(self, table: Table) -> list[Job]:
        """A job for each target, with counts of its own, that has seen nothing yet."""
        jobs = []
        for i, (shared, settings) in enumerate(
            zip(self.models, self.several, strict=True)
        ):
            model = with_own_counts(shared)
            earlier = self.runs.get(model.target, ())
            given = None
            if settings is not None:
                given = given_labels(table, settings, self.runs)
            job = Job(model, given, self.skip[i] if self.skip else (), earlier)
            if self.compares:
                job.scored, job.unseen = ScoredRows(model), Unseen(model)
            jobs.append(job)
        return jobs

    def types(self, schema: Any) -> Iterator[tuple[str, Any]]:
        """Types of new columns, and of targets that have another one than before.

        Parameters
        ----------
        schema : pyarrow.Schema
            Of a file.
        """
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
) -> Outcome:
    """Write a file of a folder again; it appears at its place when it is whole.

    Parameters
    ----------
    plan : FilePlan
    file : FolderFile
    before : int
        Rows in the files before it.
    progress : callable or None
        Called with bytes read and bytes in all.
    """
    place = plan.out / file.name
    place.parent.mkdir(parents=True, exist_ok=True)
    with open_table(file.path, **plan.options) as table:
        jobs = plan.jobs(table)
        types = dict(plan.types(table.schema))
        with new_table(
            place, like=table, overwrite=True, formulas=plan.formulas, types=types
        ) as out:
            seen = partial(with_partition, file=file, before=before)
            write_filled(table, out, jobs, progress, seen)
        rows = table.n_rows or 0
    size = place.stat().st_size
    return Outcome.of(file.name, rows, out.escaped, size, jobs)


def elsewhere(
    engine: Engine, plan: FilePlan, todo: Sequence[tuple[FolderFile, int]]
) -> Iterator[Outcome]:
    """What comes of files that an engine fills, in their order.

    A file may be filled twice, if a worker is lost: its output is the same.

    Parameters
    ----------
    engine : Engine
        Its workers see the folders by the same paths.
    plan : FilePlan
    todo : sequence of (FolderFile, int)
        Files, and the rows in the files before each.
    """
    plan = replace(plan, out=plan.out.resolve())
    partitions = [
        (replace(file, path=file.path.resolve()), before) for file, before in todo
    ]
    return engine.map(partial(_fill_alone, plan), partitions)


def _fill_alone(plan: FilePlan, file: FolderFile, before: int) -> Outcome:
    with alone():
        return fill_file(plan, file, before)
