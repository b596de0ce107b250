"""Run ``halfmoon explain``: show why a row was filled as it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

from halfmoon._cli.command_inputs import blaming_model, choose_target, load_table_model
from halfmoon._cli.common_options import CommonOptions
from halfmoon._cli.terminal import (
    print_json,
    print_text,
    row_record,
    shortened,
    text_columns,
)
from halfmoon._number_format import percent
from halfmoon.table._run_settings import Settings
from halfmoon.table._runs.column_findings import column_importance
from halfmoon.table._runs.learn_from_table import learn
from halfmoon.table._runs.row_reasons import (
    ExplainedRow,
    explained_rows,
    most_important,
)
from halfmoon.table._table_errors import CommandError

__all__ = ["run_explain"]

MAX_SHOWN_COLUMNS = 4
CELLS_WIDTH = 96  # characters for the cells of a row
SCALES = {
    "log": "This prediction was made on a logarithmic scale, and the weights apply "
    "there.",
    "mixed": "Part of this prediction was made on a logarithmic scale; the weights are "
    "an average over both parts.",
}


def run_explain(
    common: CommonOptions,
    *,
    rows: tuple[int, ...],
    model: str | None,
    target: str | None,
    **asked: Any,
) -> None:
    """Explain rows.

    Parameters are the options of the command; `asked` holds fields of `Settings`.
    """
    with (
        common.progress() as bars,
        common.open_table() as table,
        blaming_model(model) if model else nullcontext(),
    ):
        if model is not None:
            fitted = load_table_model(model)
            if target not in (None, fitted.target):
                raise CommandError(
                    f"The model predicts {fitted.target!r}, not {target!r}. Leave "
                    f"--target out, or give another model."
                )
            uses = fitted.record_.get("columns", [])
            importance = {use["name"]: use.get("importance") for use in uses}
        else:
            name = choose_target(target, table, asked["unlabeled"])
            settings = Settings(target=name, **asked)
            fitted, scan = learn(table, settings, bars)
            measured = column_importance(fitted, scan.rows, settings.seed)
            importance = {name: each.value for name, each in measured.items()}
        columns = most_important(importance, fitted, MAX_SHOWN_COLUMNS)
        found = explained_rows(table, fitted, list(dict.fromkeys(rows)), columns)
        bars.finish()
    if common.as_json:
        records = [_record(row) for row in found]
        result = {"target": fitted.target, "columns": columns, "rows": records}
        print_json({"status": "done", **result})
    elif not common.quiet:
        for row in found:
            print_text("\n".join(_lines(row, fitted.target, columns)))


def _record(explained: ExplainedRow) -> dict[str, Any]:
    row, cells = explained.shown, explained.cells
    reasons = {
        side: [
            {
                "row": reason.row,
                "label": reason.label,
                "weight": reason.weight,
                "cells": dict(cells.get(reason.row, {})),
            }
            for reason in those
        ]
        for side, those in (("for", row.speaks_for), ("against", row.speaks_against))
    }
    own = {"given": row.given, "cells": dict(cells[row.number])}
    return row_record(row) | own | reasons | {"scale": explained.scale}


def _lines(
    explained: ExplainedRow, target: str, columns: Sequence[str]
) -> Iterator[str]:
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
    rows = [("this row", row.number, row.given or "", "")]
    for side, reasons in (("for", row.speaks_for), ("against", row.speaks_against)):
        for i, reason in enumerate(reasons):
            name = "" if i else side
            rows.append((name, reason.row, reason.label, f"{reason.weight:.0%}"))
    short = partial(shortened, width=CELLS_WIDTH // max(1, len(columns)))
    lines = [["", "row", "label", "weight", *map(short, columns)]]
    for side, number, given, weight in rows:
        texts = explained.cells.get(number, {})
        cells = [short(texts.get(name, "")) for name in columns]
        lines.append([side, str(number), short(given), weight, *cells])
    yield from text_columns(lines)
    if len(rows) == 1:
        yield "  No single labeled row has a large weight."
    if explained.scale in SCALES:
        yield SCALES[explained.scale]
    yield ""
