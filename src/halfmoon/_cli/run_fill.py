"""Run ``halfmoon fill``: check the outputs, fill, then write report and model."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from halfmoon._cli.command_inputs import choose_targets, read_typed_labels, save_model
from halfmoon._cli.common_options import CommonOptions, command_line
from halfmoon._cli.paths import STREAM, display_name, path_for_target, report_path
from halfmoon._cli.terminal import ProgressBars, print_runs
from halfmoon._report.report_page import render, render_rows
from halfmoon.table._files import Table, refuse_place, replacing
from halfmoon.table._fill_table import fill_targets
from halfmoon.table._run_settings import Settings
from halfmoon.table._runs.build_findings import filled_rows, findings_of
from halfmoon.table._runs.label_sheets import refuse_to_lose_labels, write_rows_to_label
from halfmoon.table._runs.output_columns import Cells
from halfmoon.table._runs.rows_to_label import rows_to_label, whole_rows
from halfmoon.table._runs.run_summary import record_of
from halfmoon.table._runs.second_pass import Filled
from halfmoon.table._table_errors import CommandError, OutputError

__all__ = ["run_fill"]


def run_fill(
    common: CommonOptions,
    *,
    target: Sequence[str],
    model: str | None,
    report: str | None,
    no_report: bool,
    interactive: str | None,
    to_label: tuple[int, str] | None,
    labels: Sequence[str],
    **asked: Any,
) -> None:
    """Fill a table, and write the report and the other outputs.

    Parameters are the options of the command; `asked` holds fields of `Settings`.
    """
    common.refuse_folder_options()
    count, todo = to_label or (0, None)
    single = {"--model": model, "--interactive": interactive, "--to-label": todo}
    with common.progress() as bars, common.open_table() as table:
        limits = {"--low": asked["low"], "--high": asked["high"]}
        may_be_new = any(column is not None for column in limits.values())
        targets = choose_targets(target, table, asked["unlabeled"], may_be_new)
        several = [Settings(target=name, **asked) for name in targets]
        if not Path(common.destination).name:  # no name to derive the report's from
            refuse_place(common.destination)
        reports = _report_paths(targets, report, no_report, common.destination)
        _refuse_combinations(common, targets, single | limits, todo, labels)
        outputs = {
            "--report" if len(targets) == 1 else f"--report of {name!r}": path
            for name, path in reports.items()
        }
        _check_outputs(outputs | single, common, labels)
        if todo is not None:
            refuse_to_lose_labels(todo, targets[0])
        filled = _fill(common, table, several, labels, bars)
        common = replace(common, overwrite=common.overwrite or common.resume)
        bars.stage("Reporting")
        if todo is not None:
            _write_rows_to_label(filled[0], several[0], table, count, todo, common)
        runs = []
        for each, settings in zip(filled, several, strict=True):
            paths = {
                "report": reports[settings.target],
                "model": model,
                "interactive": interactive,
            }
            record = _write_results(each, settings, common, **paths)
            runs.append((record, {**paths, "to_label": todo}))
        bars.finish()
    print_runs(runs, common)


def _refuse_combinations(
    common: CommonOptions,
    targets: Sequence[str],
    for_one_target: Mapping[str, Any],
    todo: str | None,
    labels: Sequence[str],
) -> None:
    """Refuse options that do not go with several targets, or with a folder."""
    if len(targets) > 1:
        _refuse(
            for_one_target,
            f"is for one target, but {len(targets)} were named. Run the command once "
            f"for each of them.",
        )
    if common.is_folder:
        pattern = str(Path(common.file) / "*.csv")
        _refuse(
            {"--to-label": todo, "--labels": labels or None},
            f"works with one table, but {common.file} is a folder. Give a pattern "
            f"instead, which is read as one table: {pattern!r}.",
        )


def _fill(
    common: CommonOptions,
    table: Table,
    several: list[Settings],
    labels: Sequence[str],
    bars: ProgressBars,
) -> Sequence[Filled]:
    """Fill a table, or the tables of a folder."""
    if common.is_folder:
        from halfmoon.table._folders import fill_folder

        with common.engine() as engine:
            return fill_folder(
                several=several, stages=bars, engine=engine, **common.folder_run
            )
    typed = {
        each.target: read_typed_labels(
            labels, table, each.target, each.unlabeled, len(several) == 1
        )
        for each in several
    }
    return fill_targets(
        table, several=several, typed=typed, stages=bars, **common.table_run
    )


def _write_rows_to_label(
    filled: Filled,
    settings: Settings,
    table: Table,
    count: int,
    path: str,
    common: CommonOptions,
) -> None:
    assert filled.scan is not None
    model, unsure = filled.model, filled.tally.unsure
    found = rows_to_label(model, filled.scan, unsure, count, settings.seed)
    rows, cells = whole_rows(table, found), Cells.of(model)
    write_rows_to_label(path, table, settings.target, rows, cells, **common.writing)


def _write_results(
    filled: Filled,
    settings: Settings,
    common: CommonOptions,
    *,
    report: str | None,
    model: str | None,
    interactive: str | None,
) -> dict[str, Any]:
    """Write the model and the HTML pages of a run; return its record."""
    findings = findings_of(
        filled,
        settings,
        source=display_name(common.file),
        command=command_line(),
        for_page=report is not None,
    )
    record = record_of(findings, settings)
    if model is not None:
        filled.model.record_ = record
        save_model(filled.model, model, overwrite=common.overwrite)
    if report is not None:
        with replacing(report, overwrite=common.overwrite) as page:
            page.write(render(findings).encode())
    if interactive is not None:
        with replacing(interactive, overwrite=common.overwrite) as page:
            page.write(render_rows(findings, filled_rows(filled, findings)).encode())
    return record


def _report_paths(
    targets: list[str], asked: str | None, no_report: bool, destination: str
) -> dict[str, str | None]:
    """Return the path of the report on each target."""
    several = len(targets) > 1
    if asked is not None:
        path = Path(asked)
        return {
            name: str(path_for_target(path, name)) if several else asked
            for name in targets
        }
    if no_report or destination == STREAM:
        return dict.fromkeys(targets)
    path = Path(destination)
    return {name: str(report_path(path, name if several else "")) for name in targets}


def _refuse(given: Mapping[str, Any], why: str) -> None:
    """Refuse the first option that was given."""
    for option, value in given.items():
        if value is not None:
            raise CommandError(f"{option} {why}")


def _check_outputs(
    outputs: Mapping[str, str | None], common: CommonOptions, labels: Sequence[str]
) -> None:
    """Refuse, before any work, outputs that cannot be written or share one path."""
    destination = common.destination
    output = None if destination == STREAM else os.path.realpath(destination)
    taken = {output: "--output"}
    given = {option: path for option, path in outputs.items() if path is not None}
    for option, path in given.items():
        if path == STREAM:
            raise CommandError(
                f"{option} - is standard output, where only the table can go. Give "
                f"{option} the name of a file."
            )
        other = taken.setdefault(os.path.realpath(path), option)
        if other != option:
            raise CommandError(
                f"{other} and {option} are both {path}. Give each its own name."
            )
    overwrite = common.overwrite or common.resume
    if output is not None and not common.is_folder:
        refuse_place(destination, overwrite, labels)
    for option, path in given.items():
        is_device = refuse_place(path, overwrite, [*common.inputs, *labels])
        if is_device and option == "--model":
            raise OutputError(
                f"{path} is a device or pipe, where a model cannot go. Give --model "
                f"the name of a file."
            )
