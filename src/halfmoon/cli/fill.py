"""``halfmoon fill``: blank labels in, a filled table and a report out."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from halfmoon.cli.arguments import Arguments, Seconds
from halfmoon.cli.chosen import Chosen
from halfmoon.cli.options import command_line, shared_options, table_options
from halfmoon.cli.outcome import ending_well
from halfmoon.cli.places import STREAM, named, report_beside

if TYPE_CHECKING:
    from halfmoon.table.files import Table

__all__ = ["fill"]

MOST_NAMED = 12  # columns with blanks in an error


@click.command(cls=Arguments, no_args_is_help=True)
@click.argument("file", type=click.Path(allow_dash=True))
@click.option("-t", "--target", metavar="COLUMN", help="The column to fill.")
@click.option(
    "--features",
    multiple=True,
    metavar="COLUMN...",
    help="Learn only from these columns. Patterns work too: 'bill_*'.",
)
@click.option(
    "--exclude",
    multiple=True,
    metavar="COLUMN...",
    help="Do not learn from these columns, e.g. names or row numbers.",
)
@click.option(
    "--known",
    multiple=True,
    metavar="COLUMN...",
    help="Columns with a straight-line effect that must be kept. Each needs several "
    "labels to be measured.",
)
@click.option(
    "--unlabeled",
    metavar="VALUE",
    help="What stands for a blank, besides an empty cell. Default: NA, N/A, NaN, null "
    "and None; use --unlabeled '' if one of these is a class.",
)
@click.option(
    "--task",
    type=click.Choice(["classes", "numbers"]),
    help="What the labels are. Default: found from the labels.",
)
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.9,
    show_default=True,
    help="Share of the true numbers that should lie between low and high.",
)
@click.option(
    "--budget",
    type=Seconds(),
    default=60.0,
    show_default=True,
    metavar="TIME",
    help="Time to search for a model: seconds, or 90s, 2m, 1h. Reading and writing "
    "take extra time.",
)
@click.option(
    "--memory",
    default="1GB",
    show_default=True,
    metavar="AMOUNT",
    help="Memory limit of the whole run.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Random seed. The same seed gives the same result, unless the budget cuts "
    "the search short.",
)
@click.option(
    "--model",
    metavar="FILE",
    help="Keep the model in this file, for halfmoon predict and inspect.",
)
@click.option(
    "--report",
    metavar="FILE",
    help="Write the report to this file. Default: NAME.report.html in the folder of "
    "the output; none when writing to standard output.",
)
@click.option("--no-report", is_flag=True, help="Write no report.")
@click.option(
    "--interactive",
    metavar="FILE",
    help="Write the filled rows to this HTML file too, up to 1,000 with the least sure "
    "first, to sort and filter. Unlike the report, it holds a small script.",
)
@table_options
@shared_options
@click.pass_context
def fill(context: click.Context, **options: Any) -> None:
    """Fill in the blank labels of the table FILE ('-' is standard input).

    FILE is CSV, TSV, Parquet or Feather, compressed or not. The output has every row
    and column of FILE, unchanged and in order, with the blanks of the target filled.
    New columns on the right say which cells were filled and how sure halfmoon is:
    COLUMN_source (given or predicted), and COLUMN_confidence for classes, or
    COLUMN_low and COLUMN_high for numbers.

    \b
    Examples:
      Fill the column 'species' of a table, with a report:
        halfmoon fill flowers.csv --target species
      Learn from some columns only:
        halfmoon fill houses.parquet --target price --exclude id 'photo_*'
      A question mark is a blank too:
        halfmoon fill survey.csv.gz --target answer --unlabeled "?" -o done.csv
      Keep the model for new rows:
        halfmoon fill flowers.csv --target species --model flowers.halfmoon
      Read from and write to other programs:
        halfmoon fill - --target price < houses.csv > filled.csv
    """
    chosen, others = Chosen.of(options)
    with ending_well(debug=chosen.debug, as_json=chosen.as_json):
        _fill(chosen, command_line(context), **others)


def _fill(
    chosen: Chosen,
    command: str,
    *,
    model: str | None,
    report: str | None,
    no_report: bool,
    interactive: str | None,
    **asked: Any,
) -> None:
    from halfmoon.cli.kept import keep
    from halfmoon.report import render, render_rows
    from halfmoon.table.errors import CommandError
    from halfmoon.table.files import refuse_place, replacing
    from halfmoon.table.fill import fill_table
    from halfmoon.table.record import record_of
    from halfmoon.table.settings import Settings
    from halfmoon.table.story import filled_rows, findings_of

    if report is None and chosen.place != STREAM and not no_report:
        report = str(report_beside(Path(chosen.place)))
    places = {"--report": report, "--model": model, "--interactive": interactive}
    _refuse_shared_places(places, chosen)
    with chosen.bars() as bars, chosen.table() as table:
        if asked["target"] is None:
            raise CommandError(_which_target(table, asked["unlabeled"]))
        settings = Settings(**asked)
        inputs = [] if chosen.file == STREAM else [chosen.file]
        for place in places.values():  # before any work is done in vain
            if place is not None:
                refuse_place(place, chosen.overwrite, inputs)
        filled = fill_table(table, settings=settings, stages=bars, **chosen.writing)
        bars.stage("Reporting")
        found = findings_of(
            filled,
            settings,
            source=named(chosen.file),
            command=command,
            with_map=report is not None,
        )
        record = record_of(found, settings)
        if model is not None:
            filled.model.record_ = record
            keep(filled.model, model, overwrite=chosen.overwrite)
        if report is not None:
            with replacing(report, overwrite=chosen.overwrite) as page:
                page.write(render(found).encode())
        if interactive is not None:
            with replacing(interactive, overwrite=chosen.overwrite) as page:
                page.write(render_rows(found, filled_rows(filled, found)).encode())
        bars.finish()
    chosen.say(record, report=report, model=model, interactive=interactive)


def _which_target(table: Table, unlabeled: Any) -> str:
    """What to say to someone who named no target."""
    from halfmoon.table.scan import columns_with_blanks
    from halfmoon.table.selection import listed

    found = columns_with_blanks(table, unlabeled)
    if not found:
        return (
            f"Which column should be filled? No column has both labels and blanks; the "
            f"table has {listed(table.columns)}. If a value stands for a blank, name "
            f"it: --target COLUMN --unlabeled VALUE."
        )
    if len(found) == 1:
        (name,) = found
        return (
            f"Which column should be filled? {name!r} is the only column with blanks: "
            f"use --target {shlex.quote(name)}."
        )
    blanks = [f"{name!r} ({count:,} blank)" for name, count in found.items()]
    shown = ", ".join(blanks[:MOST_NAMED])
    more = len(blanks) - MOST_NAMED
    return (
        f"Which column should be filled? Use --target COLUMN. Columns with blanks: "
        f"{shown}{f' and {more:,} more' if more > 0 else ''}."
    )


def _refuse_shared_places(places: dict[str, str | None], chosen: Chosen) -> None:
    """Refuse two outputs in one place, and streams for what is not the table."""
    from halfmoon.table.errors import CommandError

    taken = {} if chosen.place == STREAM else {Path(chosen.place).resolve(): "--output"}
    for option, place in places.items():
        if place is None:
            continue
        if place == STREAM:
            raise CommandError(
                f"{option} - is standard output, where only the table can go. Give "
                f"{option} the name of a file."
            )
        other = taken.setdefault(Path(place).resolve(), option)
        if other != option:
            raise CommandError(
                f"{other} and {option} are both {place}; give each a name of its own."
            )
