"""Fill the table with the answers so far, for the downloads of the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from halfmoon._label.journal import read_journal
from halfmoon._label.labels_from_journal import labels_of
from halfmoon._label.session import Labeling
from halfmoon._report import render
from halfmoon.table._files import Table
from halfmoon.table._fill_table import fill_targets
from halfmoon.table._runs.build_findings import findings_of

__all__ = ["FilledTable", "filled_table"]

BUDGET_FACTOR = 4  # the model that fills is searched for longer than a refit


@dataclass(frozen=True)
class FilledTable:
    """A filled table and its report."""

    table: Path
    report: Path
    sentence: str  # the headline of the report


def filled_table(
    labeling: Labeling, opened: Callable[[], Table], folder: Path, name: str
) -> FilledTable:
    """Fill the table as ``halfmoon fill --labels`` would, into a file of a folder."""
    from halfmoon.table._runs.run_summary import record_of

    path, settings = labeling.journal.path, labeling.settings
    target = settings.target
    with labeling.lock:  # between two answers
        read = read_journal(path)
        has_answers = bool(labeling.answers)
    made = folder / name, folder / f"{name.partition('.filled')[0]}.report.html"
    command = f"halfmoon fill {labeling.name} --target {target} --labels {path.name}"
    with opened() as table:
        typed = {}
        if has_answers:  # matched again, since the table may have changed on disk
            blanks = settings.unlabeled
            typed[target] = labels_of(read, path.name, table, target, blanks)
        settings = replace(settings, budget=BUDGET_FACTOR * settings.budget)
        (filled,) = fill_targets(
            table, made[0], [settings], typed=typed, overwrite=True
        )
        findings = findings_of(filled, settings, source=labeling.name, command=command)
        made[1].write_text(render(findings), encoding="utf-8")
    return FilledTable(*made, record_of(findings, settings)["summary"][0])
