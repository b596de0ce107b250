"""The filled table and its report, made from the answers so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from halfmoon.label.label_files import number_text
from halfmoon.label.labeling import Labeling
from halfmoon.report import render
from halfmoon.table.files import Table
from halfmoon.table.fill import fill_targets
from halfmoon.table.given_labels import TypedLabels
from halfmoon.table.story import findings_of

__all__ = ["FilledTable", "filled_table"]

LONGER = 4  # times the search of a refit, for the model that fills


@dataclass(frozen=True)
class FilledTable:
    """Files that were made.

    Attributes
    ----------
    table, report : Path
    sentence : str
        What came of it.
    """

    table: Path
    report: Path
    sentence: str


def filled_table(
    labeling: Labeling, opened: Callable[[], Table], folder: Path, name: str
) -> FilledTable:
    """Fill the table as ``halfmoon fill --labels`` would.

    Parameters
    ----------
    labeling : Labeling
    opened : callable
        Opens the table.
    folder : Path
        For the files.
    name : str
        Of the filled table; its ending sets the format.
    """
    from halfmoon.table.record import record_of

    with labeling.lock:
        found = labeling.answers.labels(labeling.rows)
    style = labeling.kept.style
    labels = {
        row: value if isinstance(value, str) else number_text(value, style)
        for row, value in found.items()
    }
    settings = labeling.settings
    settings = replace(settings, budget=LONGER * settings.budget)
    table_path = folder / name
    stem = name.partition(".filled")[0]
    report_path = folder / f"{stem}.report.html"
    with opened() as table:
        (filled,) = fill_targets(
            table,
            table_path,
            [settings],
            typed={settings.target: TypedLabels(labels, frozenset(labels))},
            overwrite=True,
        )
        command = (
            f"halfmoon fill {labeling.name} --target {settings.target} --labels "
            f"{labeling.journal.path.name}"
        )
        told = findings_of(filled, settings, source=labeling.name, command=command)
        report_path.write_text(render(told), encoding="utf-8")
        summary = record_of(told, settings)["summary"]
    return FilledTable(table_path, report_path, " ".join(summary[:1]))
