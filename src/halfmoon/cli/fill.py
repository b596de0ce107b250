"""``halfmoon fill``: blank labels in, a filled table and a report out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from halfmoon.cli.options import (
    Several,
    command_line,
    shared_options,
    table_options,
)
from halfmoon.cli.outcome import ending_well
from halfmoon.cli.places import (
    STREAM,
    filled_beside,
    named,
    report_beside,
    stream_or_path,
)

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
    help="Of everything that is drawn at random: the same seed, the same answer.",
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
def fill(context: click.Context, file: str, **options: Any) -> None:
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
    debug, as_json = options.pop("debug"), options["as_json"]
    with ending_well(debug=debug, as_json=as_json):
        _fill(file, command=command_line(context), **options)


def _fill(
    file: str,
    *,
    command: str,
    output: str | None,
    report: str | None,
    no_report: bool,
    model: str | None,
    overwrite: bool,
    format_: str | None,
    delimiter: str | None,
    encoding: str | None,
    formulas: str,
    quiet: bool,
    as_json: bool,
    **asked: Any,
) -> None:
    from halfmoon.cli.stages import Bars
    from halfmoon.cli.summary import say
    from halfmoon.model_files import save
    from halfmoon.report import render
    from halfmoon.table.errors import CommandError
    from halfmoon.table.files import open_table, refuse_place, replacing
    from halfmoon.table.fill import fill_table
    from halfmoon.table.record import record_of
    from halfmoon.table.selection import listed
    from halfmoon.table.settings import Settings
    from halfmoon.table.story import findings_of

    if output is None:
        output = STREAM if file == STREAM else str(filled_beside(Path(file)))
    if report is None and output != STREAM and not no_report:
        report = str(report_beside(Path(output)))
    with (
        Bars(quiet=quiet or as_json) as bars,
        open_table(
            stream_or_path(file),
            format=format_,
            delimiter=delimiter,
            encoding=encoding,
        ) as table,
    ):
        if asked["target"] is None:
            raise CommandError(
                f"Which column has the blanks? Say --target COLUMN; the table has "
                f"{listed(table.columns)}."
            )
        settings = Settings(**asked)
        for place in (report, model):  # before any work is done in vain
            if place is not None:
                refuse_place(place, overwrite, [] if file == STREAM else [file])
        filled = fill_table(
            table,
            stream_or_path(output, writing=True),
            settings,
            overwrite=overwrite,
            formulas=formulas,
            stages=bars,
        )
        bars.stage("Reporting")
        found = findings_of(
            filled,
            settings,
            source=named(file),
            command=command,
            with_map=report is not None,
        )
        record = record_of(found, settings)
        if model is not None:
            filled.model.record_ = record
            save(filled.model, model, overwrite=overwrite)
        if report is not None:
            with replacing(report, overwrite=overwrite) as page:
                page.write(render(found).encode())
        bars.finish()
    written = {"table": output, "report": report, "model": model}
    say(
        record,
        {what: place for what, place in written.items() if place not in (None, STREAM)},
        quiet=quiet,
        as_json=as_json,
        to_stderr=output == STREAM,
    )
