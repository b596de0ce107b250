"""``halfmoon next``: choose the rows to label next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from halfmoon._cli.common_options import (
    FORMULAS,
    LEARNING,
    MAX_ROWS_TO_LABEL,
    PRINTING,
    READING,
    CommonOptions,
    command,
    options,
)

if TYPE_CHECKING:
    from halfmoon._report.findings import ShownRow

__all__ = ["next_rows"]

MAX_COLUMNS = 4
CELL_WIDTH = 24  # characters


MANUAL = f"""
-t --target COLUMN
    The column to label.
{LEARNING}
--labels FILE...
    Use the labels in these files: earlier lists that you filled in, or labels from
    halfmoon label (NAME.labels.jsonl).
-n N
    How many rows.
--by
    How to choose. informative: unsure rows that say most about the other rows. margin:
    the rows that halfmoon is least sure of. variance: rows that make all predictions
    surer. maximin: rows that change the predictions most, no matter which label they
    get. random: any rows.
-o --output FILE
    Write the rows to this file instead of printing them, with an empty cell for each
    label. To use the labels that you type into it: --labels FILE.
--overwrite
    Replace an existing list.
{FORMULAS}
{READING}
{PRINTING}
"""
RULES = ["informative", "margin", "variance", "maximin", "random"]
COUNT = click.IntRange(1, MAX_ROWS_TO_LABEL)


@command("next")
@click.argument("file", type=click.Path(allow_dash=True))
@options(
    MANUAL,
    {
        "-n": {"to": "count", "type": COUNT, "default": 20},
        "--by": {"to": "rule", "type": click.Choice(RULES), "default": RULES[0]},
    },
)
def next_rows(
    common: CommonOptions,
    count: int,
    rule: str,
    target: str | None,
    labels: tuple[str, ...],
    **asked: Any,
) -> None:
    """Choose the rows of the table FILE that you should label next.

    The rows are printed, or written to a list with an empty cell for each label. The
    rows differ from each other: of two that are almost alike, only one is chosen.

    \b
    Examples:
      The 20 rows to label next:
        halfmoon next flowers.csv --target species -n 20
      A list to type labels into, then the next list, which uses these labels:
        halfmoon next flowers.csv --target species -o todo.csv
        halfmoon next flowers.csv --target species --labels todo.csv -o more.csv
    """
    from halfmoon._cli.choose_targets import choose_target
    from halfmoon._cli.print_summary import print_json, row_record
    from halfmoon._cli.run_fill import read_typed_labels
    from halfmoon._report import number_format
    from halfmoon.table._files import refuse_place
    from halfmoon.table._labels.label_sheets import (
        refuse_to_lose_labels,
        write_rows_to_label,
    )
    from halfmoon.table._models.row_reasons import shown_row
    from halfmoon.table._runs.output_columns import Cells
    from halfmoon.table._runs.rows_to_label import asked_rows
    from halfmoon.table._runs.run_settings import Settings

    path = common.output
    with common.progress() as bars, common.open_table() as table:
        name = choose_target(target, table, asked["unlabeled"])
        if path is not None:
            refuse_place(path, common.overwrite, [*common.inputs, *labels])
            refuse_to_lose_labels(path, name)
        model, rows = asked_rows(
            table,
            Settings(target=name, **asked),
            count,
            rule=rule,
            typed=read_typed_labels(labels, table, name, asked["unlabeled"]),
            stages=bars,
        )
        cells, first_row = Cells.of(model), table.first_row
        if path is not None:
            write_rows_to_label(path, table, name, rows, cells, **common.writing)
        bars.finish()
    columns = [use.name for use in model.table_.used][:MAX_COLUMNS]
    shown = [
        shown_row(
            row.number + first_row,
            [row.cells.get(column, "") for column in columns],
            row.prediction,
            cells,
        )
        for row in rows
    ]
    if common.as_json:
        records = [
            row_record(each) | {"cells": row.cells}
            for each, row in zip(shown, rows, strict=True)
        ]
        found = {"target": name, "by": rule, "rows": records, "list": path}
        print_json({"status": "done", **found})
    elif not common.quiet and path is not None:
        written = number_format.count(len(rows), "row")
        click.echo(f"Wrote {written} to label next in {name!r} to {path}.")
    elif not common.quiet:
        click.echo("\n".join(_lines(shown, name, columns, cells.kind)))


def _lines(
    rows: Sequence[ShownRow], target: str, columns: Sequence[str], kind: str
) -> Iterator[str]:
    from halfmoon._cli.print_summary import shortened, text_columns
    from halfmoon._report.number_format import percent

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
