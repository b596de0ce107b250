"""Options that several commands have, and options that take several values."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["Several", "command_line", "shared_options", "table_options"]

Command = TypeVar("Command", bound=Callable[..., Any])
SEVERAL = ("--features", "--exclude", "--known")


class Several(click.Command):
    """A command some of whose options take all values up to the next option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat such an option before each of its values."""
        return super().parse_args(ctx, repeated(args))


def repeated(args: list[str]) -> list[str]:
    """Arguments in which an option stands before each of its values.

    Examples
    --------
    >>> repeated(["t.csv", "--known", "a", "b", "--seed", "1"])
    ['t.csv', '--known', 'a', '--known', 'b', '--seed', '1']
    """
    spread: list[str] = []
    current, values = None, 0
    for position, arg in enumerate(args):
        if arg == "--":
            return spread + args[position:]
        if arg.startswith("-") and arg != "-":
            current, values = (arg if arg in SEVERAL else None), 0
        elif current is not None:
            if values:
                spread.append(current)
            values += 1
        spread.append(arg)
    return spread


def table_options(command: Command) -> Command:
    """Options that say how tables are read and written."""
    for option in reversed(
        [
            click.option(
                "-o",
                "--output",
                metavar="FILE",
                help="Where the filled table goes; '-' is standard output. By default "
                "beside the input, as NAME.filled.csv, or to standard output if the "
                "input is standard input. The name's ending sets the format.",
            ),
            click.option(
                "--overwrite",
                is_flag=True,
                help="Replace output files that exist; never the input.",
            ),
            click.option(
                "--format",
                "format_",
                type=click.Choice(["csv", "tsv", "parquet", "feather"]),
                help="Format of the input, if its name and content do not tell.",
            ),
            click.option(
                "--delimiter",
                metavar="CHAR",
                help="Between the cells of a text table; found out by default.",
            ),
            click.option(
                "--encoding",
                metavar="NAME",
                help="Of a text table, such as latin-1; UTF-8 by default.",
            ),
            click.option(
                "--formulas",
                type=click.Choice(["escape", "keep"]),
                default="escape",
                show_default=True,
                help="What to do with a label that a spreadsheet would take for a "
                "formula, where halfmoon writes it to a text table: put an apostrophe "
                "before it, or keep it. Cells of the input are never touched.",
            ),
        ]
    ):
        command = option(command)
    return command


def shared_options(command: Command) -> Command:
    """Options that every command has."""
    for option in reversed(
        [
            click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors."),
            click.option(
                "--json",
                "as_json",
                is_flag=True,
                help="Say what was done as JSON, for another program.",
            ),
            click.option(
                "--debug", is_flag=True, help="Show where in the code an error arose."
            ),
        ]
    ):
        command = option(command)
    return command


def command_line(context: click.Context) -> str:
    """The command that was given, in full, with what differs from the defaults."""
    words = ["halfmoon", context.info_name or ""]
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        if isinstance(parameter, click.Argument):
            words.append(str(value))
        elif value is True:
            words.append(parameter.opts[-1])
        elif isinstance(value, tuple):
            words += [parameter.opts[-1], *map(str, value)] if value else []
        elif value not in (None, False, parameter.get_default(context)):
            words += [parameter.opts[-1], str(value)]
    return shlex.join(words)
