"""``halfmoon explain``: why a row was filled as it was."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from halfmoon.cli.arguments import Arguments
from halfmoon.cli.chosen import Chosen
from halfmoon.cli.fill import fill
from halfmoon.cli.options import reading_options, shared_options
from halfmoon.cli.outcome import ending_well

if TYPE_CHECKING:
    from halfmoon.report.findings import Reason
    from halfmoon.table.explained_rows import ExplainedRow

__all__ = ["LEARNING", "aligned", "cut", "explain"]

SHOWN_COLUMNS = 4
ROOM = 96  # characters for the cells of a row
#: Options of ``fill`` that have a part in what is learned.
LEARNING = (
    *("features", "exclude", "known", "unlabeled", "merge_labels", "task", "order"),
    *("budget", "memory", "seed"),
)
SCALES = {
    "log": "This prediction was made on a logarithmic scale, and the weights apply "
    "there.",
    "mixed": "Part of this prediction was made on a logarithmic scale; the weights are "
    "an average over both parts.",
}


@click.command(cls=Arguments, no_args_is_help=True)
@click.argument("file", type=click.Path(allow_dash=True))
@click.option("-t", "--target", metavar="COLUMN", help="The column to explain.")
@click.option(
    "--row",
    "rows",
    multiple=True,
    required=True,
    type=click.IntRange(1),
    metavar="NUMBER...",
    help="The rows to explain, as a spreadsheet counts them: the header is row 1.",
)
@click.option(
    "--model",
    metavar="FILE",
    help="Use a model that halfmoon fill --model kept of this table, instead of "
    "learning again.",
)
@reading_options
@shared_options
def explain(rows: tuple[int, ...], model: str | None, **options: Any) -> None:
    """Explain what is predicted for some rows of the table FILE.

    Every prediction is a weighted sum of the labels. This command names the labeled
    rows with the largest weights: those that speak for the prediction and those that
    speak against it, with the cells of the columns that matter most. A row that has a
    label is predicted without it. Nothing is written.

    \b
    Examples:
      Learn from the table, then explain the row that a spreadsheet calls 17:
        halfmoon explain flowers.csv --target species --row 17
      Several rows, by a model that halfmoon fill --model has kept:
        halfmoon explain flowers.csv --row 17 40 --model flowers.halfmoon
    """
    options |= {"output": None, "overwrite": False, "formulas": "escape"}
    chosen, others = Chosen.of(options)
    with ending_well(debug=chosen.debug, as_json=chosen.as_json):
        _explain(chosen, list(dict.fromkeys(rows)), model, **others)


explain.params[2:2] = [each for each in fill.params if each.name in LEARNING]


def _explain(
    chosen: Chosen,
    rows: list[int],
    kept: str | None,
    *,
    target: str | None,
    **asked: Any,
) -> None:
    from halfmoon.cli.kept import table_model
    from halfmoon.cli.targets import asked_targets
    from halfmoon.table.column_importance import column_importance
    from halfmoon.table.errors import CommandError
    from halfmoon.table.explained_rows import explained_rows, most_important
    from halfmoon.table.learning import learn
    from halfmoon.table.settings import Settings

    with chosen.bars() as bars, chosen.table() as table:
        if kept is not None:
            model = table_model(kept)
            if target not in (None, model.target):
                raise CommandError(
                    f"The model predicts {model.target!r}, not {target!r}. Leave "
                    f"--target out, or give another model."
                )
            columns = model.record_.get("columns", [])
            importance = {each["name"]: each.get("importance") for each in columns}
        else:
            (name,) = asked_targets(
                () if target is None else (target,), table, asked["unlabeled"]
            )
            settings = Settings(target=name, **asked)
            model, scan = learn(table, settings, bars)
            measured = column_importance(model, scan.rows, settings.seed)
            importance = dict(measured)
        shown = most_important(importance, model, SHOWN_COLUMNS)
        found = explained_rows(table, model, rows, shown)
        bars.finish()
    if chosen.as_json:
        told = {
            "status": "done",
            "target": model.target,
            "columns": shown,
            "rows": [_record(row) for row in found],
        }
        click.echo(json.dumps(told, ensure_ascii=False))
    elif not chosen.quiet:
        for row in found:
            for line in _lines(row, model.target, shown):
                click.echo(line)


def _record(row: ExplainedRow) -> dict[str, Any]:
    def of(reasons: Sequence[Reason]) -> list[dict[str, Any]]:
        return [
            {
                "row": each.row,
                "label": each.label,
                "weight": each.weight,
                "cells": dict(row.cells.get(each.row, {})),
            }
            for each in reasons
        ]

    record: dict[str, Any] = {"row": row.number, "prediction": row.prediction}
    if row.confidence is not None:
        record["confidence"] = row.confidence
    else:
        record |= {"low": row.low, "high": row.high}
    return record | {
        "given": row.given,
        "cells": dict(row.cells[row.number]),
        "for": of(row.reasons.speaks_for),
        "against": of(row.reasons.speaks_against),
        "scale": row.reasons.scale,
    }


def _lines(row: ExplainedRow, target: str, columns: Sequence[str]) -> Iterator[str]:
    from halfmoon.report.wording import percent

    if row.confidence is None:
        answer, own = row.prediction, row.given
        sure = f"from {row.low} to {row.high}"
    else:
        answer, own = repr(row.prediction), repr(row.given)
        sure = f"confidence {percent(row.confidence)}"
    yield f"Row {row.number}: {target!r} is predicted as {answer} ({sure})."
    if row.given is not None:
        yield f"Its own label, {own}, was hidden for this."
    width = ROOM // max(1, len(columns))
    names = [cut(name, width) for name in columns]
    cells = [["", "row", "label", "weight", *names]]

    def add(side: str, number: int, label: str, weight: str) -> None:
        texts = row.cells.get(number, {})
        shown = [cut(texts.get(name, ""), width) for name in columns]
        cells.append([side, str(number), cut(label, width), weight, *shown])

    add("this row", row.number, row.given or "", "")
    for side, reasons in (
        ("for", row.reasons.speaks_for),
        ("against", row.reasons.speaks_against),
    ):
        for i, each in enumerate(reasons):
            add(side if i == 0 else "", each.row, each.label, f"{each.weight:.0%}")
    yield from aligned(cells)
    if not row.reasons.all:
        yield "  No labeled row speaks for or against it by itself."
    if row.reasons.scale in SCALES:
        yield SCALES[row.reasons.scale]
    yield ""


def aligned(lines: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines of cells as text, each column as wide as its widest cell."""
    widths = [max(len(line[j]) for line in lines) for j in range(len(lines[0]))]
    for line in lines:
        pairs = zip(line, widths, strict=True)
        yield "  " + "  ".join(text.ljust(width) for text, width in pairs).rstrip()


def cut(text: str, width: int) -> str:
    """A cell on one line, cut where it is long.

    Examples
    --------
    >>> cut("a cell\\nof two lines", 12)
    'a cell of...'
    """
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 3] + "..."
