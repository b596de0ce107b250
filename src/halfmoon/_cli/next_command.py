"""``halfmoon next``: choose the rows to label next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from halfmoon._cli.argument_types import Arguments
from halfmoon._cli.common_options import (
    MAX_ROWS_TO_LABEL,
    CommonOptions,
    formulas_option,
    learning_options,
    option,
    reading_options,
    running,
    shared_options,
)

if TYPE_CHECKING:
    from halfmoon.table._models.predictions import Unsure
    from halfmoon.table._runs.output_columns import Cells

__all__ = ["next_rows"]

MAX_COLUMNS = 4
CELL_WIDTH = 24  # characters


@click.command("next", cls=Arguments, no_args_is_help=True)
@click.argument("file", type=click.Path(allow_dash=True))
@option("-t --target COLUMN", "The column to label.")
@learning_options()
@option(
    "--labels FILE...",
    "Use the labels in these files: earlier lists that you filled in, or labels "
    "from halfmoon label (NAME.labels.jsonl).",
)
@option(
    "-n N",
    "How many rows.",
    to="count",
    type=click.IntRange(1, MAX_ROWS_TO_LABEL),
    default=20,
)
@option(
    "--by",
    "How to choose. informative: unsure rows that say most about the other rows. "
    "margin: the rows that halfmoon is least sure of. variance: rows that make all "
    "predictions surer. maximin: rows that change the predictions most, no matter "
    "which label they get. random: any rows.",
    to="rule",
    type=click.Choice(["informative", "margin", "variance", "maximin", "random"]),
    default="informative",
)
@option(
    "-o --output FILE",
    "Write the rows to this file instead of printing them, with an empty cell for "
    "each label. To use the labels that you type into it: --labels FILE.",
)
@option("--overwrite", "Replace an existing list.")
@formulas_option
@reading_options
@shared_options
def next_rows(count: int, rule: str, **options: Any) -> None:
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
    with running(options) as (common, others):
        _next(common, count, rule, **others)


def _next(
    common: CommonOptions,
    n_rows: int,
    rule: str,
    *,
    target: str | None,
    labels: tuple[str, ...],
    **asked: Any,
) -> None:
    from halfmoon._cli.choose_targets import choose_target
    from halfmoon._cli.print_summary import print_json
    from halfmoon._cli.run_fill import read_typed_labels
    from halfmoon._report.number_format import count
    from halfmoon.table._files import refuse_place
    from halfmoon.table._labels.label_sheets import (
        refuse_to_lose_labels,
        write_rows_to_label,
    )
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
            n_rows,
            rule=rule,
            typed=read_typed_labels(labels, table, name, asked["unlabeled"]),
            stages=bars,
        )
        cells, first_row = Cells.of(model), table.first_row
        if path is not None:
            write_rows_to_label(
                path,
                table,
                name,
                rows,
                cells,
                overwrite=common.overwrite,
                formulas=common.formulas,
            )
        bars.finish()
    columns = [use.name for use in model.table_.used][:MAX_COLUMNS]
    if common.as_json:
        print_json(
            {
                "status": "done",
                "target": name,
                "by": rule,
                "rows": [_record(row, cells, first_row) for row in rows],
                "list": path,
            }
        )
    elif not common.quiet and path is not None:
        written = count(len(rows), "row")
        click.echo(f"Wrote {written} to label next in {name!r} to {path}.")
    elif not common.quiet:
        click.echo("\n".join(_lines(rows, cells, first_row, name, columns)))


def _record(row: Unsure, cells: Cells, first_row: int) -> dict[str, Any]:
    record: dict[str, Any] = {
        "row": row.number + first_row,
        "prediction": cells.shown(row.prediction.value),
    }
    if row.prediction.confidence is not None:
        record["confidence"] = row.prediction.confidence
    else:
        low, high = cells.shown(row.prediction.low), cells.shown(row.prediction.high)
        record |= {"low": low, "high": high}
    return record | {"cells": row.cells}


def _lines(
    rows: Sequence[Unsure],
    cells: Cells,
    first_row: int,
    target: str,
    columns: Sequence[str],
) -> Iterator[str]:
    from halfmoon._cli.print_summary import shortened, text_columns
    from halfmoon._report.sentences import percent

    sure = "confidence" if cells.kind == "classes" else "interval"
    lines = [["row", target, sure, *columns]]
    for row in rows:
        prediction = row.prediction
        how = (
            f"{cells.shown(prediction.low)} to {cells.shown(prediction.high)}"
            if prediction.confidence is None
            else percent(prediction.confidence)
        )
        values = [row.cells.get(name, "") for name in columns]
        number = str(row.number + first_row)
        lines.append([number, cells.shown(prediction.value), how, *values])
    yield from text_columns(
        [
            [number, shortened(value, CELL_WIDTH), how]
            + [shortened(cell, CELL_WIDTH) for cell in texts]
            for number, value, how, *texts in lines
        ]
    )
