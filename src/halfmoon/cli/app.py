"""The commands, and what holds for all of them."""

from __future__ import annotations

import click

import halfmoon
from halfmoon.cli.completion import completion
from halfmoon.cli.explain import explain
from halfmoon.cli.fill import fill
from halfmoon.cli.inspect import inspect
from halfmoon.cli.label import label
from halfmoon.cli.next import next_rows
from halfmoon.cli.predict import predict

__all__ = ["app"]

EPILOG = """\b
Exit codes:
  0  done
  1  a bug in halfmoon
  2  the command does not fit: an unknown option, a missing column
  3  the table cannot be read: not a table, rows of other lengths, encoding
  4  the table can be read but not learned from: no labels, one class
  5  the output cannot be written: it exists already, no such folder
  6  more memory is needed than was allowed
  7  the model file cannot be read, or does not fit the table
  130  interrupted (Ctrl-C); 143 stopped by another program"""


@click.group(epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(halfmoon.__version__, prog_name="halfmoon")
def app() -> None:
    """Fill in the blank labels of a table.

    halfmoon learns from the few rows that have a label, and from the rows that have
    none. It says how sure it is of each row.

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


for command in (fill, label, next_rows, explain, predict, inspect, completion):
    app.add_command(command)
