"""``halfmoon fill``: read a table with blanks, write a filled table and a report."""

from __future__ import annotations

from typing import Any

import click

from halfmoon._cli.common_options import (
    LEARNING,
    MAX_ROWS_TO_LABEL,
    OUTPUT,
    CommonOptions,
    command,
    options,
)
from halfmoon.table._runs.run_settings import Settings

__all__ = ["fill"]

MANUAL = f"""
-t --target COLUMN...
    The column to fill, or several. Targets do not learn from each other.
{LEARNING}
--sets CHAR
    A label may list several candidates with this character between them, e.g. '|' in
    cat|dog. One of them is the true class.
--low COLUMN
    Column with a lower limit for numbers that are not known exactly. Blank: no limit.
--high COLUMN
    Column with an upper limit. With --low or --high, the target may be a new column.
--level
    For numbers: how often the true value should lie between COLUMN_low and
    COLUMN_high. 0.9 is nine times in ten.
--model FILE
    Save the model to this file, for halfmoon predict and inspect.
--report FILE
    Write the report to this file. Default: NAME.report.html in the folder of the
    output, and no report if the output is standard output. Each of several targets has
    its own report, NAME.TARGET.report.html.
--no-report
    Write no report.
--interactive FILE
    Also write up to 1,000 filled rows to this HTML file, the least sure first, to sort
    and filter. Unlike the report, this file holds a small script.
--to-label N FILE
    Write the N rows that you should label next to FILE, with an empty cell for each
    label. These rows are unsure and differ from each other.
--labels FILE...
    Use the labels in these files: lists that --to-label wrote and you filled in, or
    labels from halfmoon label (NAME.labels.jsonl).
{OUTPUT}
"""
SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)
ROWS_AND_FILE = (click.IntRange(1, MAX_ROWS_TO_LABEL), str)


@command("fill")
@click.argument("file", type=click.Path(allow_dash=True))
@options(
    MANUAL,
    {
        "--level": {"type": SHARE, "default": Settings.level},
        "--to-label": {"nargs": 2, "type": ROWS_AND_FILE},
    },
)
def fill(common: CommonOptions, **others: Any) -> None:
    """Fill the blanks in a column of the table FILE ('-' is standard input).

    FILE is CSV, TSV, JSON lines, Parquet, Feather or a workbook (xlsx, ods). The output
    has the same rows and columns in the same order, and the blanks are filled. New
    columns on the right say which cells were filled, and how sure halfmoon is:
    COLUMN_source is 'given' or 'predicted'. For classes, COLUMN_confidence is the
    probability that the cell is right. For numbers, the true value should lie between
    COLUMN_low and COLUMN_high. You can fill a filled table again: predicted cells count
    as blank, unless you set their source to 'given'.

    FILE may be a folder of CSV, Parquet or Feather files with the same columns. One
    model learns from all of them. The output is a folder with the same files, each
    filled. A subfolder such as country=fr adds a column country with the value fr.

    \b
    Examples:
      Fill the column 'species', and write a report:
        halfmoon fill flowers.csv --target species
      Do not learn from some columns:
        halfmoon fill houses.parquet --target price --exclude id 'photo_*'
      A question mark is a blank too:
        halfmoon fill survey.csv.gz --target answer --unlabeled "?" -o done.csv
      Label a few more rows by hand, then use these labels:
        halfmoon fill flowers.csv --target species --to-label 20 todo.csv
        halfmoon fill flowers.csv --target species --labels todo.csv --overwrite
      Some labels list several candidates, or are only known to lie in a range:
        halfmoon fill birds.csv --target species --sets "|"
        halfmoon fill lamps.csv --target hours --low at_least --high at_most
      Save the model for new rows:
        halfmoon fill flowers.csv --target species --model flowers.halfmoon
      Fill the files of a folder; continue after a stop:
        halfmoon fill sales/ --target kind -o filled/
        halfmoon fill sales/ --target kind -o filled/ --resume
      Fill the files of a folder on a cluster:
        halfmoon fill sales/ --target kind -o filled/ --dask tcp://10.0.0.1:8786
      Read from and write to other programs:
        halfmoon fill - --target price < houses.csv > filled.csv
    """
    from halfmoon._cli.run_fill import run_fill

    run_fill(common, **others)
