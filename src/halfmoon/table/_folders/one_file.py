"""Write one file of a folder with its blanks filled.

What came of it are small counts, which are stored on disk and summed over all files.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from halfmoon._report.findings import Histogram
from halfmoon.table._columns.column_kinds import Columns
from halfmoon.table._files import Batch, Table, new_table, open_table
from halfmoon.table._files.joined_table import as_schema
from halfmoon.table._folders.folder_table import FolderFile, with_partition
from halfmoon.table._models.predictions import RowPrediction
from halfmoon.table._models.table_model import TableModel
from halfmoon.table._run_settings import Settings
from halfmoon.table._runs.learn_from_table import given_labels
from halfmoon.table._runs.output_columns import column_types
from halfmoon.table._runs.running_counts import RunningCounts, UnsureRows
from halfmoon.table._runs.scored_rows import ScoredRows, Sums, Unseen
from halfmoon.table._runs.second_pass import Job, write_filled

__all__ = ["FileOutcome", "FilePlan", "add_up", "fill_file"]


@dataclass
class FileOutcome:
    """What came of a file."""

    name: str  # in its folder
    rows: int
    escaped: int  # cells that got an apostrophe
    size: int  # bytes of the output
    targets: list[dict[str, Any]]  # the counts of each target, as plain values


@dataclass(frozen=True)
class FilePlan:
    """What is the same for all files of a folder."""

    out: Path  # the output folder
    models: Sequence[TableModel]  # one for each target
    #: For each target how to read its labels; None if there are none.
    several: Sequence[Settings | None]
    #: Schema of all files together. A column that is null in one file may have a type
    #: in others, and integers in one file may be decimals in others.
    schema: Any
    #: Targets that an earlier run filled, with the columns that it added.
    runs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: For each target the numbers of the rows that stay unchanged.
    skip: Sequence[Sequence[int]] = ()
    compares: bool = False  # known labels with predictions
    formulas: str = "escape"  # or "keep"
    options: Mapping[str, Any] = field(default_factory=dict)  # of `open_table`

    def jobs(self, table: Table) -> list[Job]:
        """Return a new job for each target."""
        jobs = []
        for i, (shared, settings) in enumerate(
            zip(self.models, self.several, strict=True)
        ):
            model = copy(shared)
            model.columns_ = Columns(
                shared.columns_.uses
            )  # counts unreadable cells itself
            given = None
            if settings is not None:
                given = given_labels(table, settings, self.runs)
            job = Job(model, given, self.skip[i] if self.skip else ())
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
    return FileOutcome(file.name, rows, out.escaped, size, list(map(_job_state, jobs)))


def add_up(outcomes: Iterable[FileOutcome], jobs: Sequence[Job]) -> int:
    """Add outcomes to new jobs; return how many cells got an apostrophe."""
    escaped = 0
    for outcome in outcomes:
        escaped += outcome.escaped
        for job, state in zip(jobs, outcome.targets, strict=True):
            _add(job, state)
    return escaped


def _job_state(job: Job) -> dict[str, Any]:
    """Return the counts of a job that has filled a file, as plain values."""
    tally = job.tally
    rows, predictions = tally.unsure.state()
    state: dict[str, Any] = {
        "n": tally.n,
        "n_within": tally.n_within,
        "total": tally.total,
        "classes": list(tally.classes.items()),  # a key would become a text
        "confidences": list(tally.confidences.items()),
        "histogram": tally.histogram.counts.tolist(),
        "unsure": None if rows is None else _serialized(rows),
        "answers": predictions,
        "unread": dict(job.model.columns_.unread),
    }
    if job.scored is not None:
        sums = (job.scored.new, job.scored.learned)
        state["scored"] = [{**vars(each), "given": dict(each.given)} for each in sums]
    if job.unseen is not None:
        counts = job.unseen.counts
        state["unseen"] = {name: dict(found) for name, found in counts.items()}
        state["missing"] = [job.unseen.rows, dict(job.unseen.missing)]
    return state


def _add(job: Job, state: dict[str, Any]) -> None:
    unsure = UnsureRows(job.tally.unsure.features)
    predictions = [RowPrediction(*each) for each in state["answers"]]
    unsure.restore(_deserialized(state["unsure"]), predictions)
    part = RunningCounts(
        job.cells.edges,
        unsure,
        state["n"],
        state["n_within"],
        Counter(dict(state["classes"])),
        state["total"],
        Counter(dict(state["confidences"])),
    )
    counts = np.array(state["histogram"], dtype=np.int64)
    part.histogram = Histogram(part.edges, counts)
    job.tally.merge(part)
    for name, cells in state["unread"].items():
        job.model.columns_.unread[name] = job.model.columns_.unread.get(name, 0) + cells
    if job.scored is not None:
        for sums, given in zip(
            (job.scored.new, job.scored.learned), state["scored"], strict=True
        ):
            sums.merge(Sums(**{**given, "given": Counter(given["given"])}))
    if job.unseen is not None:
        for name, values in state["unseen"].items():
            job.unseen.counts.setdefault(name, Counter()).update(values)
        rows, missing = state["missing"]
        job.unseen.rows += rows
        job.unseen.missing.update(missing)


def _serialized(rows: pa.Table) -> str:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    return base64.b64encode(sink.getvalue().to_pybytes()).decode()


def _deserialized(text: str | None) -> pa.Table | None:
    if text is None:
        return None
    return pa.ipc.open_stream(base64.b64decode(text)).read_all()
