"""Run ``halfmoon next`` and ``halfmoon explain``: show rows, with their predictions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

from halfmoon._cli.command_inputs import (
    blaming_model,
    choose_target,
    load_table_model,
    read_typed_labels,
)
from halfmoon._cli.common_options import CommonOptions
from halfmoon._cli.terminal import print_json, print_text
from halfmoon._number_format import count, percent
from halfmoon._report.findings import ShownRow
from halfmoon.table._files import refuse_place
from halfmoon.table._run_settings import Settings
from halfmoon.table._runs.column_findings import column_importance
from halfmoon.table._runs.label_sheets import refuse_to_lose_labels, write_rows_to_label
from halfmoon.table._runs.learn_from_table import learn
from halfmoon.table._runs.output_columns import Cells
from halfmoon.table._runs.row_reasons import (
    ExplainedRow,
    explained_rows,
    most_important,
    shown_row,
)
from halfmoon.table._runs.rows_to_label import asked_rows
from halfmoon.table._table_errors import CommandError

__all__ = ["run_explain", "run_next"]

MAX_COLUMNS = 4
CELL_WIDTH = 24  # characters
CELLS_WIDTH = 96  # characters for the cells of a row
SCALES = {
    "log": "This prediction was made on a logarithmic scale, and the weights apply "
    "there.",
    "mixed": "Part of this prediction was made on a logarithmic scale; the weights are "
    "an average over both parts.",
}


def run_next(
    common: CommonOptions,
    *,
    n_rows: int,
    rule: str,
    target: str | None,
    labels: tuple[str, ...],
    **asked: Any,
) -> None:
    """Choose rows, and print them or write them to a list.

    Parameters are the options of the command; `asked` holds fields of `Settings`.
    """
    path = common.output
    with common.progress() as bars, common.open_table() as table:
        name = choose_target(target, table, asked["unlabeled"])
        if path is not None:
            refuse_place(path, common.overwrite, [*common.inputs, *labels])
            refuse_to_lose_labels(path, name)
        model, rows = asked_rows(
            table,
            Settings(target=name, **asked),
            n_rows,
            rule=rule,
            typed=read_typed_labels(labels, table, name, asked["unlabeled"]),
            stages=bars,
        )
        cells, first_row = Cells.of(model), table.first_row
        if path is not None:
            write_rows_to_label(path, table, name, rows, cells, **common.writing)
        bars.finish()
    columns = [use.name for use in model.columns_.used][:MAX_COLUMNS]
    shown = [shown_row(row, columns, cells, first_row) for row in rows]
    if common.as_json:
        records = [
            _row_record(each) | {"cells": row.cells}
            for each, row in zip(shown, rows, strict=True)
        ]
        found = {"target": name, "by": rule, "rows": records, "list": path}
        print_json({"status": "done", **found})
    elif not common.quiet and path is not None:
        written = count(len(rows), "row")
        print_text(f"Wrote {written} to label next in {name!r} to {path}.")
    elif not common.quiet:
        print_text("\n".join(_chosen_lines(shown, name, columns, cells.kind)))


def _chosen_lines(
    rows: Sequence[ShownRow], target: str, columns: Sequence[str], kind: str
) -> Iterator[str]:
    short = partial(_shortened, width=CELL_WIDTH)
    sure = "confidence" if kind == "classes" else "interval"
    lines = [["row", short(target), sure, *map(short, columns)]]
    for row in rows:
        sure = f"{row.low} to {row.high}"
        if row.confidence is not None:
            sure = percent(row.confidence)
        cells = [str(row.number), short(row.prediction), sure, *map(short, row.cells)]
        lines.append(cells)
    yield from _text_columns(lines)


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
        columns = most_important(importance, fitted, MAX_COLUMNS)
        found = explained_rows(table, fitted, list(dict.fromkeys(rows)), columns)
        bars.finish()
    if common.as_json:
        records = [_explained_record(row) for row in found]
        result = {"target": fitted.target, "columns": columns, "rows": records}
        print_json({"status": "done", **result})
    elif not common.quiet:
        for row in found:
            print_text("\n".join(_explained_lines(row, fitted.target, columns)))


def _explained_record(explained: ExplainedRow) -> dict[str, Any]:
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
    return _row_record(row) | own | reasons | {"scale": explained.scale}


def _explained_lines(
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
    short = partial(_shortened, width=CELLS_WIDTH // max(1, len(columns)))
    lines = [["", "row", "label", "weight", *map(short, columns)]]
    for side, number, given, weight in rows:
        texts = explained.cells.get(number, {})
        cells = [short(texts.get(name, "")) for name in columns]
        lines.append([side, str(number), short(given), weight, *cells])
    yield from _text_columns(lines)
    if len(rows) == 1:
        yield "  No single labeled row has a large weight."
    if explained.scale in SCALES:
        yield SCALES[explained.scale]
    yield ""


def _row_record(row: ShownRow) -> dict[str, Any]:
    """Return a row and its prediction as plain data."""
    sure: dict[str, Any] = {"low": row.low, "high": row.high}
    if row.confidence is not None:
        sure = {"confidence": row.confidence}
    return {"row": row.number, "prediction": row.prediction, **sure}


def _text_columns(lines: Sequence[Sequence[str]]) -> Iterator[str]:
    """Return lines of cells as text, each column as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        yield "  " + "  ".join(cells).rstrip()


def _shortened(text: str, width: int) -> str:
    """Return a cell on one line, cut off if it is long.

    Examples
    --------
    >>> _shortened("a cell\\nof two lines", 12)
    'a cell of...'
    """
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 3] + "..."
