"""Options that several commands have."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

__all__ = [
    "command_line",
    "folder_options",
    "reading_options",
    "shared_options",
    "table_options",
]

FORMATS = [
    *("csv", "tsv", "parquet", "feather"),
    *("xlsx", "xls", "ods", "jsonl", "json"),
]
Command = TypeVar("Command", bound=Callable[..., Any])


def _with(command: Command, options: Sequence[Callable[[Any], Any]]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


def reading_options(command: Command) -> Command:
    """Options that say how tables are read."""
    return _with(
        command,
        [
            click.option(
                "--format",
                "format_",
                type=click.Choice(FORMATS),
                help="Format of the input. Default: found from its name and content.",
            ),
            click.option(
                "--sheet",
                metavar="NAME",
                help="Sheet of a workbook, by name or number. Default: the first one "
                "that holds a table.",
            ),
            click.option(
                "--delimiter",
                metavar="CHAR",
                help="Character between cells, e.g. ';' or tab. Default: found from "
                "the file.",
            ),
            click.option(
                "--encoding",
                metavar="NAME",
                help="Text encoding, e.g. latin-1. Default: UTF-8.",
            ),
        ],
    )


def table_options(command: Command) -> Command:
    """Options that say how tables are read and written."""
    return _with(
        command,
        [
            click.option(
                "-o",
                "--output",
                metavar="FILE",
                help="Write the filled table to this file; '-' is standard output. "
                "Default: NAME.filled.csv in the folder of the input, or standard "
                "output if the input is standard input. The ending of the name sets "
                "the format.",
            ),
            click.option(
                "--overwrite",
                is_flag=True,
                help="Replace existing output files. The input is never replaced.",
            ),
            reading_options,
            click.option(
                "--formulas",
                type=click.Choice(["escape", "keep"]),
                default="escape",
                show_default=True,
                help="Labels that a spreadsheet would run as a formula: put an "
                "apostrophe in front (escape), or write them as they are (keep). Cells "
                "of the input are never changed.",
            ),
        ],
    )


def shared_options(command: Command) -> Command:
    """Options that every command has."""
    return _with(
        command,
        [
            click.option("-q", "--quiet", is_flag=True, help="Print only errors."),
            click.option(
                "--json",
                "as_json",
                is_flag=True,
                help="Print the results as JSON.",
            ),
            click.option(
                "--debug", is_flag=True, help="Show the full traceback of an error."
            ),
        ],
    )


def folder_options(command: Command) -> Command:
    """Options of runs over a folder."""
    return _with(
        command,
        [
            click.option(
                "--resume",
                is_flag=True,
                help="Go on with a run over a folder that was stopped: files that are "
                "written stay, and so does the model.",
            ),
            click.option(
                "--dask",
                metavar="ADDRESS",
                help="Fill the files of a folder on a Dask cluster, whose workers see "
                "the folders by the same paths: the address of its scheduler, or "
                "'local' for processes of this machine.",
            ),
        ],
    )


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
