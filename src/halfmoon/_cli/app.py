"""The commands of ``halfmoon``, their common help text and their exit codes."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

import halfmoon
from halfmoon._cli.explain_command import explain
from halfmoon._cli.fill_command import fill
from halfmoon._cli.label_command import label
from halfmoon._cli.model_commands import inspect, predict
from halfmoon._cli.next_command import next_rows

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


for command in (fill, label, next_rows, explain, predict, inspect, completion):
    app.add_command(command)
