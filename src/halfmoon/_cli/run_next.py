"""Run ``halfmoon next``: choose the rows to label next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from halfmoon._cli.command_inputs import choose_target, read_typed_labels
from halfmoon._cli.common_options import CommonOptions
from halfmoon._cli.terminal import (
    print_json,
    print_text,
    row_record,
    shortened,
    text_columns,
)
from halfmoon._number_format import count, percent
from halfmoon._report.findings import ShownRow
from halfmoon.table._files import refuse_place
from halfmoon.table._run_settings import Settings
from halfmoon.table._runs.label_sheets import (
    refuse_to_lose_labels,
    write_rows_to_label,
)
from halfmoon.table._runs.output_columns import Cells
from halfmoon.table._runs.row_reasons import shown_row
from halfmoon.table._runs.rows_to_label import asked_rows

__all__ = ["run_next"]

MAX_COLUMNS = 4
CELL_WIDTH = 24  # characters


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
    columns = [use.name for use in model.table_.used][:MAX_COLUMNS]
    shown = [shown_row(row, columns, cells, first_row) for row in rows]
    if common.as_json:
        records = [
            row_record(each) | {"cells": row.cells}
            for each, row in zip(shown, rows, strict=True)
        ]
        found = {"target": name, "by": rule, "rows": records, "list": path}
        print_json({"status": "done", **found})
    elif not common.quiet and path is not None:
        written = count(len(rows), "row")
        print_text(f"Wrote {written} to label next in {name!r} to {path}.")
    elif not common.quiet:
        print_text("\n".join(_lines(shown, name, columns, cells.kind)))


def _lines(
    rows: Sequence[ShownRow], target: str, columns: Sequence[str], kind: str
) -> Iterator[str]:
    short = partial(shortened, width=CELL_WIDTH)
    sure = "confidence" if kind == "classes" else "interval"
    lines = [["row", short(target), sure, *map(short, columns)]]
    for row in rows:
        sure = f"{row.low} to {row.high}"
        if row.confidence is not None:
            sure = percent(row.confidence)
        cells = [str(row.number), short(row.prediction), sure, *map(short, row.cells)]
        lines.append(cells)
    yield from text_columns(lines)
