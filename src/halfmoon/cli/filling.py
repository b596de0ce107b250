"""What ``halfmoon fill`` does once its arguments are read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from halfmoon.cli.chosen import Chosen
from halfmoon.cli.kept import keep
from halfmoon.cli.places import STREAM, for_target, named, report_beside
from halfmoon.cli.targets import asked_targets
from halfmoon.label.journal import is_journal
from halfmoon.label.label_files import answered_labels, joined_lines
from halfmoon.report import render, render_rows
from halfmoon.table.cells import Cells
from halfmoon.table.errors import CommandError
from halfmoon.table.files import Table, open_table, refuse_place, replacing
from halfmoon.table.fill import Filled, fill_targets
from halfmoon.table.folders import fill_folder
from halfmoon.table.given_labels import TypedLabels
from halfmoon.table.label_lists import (
    read_labels,
    refuse_to_lose_labels,
    write_rows_to_label,
)
from halfmoon.table.next_rows import next_rows
from halfmoon.table.record import record_of
from halfmoon.table.settings import Settings
from halfmoon.table.story import filled_rows, findings_of

__all__ = ["asked_task", "run_fill", "typed_labels"]


def run_fill(
    chosen: Chosen,
    command: str,
    *,
    target: tuple[str, ...],
    model: str | None,
    report: str | None,
    no_report: bool,
    interactive: str | None,
    to_label: tuple[int, str] | None,
    labels: tuple[str, ...],
    resume: bool = False,
    dask: str | None = None,
    **asked: Any,
) -> None:
    """Fill a table, and write what was asked for beside it.

    Parameters
    ----------
    chosen : Chosen
    command : str
        That repeats the run.
    target, model, report, no_report, interactive, to_label, labels, resume, dask
        Options of the command.
    **asked
        Fields of `Settings`.
    """
    asked["task"] = asked_task(asked["task"], asked["order"])
    chosen.refuse_for_file(resume, dask)
    with chosen.bars() as bars, chosen.table() as table:
        new = asked["low"] is not None or asked["high"] is not None
        targets = asked_targets(target, table, asked["unlabeled"], may_be_new=new)
        if not Path(chosen.place).name:  # a folder, or nothing: no report beside it
            refuse_place(chosen.place)
        reports = _reports(targets, report, no_report, chosen)
        todo = None if to_label is None else to_label[1]
        one = len(targets) == 1
        of_one = {"--model": model, "--interactive": interactive, "--to-label": todo}
        of_one |= {"--low": asked["low"], "--high": asked["high"]}
        _refuse_for_several(targets, of_one)
        del of_one["--low"], of_one["--high"]
        places = {
            "--report" if one else f"--report of {name!r}": place
            for name, place in reports.items()
        } | of_one
        _refuse_shared_places(places, chosen)
        if chosen.is_folder:
            _refuse_for_folder({"--to-label": todo, "--labels": labels}, chosen)
        inputs = [*([] if chosen.file == STREAM else [chosen.file]), *labels]
        for place in places.values():  # before any work is done in vain
            if place is not None:
                refuse_place(place, chosen.overwrite or resume, inputs)
        if todo is not None:
            refuse_to_lose_labels(todo, targets[0])
        several = [Settings(target=name, **asked) for name in targets]
        if chosen.is_folder:
            with chosen.engine(dask) as engine:
                filled = fill_folder(
                    chosen.file,
                    chosen.place,
                    several,
                    overwrite=chosen.overwrite,
                    resume=resume,
                    formulas=chosen.formulas,
                    stages=bars,
                    engine=engine,
                    **chosen.reading,
                )
        else:
            marks = asked["unlabeled"]
            typed = {
                name: typed_labels(labels, table, name, one, marks) for name in targets
            }
            filled = fill_targets(
                table, several=several, typed=typed, stages=bars, **chosen.writing
            )
        chosen = replace(chosen, overwrite=chosen.overwrite or resume)
        bars.stage("Reporting")
        if to_label is not None:
            _write_to_label(to_label, filled[0], table, chosen)
        runs = []
        for each, settings in zip(filled, several, strict=True):
            beside = {
                "report": reports[settings.target],
                "model": model,
                "interactive": interactive,
            }
            record = _told(each, settings, chosen, command, **beside)
            runs.append((record, {**beside, "to_label": todo}))
        bars.finish()
    chosen.say(runs)


def asked_task(task: str | None, order: tuple[str, ...]) -> str | None:
    """The task, which an order of the classes implies."""
    if not order:
        return task
    if task not in (None, "ordered"):
        raise CommandError(
            f"--order needs --task ordered, but --task is {task}. Leave out one of "
            f"them."
        )
    return "ordered"


def _told(
    filled: Filled,
    settings: Settings,
    chosen: Chosen,
    command: str,
    *,
    report: str | None,
    model: str | None,
    interactive: str | None,
) -> dict[str, Any]:
    """The record of a run, with its pages and its model written."""
    found = findings_of(
        filled,
        settings,
        source=named(chosen.file),
        command=command,
        with_map=report is not None,
    )
    record = record_of(found, settings)
    if model is not None:
        filled.model.record_ = record
        keep(filled.model, model, overwrite=chosen.overwrite)
    if report is not None:
        with replacing(report, overwrite=chosen.overwrite) as page:
            page.write(render(found).encode())
    if interactive is not None:
        with replacing(interactive, overwrite=chosen.overwrite) as page:
            page.write(render_rows(found, filled_rows(filled, found)).encode())
    return record


def _write_to_label(
    asked: tuple[int, str], filled: Filled, table: Table, chosen: Chosen
) -> None:
    count, place = asked
    write_rows_to_label(
        place,
        table,
        filled.model.target,
        next_rows(filled.model, filled.tally.unsure, count),
        Cells.of(filled.model),
        overwrite=chosen.overwrite,
        formulas=chosen.formulas,
    )


def typed_labels(
    places: tuple[str, ...],
    table: Table,
    target: str,
    only: bool,
    unlabeled: tuple[str, ...] = (),
) -> TypedLabels:
    """Labels typed into lists of rows, or on the page; of two for a row the last.

    Parameters
    ----------
    places : tuple of str
        Lists of rows, and files of answers, which count as one.
    table : Table
    target : str
    only : bool
        It is the only target; otherwise a file may be of another one.
    unlabeled : tuple of str
        Further marks of blanks.
    """
    typed = TypedLabels()
    pages = [place for place in places if is_journal(place)]
    for place in places:
        if place in pages:
            continue
        with open_table(place) as made:
            if only or target in made.columns:
                typed = typed.joined(read_labels(made, table, target))
    if pages and (only or _has_answers(pages, target)):
        typed = typed.joined(answered_labels(pages, table, target, unlabeled))
    return typed


def _has_answers(pages: list[str], target: str) -> bool:
    return any(line.get("column") == target for line in joined_lines(pages).lines)


def _reports(
    targets: list[str], asked: str | None, no_report: bool, chosen: Chosen
) -> dict[str, str | None]:
    """Where the report on each target goes."""
    if len(targets) == 1:
        place = asked
        if place is None and chosen.place != STREAM and not no_report:
            place = str(report_beside(Path(chosen.place)))
        return {targets[0]: place}
    if asked is not None:
        return {name: str(for_target(Path(asked), name)) for name in targets}
    if chosen.place == STREAM or no_report:
        return dict.fromkeys(targets)
    return {name: str(report_beside(Path(chosen.place), name)) for name in targets}


def _refuse_for_several(targets: list[str], places: dict[str, str | None]) -> None:
    for option, place in places.items():
        if place is not None and len(targets) > 1:
            raise CommandError(
                f"{option} is for one target, and {len(targets)} were named. Run the "
                f"command once for each of them."
            )


def _refuse_for_folder(given: dict[str, Any], chosen: Chosen) -> None:
    for option, value in given.items():
        if value:
            raise CommandError(
                f"{option} works with one table, and {chosen.file} is a folder. Give a "
                f"pattern instead, which is read as one table: "
                f"{str(Path(chosen.file) / '*.csv')!r}."
            )


def _refuse_shared_places(places: dict[str, str | None], chosen: Chosen) -> None:
    """Refuse two outputs in one place, and streams for what is not the table."""
    taken = {} if chosen.place == STREAM else {Path(chosen.place).resolve(): "--output"}
    for option, place in places.items():
        if place is None:
            continue
        if place == STREAM:
            raise CommandError(
                f"{option} - is standard output, where only the table can go. Give "
                f"{option} the name of a file."
            )
        other = taken.setdefault(Path(place).resolve(), option)
        if other != option:
            raise CommandError(
                f"{other} and {option} are both {place}; give each a name of its own."
            )
