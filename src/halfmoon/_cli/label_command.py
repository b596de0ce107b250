"""``halfmoon label``: label a table row by row on a page in the browser."""

from __future__ import annotations

from typing import Any

import click

from halfmoon._cli.common_options import (
    LEARNING,
    PRINTING,
    READING,
    CommonOptions,
    command,
    options,
)

__all__ = ["label"]

MANUAL = f"""
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
    MANUAL,
    {
        "--classes": {"multiple": False},
        "--as": {"to": "person"},
        "--budget": {"help": REFIT_TEXT, "default": REFIT_SECONDS},
        "--port": {
            "type": click.IntRange(0, 65535),
            "default": 0,
            "show_default": False,
        },
        "--host": {"default": "127.0.0.1"},
    },
)
def label(common: CommonOptions, **others: Any) -> None:
    """Label the rows of the table FILE one by one, on a page in the browser.

    halfmoon asks first for the rows that help it most (for numbers: random rows), and
    suggests a label. Every label is stored in NAME.labels.jsonl at once; the table
    itself never changes. Press Ctrl-C to stop. To continue later, run the command
    again. To fill the table with these labels, use halfmoon fill --labels.

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
