"""Fill the blank labels of a folder of tables: learn from all files, write each."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

import halfmoon
from halfmoon._memory import parse_bytes
from halfmoon._notes import Note
from halfmoon._partitioned_rows import Engine
from halfmoon.blocks import alone, worker_count
from halfmoon.table._columns.column_names import earlier_runs
from halfmoon.table._files.arrow_types import refuse_target_type
from halfmoon.table._files.writing import leftover_notes
from halfmoon.table._fill_table import refuse_unfit
from halfmoon.table._folders.folder_table import (
    FolderFile,
    FolderTable,
    left_out_note,
    list_folder,
    refuse_links,
    refuse_nested,
)
from halfmoon.table._folders.manifest import Manifest, inputs_of, refuse_nonempty
from halfmoon.table._folders.one_file import FileOutcome, FilePlan, add_up, fill_file
from halfmoon.table._models.table_model import TableModel
from halfmoon.table._run_settings import Settings, Stages
from halfmoon.table._runs.first_pass import Scan
from halfmoon.table._runs.learn_from_table import learn, settings_of
from halfmoon.table._runs.run_costs import BATCH_BYTES, TimeForecast, resident_bytes
from halfmoon.table._runs.second_pass import Filled, Job, in_threads
from halfmoon.table._table_errors import CommandError

__all__ = ["fill_folder", "predict_folder"]

MAX_LISTED = 3  # files in a note
PathLike = str | os.PathLike[str]


def fill_folder(
    folder: PathLike,
    out: PathLike,
    several: Settings | Sequence[Settings],
    *,
    overwrite: bool = False,
    resume: bool = False,
    formulas: str = "escape",
    stages: Stages | None = None,
    engine: Engine | None = None,
    **options: Any,
) -> list[Filled]:
    """Learn from all tables of a folder, and write each with its blanks filled.

    Parameters
    ----------
    folder : path
        Folder of Parquet, Feather or CSV files with the same columns. A subfolder such
        as ``country=fr`` adds a column.
    out : path
        Output folder, with a file of the same name for each input file. Each appears
        when it is whole.
    several : Settings, or sequence of Settings
        One for each target.
    overwrite : bool
        Whether existing files may be replaced.
    resume : bool
        Whether to continue a stopped run. Files that it has written are kept.
    formulas, stages
        As in `fill_table`.
    engine : Engine or None
        Fills the files, e.g. a cluster that sees both folders. If a worker is lost, a
        file may be filled twice, with the same output. None uses threads of this
        process.
    **options
        Options of `open_table`.

    Returns
    -------
    list of Filled
        One for each target, over all files.
    """
    several = [several] if isinstance(several, Settings) else list(several)
    start, stages = time.monotonic(), stages or Stages()
    targets = [settings.target for settings in several]
    asked = {**_settings(several), "formulas": formulas}
    with _begun(folder, out, targets, asked, overwrite, resume, options) as opened:
        table, manifest = opened
        runs = earlier_runs(table)
        for name in targets:
            if name in table.columns:
                refuse_target_type(name, table.schema.field(name).type)
        saved = manifest.resume() if resume else None
        models, scans = [], []
        for i, settings in enumerate(several):
            fitted = None if saved is None else saved[i]
            model, scan = learn(
                table, settings, stages, runs=runs, targets=targets, fitted=fitted
            )
            models.append(model)
            scans.append(scan)
        saved = saved or manifest.begin(models, overwrite)
        plan = FilePlan(
            manifest.out,
            saved,
            several,
            table.schema,
            runs,
            [[row.number for row in scan.totals] for scan in scans],
            formulas=formulas,
            options=options,
        )
        engine = engine or Threads(files_at_once(several[0].memory))
        done = manifest.done() if resume else {}
        forecast = _forecast(saved, scans[0], table, done, engine)
        forecast.tell(stages.say)
        before = [0, *accumulate(table.counts[:-1])]
        progress = stages.stage("Filling in")
        jobs, escaped = _fill_files(plan, table, before, manifest, progress, engine)
        notes = (*table.notes, *forecast.notes(), *_numbering(table.files, before))
    for job, scan in zip(jobs, scans, strict=True):
        job.scan = scan
    return Filled.of(jobs, escaped, manifest.digest, start, notes)


def _forecast(
    models: list[TableModel],
    scan: Scan,
    table: FolderTable,
    done: Collection[int],
    engine: Engine,
) -> TimeForecast:
    """Return how long the files that are not done yet will take."""
    left = set(range(len(table.files))) - set(done)
    return TimeForecast.of(
        models,
        scan,
        max(1, min(engine.threads, len(left))),
        sum(table.counts[i] for i in left) / max(1, sum(table.counts)),
        table.source.size,
    )


def predict_folder(
    folder: PathLike,
    out: PathLike,
    model: TableModel,
    *,
    overwrite: bool = False,
    resume: bool = False,
    formulas: str = "escape",
    stages: Stages | None = None,
    engine: Engine | None = None,
    **options: Any,
) -> Filled:
    """Write the tables of a folder with the predictions of a model.

    Parameters
    ----------
    folder, out, overwrite, resume, formulas, stages, engine, **options
        As in `fill_folder`.
    model : TableModel
    """
    start, asked = time.monotonic(), {"formulas": formulas}
    names = [model.target]
    with _begun(folder, out, names, asked, overwrite, resume, options) as opened:
        table, manifest = opened
        runs = earlier_runs(table)
        refuse_unfit(model, table, runs)
        saved = manifest.resume([model]) if resume else None
        plan = FilePlan(
            manifest.out,
            saved or manifest.begin([model], overwrite),
            [settings_of(model, table.columns)],
            table.schema,
            {model.target: runs[model.target]} if model.target in runs else {},
            compares=True,
            formulas=formulas,
            options=options,
        )
        progress = (stages or Stages()).stage("Predicting")
        before = [0] * len(table.files)
        engine = engine or Threads(files_at_once(None))
        (job,), n = _fill_files(plan, table, before, manifest, progress, engine)
        assert job.unseen is not None
    notes = (*table.notes, *job.unseen.notes())
    (filled,) = Filled.of([job], n, manifest.digest, start, notes)
    return filled


@contextmanager
def _begun(
    folder: PathLike,
    out: PathLike,
    targets: Sequence[str],
    asked: Mapping[str, Any],
    overwrite: bool,
    resume: bool,
    options: Mapping[str, Any],
) -> Iterator[tuple[FolderTable, Manifest]]:
    """Check the folders; open the table and the manifest."""
    if overwrite and resume:
        raise CommandError(
            "`resume=True` continues a run, but `overwrite=True` starts over. Give one "
            "of them."
        )
    refuse_nested(Path(folder), Path(out))
    files = list_folder(folder)
    refuse_links(files, Path(folder), Path(out))
    if not resume:
        refuse_nonempty(Path(out), overwrite)
    for target in targets:
        if target in dict(files[0].partition):
            raise CommandError(
                f"{target!r} is a partition ({target}=...), which has no cells to "
                f"fill. Name a column of the tables."
            )
    asked = {**asked, "version": halfmoon.__version__, **options}
    with (
        FolderTable(files, os.fspath(folder), **options) as table,
        Manifest(Path(out), asked, inputs_of(files)) as manifest,
    ):
        table.notes += left_out_note(folder)
        table.notes += leftover_notes(out)  # of a report; the manifest looks inside
        yield table, manifest


def _settings(several: Sequence[Settings]) -> dict[str, Any]:
    """Return all settings except memory: a run may continue on another machine."""
    all_values = {
        each.name: [getattr(settings, each.name) for settings in several]
        for each in fields(Settings)
        if each.name != "memory"
    }
    return {
        name: values[0] if all(value == values[0] for value in values) else values
        for name, values in all_values.items()
    }


def _fill_files(
    plan: FilePlan,
    table: FolderTable,
    before: Sequence[int],
    manifest: Manifest,
    report: Callable[[float, float], None],
    engine: Engine,
) -> tuple[list[Job], int]:
    """Write the files that are not done yet; return jobs with the counts of all."""
    sizes = [given["size"] for given in manifest.inputs]
    progress, done = _progress_of_files(report, sum(sizes)), manifest.done()
    for number in done:
        progress(number, sizes[number])
    todo = [number for number in range(len(table.files)) if number not in done]
    partitions: list[tuple[Any, ...]]
    if isinstance(engine, Threads):
        partitions = [(table.files[i], before[i], partial(progress, i)) for i in todo]
    else:  # its workers must see the folders under the same paths
        plan = replace(plan, out=plan.out.resolve())
        partitions = [(table.files[i].resolved(), before[i]) for i in todo]
    outcomes = engine.map(partial(_fill_alone, plan), partitions)
    for number, outcome in zip(todo, outcomes, strict=True):
        table.check_file(number)
        manifest.record_done(number, outcome)
        progress(number, sizes[number])
        done[number] = outcome
    jobs = plan.jobs(table)
    return jobs, add_up((done[number] for number in range(len(table.files))), jobs)


def _fill_alone(plan: FilePlan, *file: Any) -> FileOutcome:
    with alone():  # one thread of BLAS, so that results do not depend on workers
        return fill_file(plan, *file)


def files_at_once(memory: str | int | None) -> int:
    """Return how many files to fill at once: one per core, if memory allows it."""
    cores = worker_count()
    if memory is None:
        return cores
    left = parse_bytes(memory) - resident_bytes()
    return max(1, min(cores, left // BATCH_BYTES))


@dataclass(frozen=True)
class Threads:
    """An engine: threads of this process."""

    threads: int

    def map(
        self, function: Callable[..., Any], partitions: Sequence[tuple[Any, ...]]
    ) -> Iterator[Any]:
        return in_threads(lambda x: function(*x), partitions, self.threads)


def _progress_of_files(
    report: Callable[[float, float], None], total: int
) -> Callable[..., None]:
    """Return a callback for each file by its number, which reports all of them."""
    read_of: dict[int, float] = {}
    done, lock = 0.0, threading.Lock()

    def progress(number: int, read: float, _: float = 0.0) -> None:
        nonlocal done
        with lock:
            done += read - read_of.get(number, 0.0)
            read_of[number] = read
            report(done, total)

    return progress


def _numbering(files: Sequence[FolderFile], before: Sequence[int]) -> list[Note]:
    """Return a note on where to find the rows that a report names."""
    if len(files) < 2:
        return []
    starts = [
        f"{file.name} begins with row {rows + 1:,}"
        for file, rows in zip(files[1 : MAX_LISTED + 1], before[1:], strict=False)
    ]
    n_more = len(files) - MAX_LISTED - 1
    more = f" and {n_more:,} more" if n_more > 0 else ""
    return [
        Note(
            f"Rows are counted over all {len(files):,} files in the order of their "
            f"names: {', '.join(starts)}{more}."
        )
    ]
