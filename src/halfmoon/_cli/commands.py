"""The commands of ``halfmoon``: their options, help texts and exit codes.

What they do is in `run_fill`, `run_label`, `run_rows` and `run_model`, which are
imported when they run: help must come at once.
"""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import get_completion_class

import halfmoon
from halfmoon._cli.argument_types import Share, Whole
from halfmoon._cli.common_options import (
    FORMULAS,
    LEARNING,
    OUTPUT,
    PRINTING,
    READING,
    CommonOptions,
    command,
    options,
)
from halfmoon.table._run_settings import Settings

__all__ = ["app"]

ROW_COUNT = Whole(1, 500)  # rows to label

EPILOG = """\b
Exit codes:
  0  done
  1  a bug in halfmoon
  2  something is wrong with the command, e.g. an unknown option or column
  3  the table cannot be read, e.g. it is not a table, or a row is too long
  4  the table can be read, but not learned from, e.g. it has no labels
  5  the output cannot be written, e.g. it already exists
  6  the run needs more memory than it was allowed
  7  the model file cannot be read, or does not fit the table
  130  interrupted (Ctrl-C); 143 stopped by another program"""


@click.group(epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(halfmoon.__version__, prog_name="halfmoon")
def app() -> None:
    """Fill in the blank labels of a table.

    Some rows of the table have a label, such as a species or a price. halfmoon learns
    from these rows, and from the rows without a label, and fills in the blanks. It
    says how sure it is of each one.

    \b
    Examples:
      halfmoon fill flowers.csv --target species
      halfmoon fill flowers.csv --target species --model flowers.halfmoon
      halfmoon label flowers.csv --target species
      halfmoon next flowers.csv --target species -n 20
      halfmoon explain flowers.csv --target species --row 17
      halfmoon predict flowers.halfmoon new.csv
      halfmoon inspect flowers.halfmoon
    """


FILL = f"""
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
    List the N best rows to label next in FILE, with an empty cell for each label. These
    rows are unsure and differ from each other.
--labels FILE...
    Use the labels in these files: lists that --to-label wrote and you filled in, or
    labels from halfmoon label (NAME.labels.jsonl).
{OUTPUT}
"""


@command("fill")
@click.argument("file", type=click.Path(allow_dash=True))
@options(
    FILL,
    {
        "--level": {"type": Share(), "default": Settings.level},
        "--to-label": {"nargs": 2, "type": (ROW_COUNT, str)},
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


LABEL = f"""
-t --target COLUMN
    The column to label.
--classes A,B,...
    The classes, in the order of their keys. Classes in the table come after them, and
    you can type new ones on the page.
--as NAME
    Your name, stored with each label. Default: the page asks for it once.
{LEARNING}
-o --output FILE
    Store the labels in this file. Labels that are already in it stay. Default:
    NAME.labels.jsonl in the folder of the table.
--no-browser
    Print the address, but open no browser.
--port N
    Port of the page. Default: any free port.
--host ADDRESS
    Address to listen on. With any address other than the default, people on other
    machines who know the token can open the page. The connection is not encrypted.
{READING}
{PRINTING}
"""
REFIT_SECONDS = 5.0
REFIT_TEXT = (
    "Time to search for a model after new labels: seconds, or 90s, 2m. The search runs "
    "in the background."
)


@command("label")
@click.argument("file", type=click.Path())
@options(
    LABEL,
    {
        "--classes": {"multiple": False},
        "--as": {"to": "person"},
        "--budget": {"help": REFIT_TEXT, "default": REFIT_SECONDS},
        "--port": {"type": Whole(0, 65535), "default": 0, "show_default": False},
        "--host": {"default": "127.0.0.1"},
    },
)
def label(common: CommonOptions, **others: Any) -> None:
    """Label the rows of the table FILE one by one, on a page in the browser.

    halfmoon asks first for the rows that help it most, and suggests a label. Every
    label is stored in NAME.labels.jsonl at once; the table itself never changes. Press
    Ctrl-C to stop. To continue later, run the command again. To fill the table with
    these labels, use halfmoon fill --labels.

    \b
    Examples:
      Label the column 'species':
        halfmoon label flowers.csv --target species
      Label an empty column, with the classes to choose from:
        halfmoon label flowers.csv --target species --classes setosa,virginica --as ann
      Then fill the rest:
        halfmoon fill flowers.csv --target species --labels flowers.labels.jsonl
    """
    from halfmoon._cli.run_label import run_label

    run_label(common, **others)


NEXT = f"""
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


@command("next")
@click.argument("file", type=click.Path(allow_dash=True))
@options(
    NEXT,
    {
        "-n": {"to": "n_rows", "type": ROW_COUNT, "default": 20},
        "--by": {"to": "rule", "type": click.Choice(RULES), "default": RULES[0]},
    },
)
def next_rows(common: CommonOptions, **others: Any) -> None:
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
    from halfmoon._cli.run_rows import run_next

    run_next(common, **others)


EXPLAIN = f"""
-t --target COLUMN
    The column to explain.
--row NUMBER...
    The rows to explain, as a spreadsheet counts them: the header is row 1.
--model FILE
    Use a model that halfmoon fill --model saved for this table, instead of learning
    again.
{LEARNING}
{READING}
{PRINTING}
"""


@command("explain")
@click.argument("file", type=click.Path(allow_dash=True))
@options(EXPLAIN, {"--row": {"to": "rows", "required": True, "type": Whole(1)}})
def explain(common: CommonOptions, **others: Any) -> None:
    """Explain the predictions for some rows of the table FILE.

    A prediction is a weighted sum of the labels. This command lists the labeled rows
    with the largest weights, for and against the prediction, with their cells in the
    most important columns. If the row itself has a label, the label is hidden first.
    Nothing is written.

    \b
    Examples:
      Learn from the table, then explain row 17 of the spreadsheet:
        halfmoon explain flowers.csv --target species --row 17
      Explain several rows with a saved model:
        halfmoon explain flowers.csv --row 17 40 --model flowers.halfmoon
    """
    from halfmoon._cli.run_rows import run_explain

    run_explain(common, **others)


@command("predict")
@click.argument("model", type=click.Path())
@click.argument("file", type=click.Path(allow_dash=True))
@options(OUTPUT)
def predict(common: CommonOptions, model: str) -> None:
    """Predict the rows of the table FILE ('-' is standard input) with MODEL.

    MODEL is a file that halfmoon fill --model wrote. FILE needs the columns that the
    model learned from. If FILE has the target column, its blanks are filled. Its labels
    stay, and halfmoon compares them with its predictions, which tests the model. If
    FILE has no target column, the output gets one. FILE may be a folder of tables, as
    for halfmoon fill; then the output is a folder too.

    \b
    Examples:
      Predict new rows:
        halfmoon predict flowers.halfmoon new.csv
        halfmoon predict flowers.halfmoon new.parquet -o labeled.parquet
      Test the model on rows whose label is known:
        halfmoon predict flowers.halfmoon labeled.csv -o compared.csv
      Read from and write to other programs:
        halfmoon predict flowers.halfmoon - < new.csv > labeled.csv
    """
    from halfmoon._cli.run_model import run_predict

    run_predict(common, model)


@command("inspect", click.Command)
@click.argument("model", type=click.Path())
@options(PRINTING)
def inspect(common: CommonOptions, model: str) -> None:
    """Show what MODEL predicts, what it was trained on, and how well it did.

    MODEL is a file that halfmoon fill --model, or halfmoon.save in Python, wrote. With
    --quiet nothing is printed; the exit code says whether the file can be used.

    \b
    Examples:
      halfmoon inspect flowers.halfmoon
      halfmoon inspect flowers.halfmoon --json
    """
    from halfmoon._cli.run_model import run_inspect

    run_inspect(common, model)


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script that lets SHELL complete halfmoon's commands and options.

    \b
    Examples:
      halfmoon completion bash >> ~/.bashrc
      halfmoon completion zsh >> ~/.zshrc
      halfmoon completion fish > ~/.config/fish/completions/halfmoon.fish
    """
    script = get_completion_class(shell)
    assert script is not None  # one of the shells that click knows
    root = context.find_root().command
    click.echo(script(root, {}, "halfmoon", "_HALFMOON_COMPLETE").source())


for each in (fill, label, next_rows, explain, predict, inspect, completion):
    app.add_command(each)
