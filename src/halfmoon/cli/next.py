"""``halfmoon next``: which rows to label next."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from halfmoon.cli.arguments import Arguments
from halfmoon.cli.chosen import Chosen
from halfmoon.cli.explain import LEARNING, aligned, cut
from halfmoon.cli.fill import MOST_TO_LABEL, fill
from halfmoon.cli.options import reading_options, shared_options
from halfmoon.cli.outcome import ending_well

if TYPE_CHECKING:
    from halfmoon.table.cells import Cells
    from halfmoon.table.unsure_rows import Unsure

__all__ = ["next_rows"]

SHOWN_COLUMNS = 4
WIDTH = 24  # characters of a cell


@click.command("next", cls=Arguments, no_args_is_help=True)
@click.argument("file", type=click.Path(allow_dash=True))
@click.option("-t", "--target", metavar="COLUMN", help="The column to label.")
@click.option(
    "-n",
    "count",
    type=click.IntRange(1, MOST_TO_LABEL),
    default=20,
    show_default=True,
    metavar="N",
    help="How many rows.",
)
@click.option(
    "--by",
    "rule",
    type=click.Choice(["margin", "informative", "variance", "maximin", "random"]),
    default="margin",
    show_default=True,
    help="margin: rows that are unsure. informative: unsure rows that tell most of the "
    "others. variance: rows that make all predictions surest. maximin: rows that "
    "change the predictions most, whatever their label. random: any rows.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write the rows to this file, with an empty cell for each label, instead of "
    "printing them. Use what is typed into it with --labels FILE.",
)
@click.option("--overwrite", is_flag=True, help="Replace an existing list.")
@click.option(
    "--formulas",
    type=click.Choice(["escape", "keep"]),
    default="escape",
    show_default=True,
    help="Predictions that a spreadsheet would run as a formula: put an apostrophe in "
    "front (escape), or write them as they are (keep).",
)
@reading_options
@shared_options
def next_rows(count: int, rule: str, **options: Any) -> None:
    """Choose the rows of the table FILE that are best labeled next.

    The rows are printed, or written to a list with an empty cell for each label. Every
    row is chosen with the rows before it in mind, so that near-copies come once.

    \b
    Examples:
      The 20 rows to label next:
        halfmoon next flowers.csv --target species -n 20
      As a list to type labels into; then the next list, with these labels:
        halfmoon next flowers.csv --target species -o todo.csv
        halfmoon next flowers.csv --target species --labels todo.csv -o more.csv
    """
    chosen, others = Chosen.of(options)
    with ending_well(debug=chosen.debug, as_json=chosen.as_json):
        _next(chosen, count, rule, **others)


_shared = [each for each in fill.params if each.name in (*LEARNING, "labels")]
next_rows.params[2:2] = _shared


def _next(
    chosen: Chosen,
    count: int,
    rule: str,
    *,
    target: str | None,
    labels: tuple[str, ...],
    **asked: Any,
) -> None:
    from halfmoon.cli.filling import asked_task, typed_labels
    from halfmoon.cli.places import STREAM
    from halfmoon.cli.targets import asked_targets
    from halfmoon.table.asked_rows import asked_rows
    from halfmoon.table.cells import Cells
    from halfmoon.table.files import refuse_place
    from halfmoon.table.label_lists import refuse_to_lose_labels, write_rows_to_label
    from halfmoon.table.settings import Settings

    place = chosen.output
    asked["task"] = asked_task(asked["task"], asked["order"])
    with chosen.bars() as bars, chosen.table() as table:
        asked_for = () if target is None else (target,)
        (name,) = asked_targets(asked_for, table, asked["unlabeled"])
        if place is not None:
            inputs = [*([] if chosen.file == STREAM else [chosen.file]), *labels]
            refuse_place(place, chosen.overwrite, inputs)
            refuse_to_lose_labels(place, name)
        model, rows = asked_rows(
            table,
            Settings(target=name, **asked),
            count,
            rule=rule,
            typed=typed_labels(labels, table, name, True, asked["unlabeled"]),
            stages=bars,
        )
        cells, first = Cells.of(model), table.first_row
        if place is not None:
            write_rows_to_label(
                place,
                table,
                name,
                rows,
                cells,
                overwrite=chosen.overwrite,
                formulas=chosen.formulas,
            )
        bars.finish()
    shown = [use.name for use in model.table_.used][:SHOWN_COLUMNS]
    if chosen.as_json:
        told = {
            "status": "done",
            "target": name,
            "by": rule,
            "rows": [_record(row, cells, first) for row in rows],
            "list": place,
        }
        click.echo(json.dumps(told, ensure_ascii=False))
    elif not chosen.quiet and place is not None:
        many = "1 row" if len(rows) == 1 else f"{len(rows)} rows"
        click.echo(f"Wrote {many} to label next in {name!r} to {place}.")
    elif not chosen.quiet:
        for line in _lines(rows, cells, first, name, shown):
            click.echo(line)


def _record(row: Unsure, cells: Cells, first: int) -> dict[str, Any]:
    record: dict[str, Any] = {
        "row": row.number + first,
        "prediction": cells.shown(row.value),
    }
    if row.confidence is not None:
        record["confidence"] = row.confidence
    else:
        record |= {"low": cells.shown(row.low), "high": cells.shown(row.high)}
    return record | {"cells": row.cells}


def _lines(
    rows: Sequence[Unsure], cells: Cells, first: int, target: str, shown: Sequence[str]
) -> Iterator[str]:
    from halfmoon.report.wording import percent

    sure = "confidence" if cells.kind == "classes" else "interval"
    lines = [["row", cut(target, WIDTH), sure, *(cut(name, WIDTH) for name in shown)]]
    for row in rows:
        how = (
            f"{cells.shown(row.low)} to {cells.shown(row.high)}"
            if row.confidence is None
            else percent(row.confidence)
        )
        values = [cut(row.cells.get(name, ""), WIDTH) for name in shown]
        value = cut(cells.shown(row.value), WIDTH)
        lines.append([str(row.number + first), value, how, *values])
    yield from aligned(lines)
