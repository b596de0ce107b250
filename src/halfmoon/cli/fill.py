"""``halfmoon fill``: blank labels in, a filled table and a report out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from halfmoon.cli.chosen import Chosen
from halfmoon.cli.options import (
    Several,
    command_line,
    shared_options,
    table_options,
)
from halfmoon.cli.outcome import ending_well
from halfmoon.cli.places import STREAM, named, report_beside

__all__ = ["fill"]


@click.command(cls=Several, no_args_is_help=True)
@click.argument("file", type=click.Path(allow_dash=True))
@click.option("-t", "--target", metavar="COLUMN", help="The column with the blanks.")
@click.option(
    "--features",
    multiple=True,
    metavar="COLUMN...",
    help="Learn from these columns only.",
)
@click.option(
    "--exclude",
    multiple=True,
    metavar="COLUMN...",
    help="Do not learn from these columns, such as names and numbers of rows.",
)
@click.option(
    "--known",
    multiple=True,
    metavar="COLUMN...",
    help="Columns that you trust: what they say is followed without penalty.",
)
@click.option(
    "--unlabeled",
    metavar="VALUE",
    help="What stands for a blank, beside an empty cell. By default NA, NaN, null and "
    "None do; say --unlabeled '' if one of these is a class of yours.",
)
@click.option(
    "--task",
    type=click.Choice(["classes", "numbers"]),
    help="What the labels are; found out by default.",
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
    type=click.FloatRange(0, min_open=True),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Time for the search of a model; reading and writing come on top.",
)
@click.option(
    "--memory",
    default="1GB",
    show_default=True,
    metavar="AMOUNT",
    help="The most memory that the run may take, all in all.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Of everything that is drawn at random: the same seed gives the same answer, "
    "unless the budget cuts the search short.",
)
@click.option(
    "--model", metavar="FILE", help="Keep the model, for halfmoon predict and inspect."
)
@click.option(
    "--report",
    metavar="FILE",
    help="Where the report goes. By default beside the output, as NAME.report.html, "
    "and nowhere if the output is standard output.",
)
@click.option("--no-report", is_flag=True, help="Make no report.")
@table_options
@shared_options
@click.pass_context
def fill(context: click.Context, **options: Any) -> None:
    """Fill in the blank labels of the table FILE ('-' is standard input).

    FILE is CSV, TSV, Parquet or Feather, compressed or not. Every row and column comes
    out as it was, in order, with the blanks of the target filled in and new columns at
    the right: COLUMN_source (given or predicted) and COLUMN_confidence for classes, or
    COLUMN_low and COLUMN_high for numbers.

    \b
    Examples:
      halfmoon fill flowers.csv --target species
      halfmoon fill houses.parquet --target price --exclude id --known area rooms
      halfmoon fill survey.csv.gz --target answer --unlabeled "?" -o done.csv
      halfmoon fill - --target price < houses.csv > filled.csv
      halfmoon fill flowers.csv --target species --model flowers.halfmoon --seed 1
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
    **asked: Any,
) -> None:
    from halfmoon.model_files import save
    from halfmoon.report import render
    from halfmoon.table.errors import CommandError
    from halfmoon.table.files import refuse_place, replacing
    from halfmoon.table.fill import fill_table
    from halfmoon.table.record import record_of
    from halfmoon.table.selection import listed
    from halfmoon.table.settings import Settings
    from halfmoon.table.story import findings_of

    if report is None and chosen.place != STREAM and not no_report:
        report = str(report_beside(Path(chosen.place)))
    _refuse_shared_places({"--report": report, "--model": model}, chosen)
    with chosen.bars() as bars, chosen.table() as table:
        if asked["target"] is None:
            raise CommandError(
                f"Which column has the blanks? Say --target COLUMN; the table has "
                f"{listed(table.columns)}."
            )
        settings = Settings(**asked)
        inputs = [] if chosen.file == STREAM else [chosen.file]
        for place in (report, model):  # before any work is done in vain
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
            save(filled.model, model, overwrite=chosen.overwrite)
        if report is not None:
            with replacing(report, overwrite=chosen.overwrite) as page:
                page.write(render(found).encode())
        bars.finish()
    chosen.say(record, report=report, model=model)


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
