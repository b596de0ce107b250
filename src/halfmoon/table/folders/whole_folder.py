"""Fill the blank labels of a folder of tables: learn from all, write file by file."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import halfmoon
from halfmoon.partitions import Engine
from halfmoon.report.findings import Note
from halfmoon.table.earlier_runs import earlier_runs
from halfmoon.table.errors import CommandError
from halfmoon.table.files.arrow_types import refuse_target_type
from halfmoon.table.fill import Filled, refuse_unfit
from halfmoon.table.folders.folder_table import FolderTable
from halfmoon.table.folders.listing import FolderFile, list_folder, refuse_nested
from halfmoon.table.folders.manifest import Manifest, inputs_of, refuse_full
from halfmoon.table.folders.many_files import files_at_once, mapped
from halfmoon.table.folders.one_file import FilePlan, elsewhere, fill_file
from halfmoon.table.folders.outcomes import Outcome, add_up
from halfmoon.table.forecast import Forecast
from halfmoon.table.learning import (
    given_labels,
    learn,
    settings_of,
)
from halfmoon.table.model import TableModel
from halfmoon.table.second_pass import Job
from halfmoon.table.settings import Settings
from halfmoon.table.stages import Silent, Stages

__all__ = ["fill_folder", "predict_folder"]

SHOWN = 3  # files in a note
Place = str | os.PathLike[str]


def fill_folder(
    folder: Place,
    out: Place,
    several: Settings | Sequence[Settings],
    *,
    overwrite: bool = False,
    resume: bool = False,
    formulas: str = "escape",
    stages: Stages | None = None,
    engine: Engine | None = None,
    **options: Any,
) -> list[Filled]:
    """Learn from all tables of a folder, and write each again with its blanks filled.

    Parameters
    ----------
    folder : path
        With files of Parquet, Feather or CSV that have the same columns. Folders in it
        such as ``country=fr`` are columns too.
    out : path
        A folder that gets a file for each file, at the same place and of the same name.
        Each of them appears when it is whole.
    several : Settings, or sequence of Settings
        One for each target.
    overwrite : bool
        Replace files that are there.
    resume : bool
        Go on with a run that was stopped: files that it has written stay.
    formulas, stages
        Of `fill_table`.
    engine : Engine or None
        What fills the files, each by itself, such as a cluster that sees both folders;
        None is some threads here.
    **options
        Of `open_table`.

    Returns
    -------
    list of Filled
        One for each target, over all files.
    """
    several = [several] if isinstance(several, Settings) else list(several)
    start, stages = time.monotonic(), stages or Silent()
    targets = [settings.target for settings in several]
    files, place = _files(folder, out, overwrite, resume)
    with FolderTable(files, os.fspath(folder), **options) as table:
        for name in targets:
            _refuse_partition_target(name, files)
            if name in table.columns:
                refuse_target_type(name, table.schema.field(name).type)
        runs = earlier_runs(table)
        asked = {**_settings(several), **_asked(formulas, options)}
        manifest = Manifest(place, asked, inputs_of(files))
        kept = manifest.resume() if resume else None
        models, scans = [], []
        for i, settings in enumerate(several):
            given = given_labels(table, settings, runs)
            fitted = None if kept is None else kept[i]
            model, found = learn(table, settings, stages, runs, given, targets, fitted)
            models.append(model)
            scans.append(found)
        if kept is None:
            for model, settings in zip(models, several, strict=True):
                model.record_ = {"settings": asdict(settings)}
            kept = manifest.begin(models)
        plan = FilePlan(
            place,
            kept,
            several,
            runs,
            [[row.number for row in found.totals] for found in scans],
            table.schema,
            formulas=formulas,
            options=options,
        )
        forecast = Forecast.of(kept, scans[0])
        forecast.tell(stages.say)
        before = [sum(table.counts[:i]) for i in range(len(files))]
        tell, memory = stages.stage("Filling in"), several[0].memory
        jobs, escaped = _all_files(
            plan, files, before, manifest, tell, memory, table, engine
        )
        notes = (*table.notes, *forecast.notes(), *_numbering(files, before))
    seconds = time.monotonic() - start
    return [
        Filled(job.model, found, job.tally, n, manifest.digest, seconds, notes)
        for job, found, n in zip(
            jobs, scans, [escaped, *[0] * (len(jobs) - 1)], strict=True
        )
    ]


def predict_folder(
    folder: Place,
    out: Place,
    model: TableModel,
    *,
    overwrite: bool = False,
    resume: bool = False,
    formulas: str = "escape",
    stages: Stages | None = None,
    engine: Engine | None = None,
    **options: Any,
) -> Filled:
    """Write the tables of a folder with what a model says of their rows.

    Parameters
    ----------
    folder, out, overwrite, resume, formulas, stages, engine, **options
        Of `fill_folder`.
    model : TableModel
    """
    start, stages = time.monotonic(), stages or Silent()
    files, place = _files(folder, out, overwrite, resume)
    _refuse_partition_target(model.target, files)
    with FolderTable(files, os.fspath(folder), **options) as table:
        runs = earlier_runs(table)
        refuse_unfit(model, table, runs)
        manifest = Manifest(place, _asked(formulas, options), inputs_of(files))
        resumed = manifest.resume() if resume else None
        (kept,) = manifest.begin([model]) if resumed is None else resumed
        plan = FilePlan(
            place,
            [kept],
            [settings_of(model, table.columns)],
            {model.target: runs[model.target]} if model.target in runs else {},
            schema=table.schema,
            compares=True,
            formulas=formulas,
            options=options,
        )
        tell, before = stages.stage("Predicting"), [0] * len(files)
        jobs, escaped = _all_files(
            plan, files, before, manifest, tell, None, table, engine
        )
        (job,) = jobs
        assert job.unseen is not None
        notes = (*table.notes, *job.unseen.notes())
    seconds, digest = time.monotonic() - start, manifest.digest
    return Filled(
        job.model, None, job.tally, escaped, digest, seconds, notes, job.scored
    )


def _files(
    folder: Place, out: Place, overwrite: bool, resume: bool
) -> tuple[list[FolderFile], Path]:
    if overwrite and resume:
        raise CommandError(
            "--resume goes on with a run and --overwrite begins anew. Give one of them."
        )
    place = Path(out)
    refuse_nested(Path(folder), place)
    files = list_folder(folder)
    if not resume:
        refuse_full(place, overwrite)
    return files, place


def _settings(several: Sequence[Settings]) -> dict[str, Any]:
    """What was asked for, but memory: a run may go on on another machine."""
    all_values = {
        each.name: [getattr(settings, each.name) for settings in several]
        for each in fields(Settings)
        if each.name != "memory"
    }
    return {
        name: values[0] if all(value == values[0] for value in values) else values
        for name, values in all_values.items()
    }


def _asked(formulas: str, options: Mapping[str, Any]) -> dict[str, Any]:
    return {"formulas": formulas, "version": halfmoon.__version__, **options}


def _all_files(
    plan: FilePlan,
    files: Sequence[FolderFile],
    before: Sequence[int],
    manifest: Manifest,
    tell: Callable[[float, float], None],
    memory: str | None,
    table: FolderTable,
    engine: Engine | None,
) -> tuple[list[Job], int]:
    """Write the files that are not done yet; jobs with the counts of all of them."""
    done = manifest.done()
    progress = _Progress(tell, [x["size"] for x in manifest.inputs], done)
    todo = [number for number in range(len(files)) if number not in done]

    def work(number: int) -> Outcome:
        outcome = fill_file(plan, files[number], before[number], progress.of(number))
        manifest.note(number, outcome)
        return outcome

    if engine is None:
        outcomes = mapped(work, todo, files_at_once(memory))
    else:
        outcomes = elsewhere(engine, plan, [(files[i], before[i]) for i in todo])
    for number, outcome in zip(todo, outcomes, strict=True):
        done[number] = outcome
        if engine is not None:
            manifest.note(number, outcome)
            size = manifest.inputs[number]["size"]
            progress.of(number)(size, size)
    jobs = plan.jobs(table)
    return jobs, add_up((done[number] for number in range(len(files))), jobs)


class _Progress:
    """How far all files together have come."""

    def __init__(
        self,
        tell: Callable[[float, float], None],
        sizes: Sequence[int],
        done: Mapping[int, Any],
    ) -> None:
        self._tell, self._in_all = tell, sum(sizes)
        self._read = {i: float(size) for i, size in enumerate(sizes) if i in done}
        self._lock = threading.Lock()

    def of(self, number: int) -> Callable[[float, float], None]:
        """To be told of one of them."""

        def tell(read: float, in_all: float) -> None:
            with self._lock:
                self._read[number] = read
                self._tell(sum(self._read.values()), self._in_all)

        return tell


def _refuse_partition_target(target: str, files: Sequence[FolderFile]) -> None:
    if target in dict(files[0].partition):
        raise CommandError(
            f"{target!r} is the name of a partition ({target}=...), which has no cells "
            f"to fill. Name a column of the tables."
        )


def _numbering(files: Sequence[FolderFile], before: Sequence[int]) -> list[Note]:
    """Where to find the rows that a report names."""
    if len(files) < 2:
        return []
    begins = [
        f"{file.name} begins with row {rows + 1:,}"
        for file, rows in zip(files[1 : SHOWN + 1], before[1:], strict=False)
    ]
    more = f" and {len(files) - SHOWN - 1:,} more" * (len(files) > SHOWN + 1)
    return [
        Note(
            f"Rows are counted through all {len(files):,} files in the order of their "
            f"names: {', '.join(begins)}{more}."
        )
    ]
