"""The commands of ``halfmoon``, their common help text and their exit codes."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

import halfmoon
from halfmoon._cli.common_options import (
    OUTPUT,
    PRINTING,
    CommonOptions,
    command,
    options,
)
from halfmoon._cli.table_commands import explain, fill, label, next_rows

__all__ = ["app"]

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
