"""``halfmoon explain``: show why a row was filled as it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from halfmoon._cli.argument_types import Arguments
from halfmoon._cli.common_options import (
    CommonOptions,
    learning_options,
    option,
    reading_options,
    running,
    shared_options,
)

if TYPE_CHECKING:
    from halfmoon._report.findings import Reason
    from halfmoon.table._models.row_reasons import ExplainedRow

__all__ = ["explain"]

MAX_SHOWN_COLUMNS = 4
CELLS_WIDTH = 96  # characters for the cells of a row
SCALES = {
    "log": "This prediction was made on a logarithmic scale, and the weights apply "
    "there.",
    "mixed": "Part of this prediction was made on a logarithmic scale; the weights are "
    "an average over both parts.",
}


@click.command(cls=Arguments, no_args_is_help=True)
@click.argument("file", type=click.Path(allow_dash=True))
@option("-t --target COLUMN", "The column to explain.")
@option(
    "--row NUMBER...",
    "The rows to explain, as a spreadsheet counts them: the header is row 1.",
    to="rows",
    required=True,
    type=click.IntRange(1),
)
@option(
    "--model FILE",
    "Use a model that halfmoon fill --model saved for this table, instead of "
    "learning again.",
)
@learning_options()
@reading_options
@shared_options
def explain(rows: tuple[int, ...], model: str | None, **options: Any) -> None:
    """Explain the predictions for some rows of the table FILE.

    A prediction is a weighted sum of the labels. This command lists the labeled rows
    with the largest weights, for and against the prediction, with their cells in the
    most important columns. If the row itself has a label, the label is hidden first.
    Nothing is written.

    \b
    Examples:
      Learn from the table, then explain row 17 of the spreadsheet:
        halfmoon explain flowers.csv --target species --row 17
      Explain several rows with a saved model:
        halfmoon explain flowers.csv --row 17 40 --model flowers.halfmoon
    """
    with running(options) as (common, others):
        _explain(common, list(dict.fromkeys(rows)), model, **others)


def _explain(
    common: CommonOptions,
    numbers: list[int],
    model_path: str | None,
    *,
    target: str | None,
    **asked: Any,
) -> None:
    from halfmoon._cli.choose_targets import choose_target
    from halfmoon._cli.load_model import blaming_model, load_table_model
    from halfmoon._cli.print_summary import print_json
    from halfmoon.table._models.row_reasons import explained_rows, most_important
    from halfmoon.table._runs.column_findings import column_importance
    from halfmoon.table._runs.learn_from_table import learn
    from halfmoon.table._runs.run_settings import Settings
    from halfmoon.table._table_errors import CommandError

    with (
        common.progress() as bars,
        common.open_table() as table,
        blaming_model(model_path) if model_path else nullcontext(),
    ):
        if model_path is not None:
            model = load_table_model(model_path)
            if target not in (None, model.target):
                raise CommandError(
                    f"The model predicts {model.target!r}, not {target!r}. Leave "
                    f"--target out, or give another model."
                )
            uses = model.record_.get("columns", [])
            importance = {use["name"]: use.get("importance") for use in uses}
        else:
            name = choose_target(target, table, asked["unlabeled"])
            settings = Settings(target=name, **asked)
            model, scan = learn(table, settings, bars)
            importance = dict(column_importance(model, scan.rows, settings.seed))
        columns = most_important(importance, model, MAX_SHOWN_COLUMNS)
        rows = explained_rows(table, model, numbers, columns)
        bars.finish()
    if common.as_json:
        print_json(
            {
                "status": "done",
                "target": model.target,
                "columns": columns,
                "rows": [_record(row) for row in rows],
            }
        )
    elif not common.quiet:
        for row in rows:
            click.echo("\n".join(_lines(row, model.target, columns)))


def _record(explained: ExplainedRow) -> dict[str, Any]:
    row, cells = explained.shown, explained.cells

    def records(reasons: Sequence[Reason]) -> list[dict[str, Any]]:
        return [
            {
                "row": reason.row,
                "label": reason.label,
                "weight": reason.weight,
                "cells": dict(cells.get(reason.row, {})),
            }
            for reason in reasons
        ]

    record: dict[str, Any] = {"row": row.number, "prediction": row.prediction}
    if row.confidence is not None:
        record["confidence"] = row.confidence
    else:
        record |= {"low": row.low, "high": row.high}
    return record | {
        "given": row.given,
        "cells": dict(cells[row.number]),
        "for": records(row.speaks_for),
        "against": records(row.speaks_against),
        "scale": explained.scale,
    }


def _lines(
    explained: ExplainedRow, target: str, columns: Sequence[str]
) -> Iterator[str]:
    from halfmoon._cli.print_summary import shortened, text_columns
    from halfmoon._report.sentences import percent

    row = explained.shown
    if row.confidence is None:
        prediction, label = row.prediction, row.given
        sure = f"from {row.low} to {row.high}"
    else:
        prediction, label = repr(row.prediction), repr(row.given)
        sure = f"confidence {percent(row.confidence)}"
    yield f"Row {row.number}: the prediction for {target!r} is {prediction} ({sure})."
    if row.given is not None:
        yield f"Its label, {label}, was hidden for this prediction."
    width = CELLS_WIDTH // max(1, len(columns))
    lines = [["", "row", "label", "weight", *(shortened(c, width) for c in columns)]]

    def add(side: str, number: int, label: str, weight: str) -> None:
        texts = explained.cells.get(number, {})
        cells = [shortened(texts.get(name, ""), width) for name in columns]
        lines.append([side, str(number), shortened(label, width), weight, *cells])

    add("this row", row.number, row.given or "", "")
    for side, reasons in (
        ("for", row.speaks_for),
        ("against", row.speaks_against),
    ):
        for i, reason in enumerate(reasons):
            weight = f"{reason.weight:.0%}"
            add(side if i == 0 else "", reason.row, reason.label, weight)
    yield from text_columns(lines)
    if not row.speaks_for and not row.speaks_against:
        yield "  No single labeled row has a large weight."
    if explained.scale in SCALES:
        yield SCALES[explained.scale]
    yield ""
