"""``halfmoon label``: a page in the browser to label a table, row by row."""

from __future__ import annotations

from typing import Any

import click

from halfmoon.cli.arguments import Arguments
from halfmoon.cli.chosen import Chosen
from halfmoon.cli.explain import LEARNING
from halfmoon.cli.fill import fill
from halfmoon.cli.options import reading_options, shared_options
from halfmoon.cli.outcome import ending_well

__all__ = ["label"]

REFIT_SECONDS = 5.0


@click.command("label", cls=Arguments, no_args_is_help=True)
@click.argument("file", type=click.Path())
@click.option("-t", "--target", metavar="COLUMN", help="The column to label.")
@click.option(
    "--classes",
    metavar="A,B,...",
    help="The classes, in the order of their keys. Classes of the table come after "
    "them, and new ones can be typed on the page.",
)
@click.option(
    "--as",
    "person",
    metavar="NAME",
    help="Your name, kept with each answer. Default: the page asks for it once.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Keep the answers in this file. Default: NAME.labels.jsonl in the folder of "
    "the table. Answers that are there stay, and more are added.",
)
@click.option(
    "--no-browser", is_flag=True, help="Only print the address; open no browser."
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    help="Port of the page. Default: one that is free.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Address to listen at. Others than 127.0.0.1 let other machines in that have "
    "the token, and what they send can be read on the way.",
)
@reading_options
@shared_options
def label(**options: Any) -> None:
    """Label the rows of the table FILE one by one, on a page in the browser.

    halfmoon asks first for the rows that help it most, and proposes an answer. Every
    answer is written to NAME.labels.jsonl before it counts; the table itself is never
    changed. Press Ctrl-C to stop. To go on later, start the command again. To fill the
    table with these answers, use halfmoon fill --labels.

    \b
    Examples:
      Label the column 'species':
        halfmoon label flowers.csv --target species
      A column that is still empty, with the classes to choose from:
        halfmoon label flowers.csv --target species --classes setosa,virginica --as ann
      Then fill the rest:
        halfmoon fill flowers.csv --target species --labels flowers.labels.jsonl
    """
    chosen, others = Chosen.of({**options, "overwrite": False, "formulas": "escape"})
    with ending_well(debug=chosen.debug, as_json=chosen.as_json):
        from halfmoon.cli.serving import run_label

        run_label(chosen, **others)


def _shared(option: click.Parameter) -> click.Parameter:
    """An option of ``fill``; the budget here is that of each refit."""
    if option.name != "budget":
        return option
    return click.Option(
        ["--budget"],
        type=option.type,
        default=REFIT_SECONDS,
        show_default=True,
        metavar="TIME",
        help="Time to search for a model whenever there are new answers: seconds, or "
        "90s, 2m. It is spent in the background.",
    )


label.params[4:4] = [_shared(each) for each in fill.params if each.name in LEARNING]
