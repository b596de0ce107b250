"""``halfmoon fill``: blank labels in, a filled table and a report out."""

from __future__ import annotations

from typing import Any

import click

from halfmoon.cli.arguments import Arguments, Seconds
from halfmoon.cli.chosen import Chosen
from halfmoon.cli.options import (
    command_line,
    folder_options,
    shared_options,
    table_options,
)
from halfmoon.cli.outcome import ending_well

__all__ = ["fill"]

MOST_TO_LABEL = 500


@click.command(cls=Arguments, no_args_is_help=True)
@click.argument("file", type=click.Path(allow_dash=True))
@click.option(
    "-t",
    "--target",
    multiple=True,
    metavar="COLUMN...",
    help="The column to fill, or several. None of several learns from another.",
)
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
    multiple=True,
    metavar="VALUE...",
    help="Further values that stand for a blank, e.g. ? or unknown. Empty cells, NA, "
    "N/A, NaN, null and None always do; add '' if one of these words is a class.",
)
@click.option(
    "--merge-labels",
    is_flag=True,
    help="Treat spellings of one class, such as Yes and yes, as one class.",
)
@click.option(
    "--task",
    type=click.Choice(["classes", "numbers", "ordered"]),
    help="What the labels are; ordered classes are steps of a scale, e.g. stars. "
    "Default: classes or numbers, found from the labels.",
)
@click.option(
    "--order",
    multiple=True,
    metavar="CLASS...",
    help="The classes of a scale, from low to high. Implies --task ordered.",
)
@click.option(
    "--sets",
    metavar="SIGN",
    help="Cells of the target may hold several candidates with this sign between them, "
    "e.g. '|' in cat|dog; the true class is one of them.",
)
@click.option(
    "--low",
    metavar="COLUMN",
    help="Column with the lower end of numbers that are not known exactly; blank where "
    "it is open.",
)
@click.option(
    "--high",
    metavar="COLUMN",
    help="Column with the upper end. With --low or --high, the target may be a new "
    "column.",
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
    help="Time to search for a model of each target: seconds, or 90s, 2m, 1h. Reading "
    "and writing take extra time.",
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
    "the output; none when writing to standard output. Several targets have a report "
    "each, NAME.TARGET.report.html.",
)
@click.option("--no-report", is_flag=True, help="Write no report.")
@click.option(
    "--interactive",
    metavar="FILE",
    help="Write the filled rows to this HTML file too, up to 1,000 with the least sure "
    "first, to sort and filter. Unlike the report, it holds a small script.",
)
@click.option(
    "--to-label",
    nargs=2,
    type=(click.IntRange(1, MOST_TO_LABEL), str),
    metavar="N FILE",
    help="Write to FILE the N rows that are best labeled next, with an empty cell for "
    "each label. They are unsure and differ from each other.",
)
@click.option(
    "--labels",
    multiple=True,
    metavar="FILE...",
    help="Use the labels typed into files that --to-label wrote for this table, and "
    "the answers of halfmoon label (NAME.labels.jsonl).",
)
@table_options
@folder_options
@shared_options
@click.pass_context
def fill(context: click.Context, **options: Any) -> None:
    """Fill the blanks in a column of the table FILE ('-' is standard input).

    FILE is CSV, TSV, JSON lines, Parquet, Feather or a workbook (xlsx, ods). The output
    has every row and column of FILE in order, with the blanks of the target filled.
    New columns on the right say which cells were filled and how sure halfmoon is:
    COLUMN_source (given or predicted), and COLUMN_confidence for classes, or
    COLUMN_low and COLUMN_high for numbers. A filled table can be filled again: what
    was predicted counts as blank, unless you set its source to 'given'.

    FILE may be a folder of CSV, Parquet or Feather files with the same columns. One
    model learns from all of them; the output is a folder with the same files, each
    filled. Folders in it such as country=fr are columns too.

    \b
    Examples:
      Fill the column 'species' of a table, with a report:
        halfmoon fill flowers.csv --target species
      Learn from some columns only:
        halfmoon fill houses.parquet --target price --exclude id 'photo_*'
      A question mark is a blank too:
        halfmoon fill survey.csv.gz --target answer --unlabeled "?" -o done.csv
      Label a few more rows by hand, then use these labels:
        halfmoon fill flowers.csv --target species --to-label 20 todo.csv
        halfmoon fill flowers.csv --target species --labels todo.csv --overwrite
      Labels that are one of several candidates, or between two ends:
        halfmoon fill birds.csv --target species --sets "|"
        halfmoon fill lamps.csv --target hours --low at_least --high at_most
      Keep the model for new rows:
        halfmoon fill flowers.csv --target species --model flowers.halfmoon
      Fill the files of a folder; go on after a stop:
        halfmoon fill sales/ --target kind -o filled/
        halfmoon fill sales/ --target kind -o filled/ --resume
      Fill the files of a folder on a cluster:
        halfmoon fill sales/ --target kind -o filled/ --dask tcp://10.0.0.1:8786
      Read from and write to other programs:
        halfmoon fill - --target price < houses.csv > filled.csv
    """
    chosen, others = Chosen.of(options)
    with ending_well(debug=chosen.debug, as_json=chosen.as_json):
        from halfmoon.cli.filling import run_fill

        run_fill(chosen, command_line(context), **others)
