"""Options that several commands share, and what follows from them."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields
from functools import wraps
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from halfmoon._cli.argument_types import Arguments, Seconds, Whole
from halfmoon._cli.exit_codes import exit_with_code
from halfmoon._cli.paths import STREAM, filled_path
from halfmoon._cli.process_limits import (
    input_stream,
    output_stream,
    refuse_small_memory,
)
from halfmoon.table._run_settings import Settings
from halfmoon.table._table_errors import CommandError, no_file

if TYPE_CHECKING:
    from halfmoon._cli.terminal import ProgressBars
    from halfmoon._partitioned_rows import Engine
    from halfmoon.table._files import Table

__all__ = [
    "FORMULAS",
    "LEARNING",
    "OUTPUT",
    "PRINTING",
    "READING",
    "CommonOptions",
    "command",
    "command_line",
    "options",
]

FORMATS = [
    *("csv", "tsv", "parquet", "feather"),
    *("xlsx", "xls", "ods", "jsonl", "json"),
]

#: What is learned: fields of `Settings`.
LEARNING = """
--features COLUMN...
    Learn only from these columns. Patterns work too: 'bill_*'.
--exclude COLUMN...
    Do not learn from these columns, e.g. names or row numbers.
--known COLUMN...
    Columns that are known to raise or lower the target in a straight line, e.g. area
    for a price. Name few: each needs several labels.
--unlabeled VALUE...
    More values that mean a blank, e.g. ? or unknown. Empty cells, NA, N/A, NaN, null
    and None always do; add '' if one of these words is a class.
--merge-labels
    Treat spellings of one class, such as Yes and yes, as one class.
--task
    What the labels are. Ordered classes are steps of a scale, e.g. stars. Default:
    classes or numbers, found from the labels.
--order CLASS...
    The classes of a scale, from low to high. Implies --task ordered.
--budget TIME
    Time to search for the best model of each target: seconds, or 90s, 2m, 1h. Reading
    and writing take extra time.
--memory AMOUNT
    Memory limit of the whole run.
--seed
    Random seed. The same seed gives the same result, unless the budget cuts the search
    short.
"""
READING = """
--format
    Format of the input. Default: found from its name and content.
--sheet NAME
    Sheet of a workbook, by name or number. Default: the first one with a table.
--delimiter CHAR
    Character between cells, e.g. ';' or tab. Default: found from the file.
--encoding NAME
    Text encoding, e.g. latin-1. Default: UTF-8.
"""
FORMULAS = """
--formulas
    What to do with a new cell that a spreadsheet would run as a formula: put an
    apostrophe in front (escape), or leave it (keep). Cells of the input never change.
"""
PRINTING = """
-q --quiet
    Print only errors.
--json
    Print the results as JSON.
--debug
    Show the full traceback of an error.
"""
OUTPUT = f"""
-o --output FILE
    Write the filled table to this file; '-' is standard output. The ending of the name
    sets the format. Default: NAME.filled.csv in the folder of the input, or standard
    output if the input is standard input.
--overwrite
    Replace existing output files. The input is never replaced.
{READING}
{FORMULAS}
--resume
    Continue a stopped run over a folder. The model and the files that are already
    written are kept.
--dask ADDRESS
    Fill the files of a folder on a Dask cluster: the address of its scheduler, or
    'local' for several processes on this machine. The workers must see the folders
    under the same paths.
{PRINTING}
"""
#: What `click.option` needs to know beyond the manual.
DETAILS: dict[str, dict[str, Any]] = {
    "--task": {"type": click.Choice(["classes", "numbers", "ordered"])},
    "--budget": {"type": Seconds(), "default": Settings.budget},
    "--memory": {"default": Settings.memory},
    "--seed": {"type": Whole(0), "default": Settings.seed},
    "--format": {"type": click.Choice(FORMATS)},
    "--formulas": {"type": click.Choice(["escape", "keep"]), "default": "escape"},
    "--json": {"to": "as_json"},
}


def options(
    manual: str, details: Mapping[str, Mapping[str, Any]] | None = None
) -> Callable[[Any], Any]:
    """Return a decorator that adds options to a command, as a manual describes them.

    A line such as ``-o --output FILE`` begins an option, and the indented lines after
    it are its help. Without a value or a `type` it is a flag; after ``VALUE...`` it
    takes several. `details` are more arguments of `click.option`, by long name; the
    command gets the option as the parameter `to`, by default its long name.
    """
    made = []
    for entry in re.split(r"\n+(?=-)", manual.strip()):
        usage, text = entry.split("\n", 1)
        words = usage.split()
        names = [word for word in words if word.startswith("-")]
        value = " ".join(words[len(names) :]) or None
        more = {**DETAILS.get(names[-1], {}), **(details or {}).get(names[-1], {})}
        parameter = [more.pop("to")] if "to" in more else []
        given: dict[str, Any] = {
            "help": " ".join(text.split()),
            "metavar": value,
            "multiple": (value or "").endswith("..."),
            "show_default": "default" in more,
            **({"is_flag": True} if value is None and "type" not in more else {}),
        }
        made.append(click.option(*names, *parameter, **(given | more)))

    def add(command: Any) -> Any:
        for each in reversed(made):
            command = each(command)
        return command

    return add


@dataclass(frozen=True)
class CommonOptions:
    """The table of a command, and the options on reading, writing and printing."""

    file: str = STREAM
    output: str | None = None
    overwrite: bool = False
    resume: bool = False
    dask: str | None = None
    format: str | None = None
    sheet: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    formulas: str = "escape"
    quiet: bool = False
    as_json: bool = False
    debug: bool = False

    @property
    def is_folder(self) -> bool:
        """Whether the input is a folder of tables."""
        # Not a Path, for which an empty name is the current folder
        return self.file != STREAM and os.path.isdir(self.file)

    @property
    def inputs(self) -> list[str]:
        """Paths that must not be overwritten."""
        return [] if self.file == STREAM else [self.file]

    @property
    def destination(self) -> str:
        """Where the filled table goes: a path, or ``-``."""
        if self.output is not None:
            return self.output
        return STREAM if self.file == STREAM else str(filled_path(Path(self.file)))

    @property
    def reading(self) -> dict[str, Any]:
        """Keyword arguments of `open_table`."""
        names = ("format", "sheet", "delimiter", "encoding")
        return {name: getattr(self, name) for name in names}

    @property
    def writing(self) -> dict[str, Any]:
        """Keyword arguments of functions that write a table."""
        return {"overwrite": self.overwrite, "formulas": self.formulas}

    @property
    def table_run(self) -> dict[str, Any]:
        """Keyword arguments of `fill_targets` and `predict_table`."""
        to_stream = self.destination == STREAM
        destination = output_stream() if to_stream else self.destination
        return {"destination": destination, **self.writing}

    @property
    def folder_run(self) -> dict[str, Any]:
        """Keyword arguments of `fill_folder` and `predict_folder`."""
        places = {"folder": self.file, "out": self.destination}
        return {**places, "resume": self.resume, **self.writing, **self.reading}

    def open_table(self) -> Table:
        """Open the table; a folder is one table of all its files."""
        from halfmoon.table._files import open_table

        if self.is_folder:
            from halfmoon.table._folders import FolderTable, list_folder

            return FolderTable(list_folder(self.file), self.file, **self.reading)
        # Not a Path, which would drop a slash of https://
        source = input_stream() if self.file == STREAM else self.file
        return open_table(source, **self.reading)

    def refuse_missing(self) -> None:
        """Refuse a file that does not exist, before libraries are imported.

        A pattern or an address is left to `open_table`, and so is a closed folder.
        """
        if self.file in ("", STREAM) or "://" in self.file or has_magic(self.file):
            return
        try:
            os.stat(self.file)
        except (FileNotFoundError, NotADirectoryError):
            raise no_file(self.file) from None
        except (OSError, ValueError):
            return

    def refuse_folder_options(self) -> None:
        """Refuse the options of folders if the input is not a folder."""
        does = {}
        if self.resume:
            does["--resume"] = "continues a run over a folder"
        if self.dask is not None:
            does["--dask"] = "fills the files of a folder"
        for name, what in does.items():
            if not self.is_folder:
                raise CommandError(
                    f"{name} {what}, but {self.file} is not a folder. Leave it out."
                )

    @contextmanager
    def engine(self) -> Iterator[Engine | None]:
        """Connect to the Dask cluster that fills files; None is this process."""
        if self.dask is None:
            yield None
            return
        try:
            from halfmoon._partitions.dask_rows import connected
        except ModuleNotFoundError as missing:
            raise CommandError(
                f"--dask needs {missing.name}, which is not installed. Run: "
                f'pip install "halfmoon[dask]"'
            ) from None
        with ExitStack() as stack:
            try:
                engine = stack.enter_context(connected(self.dask))
            except ConnectionError as error:
                raise CommandError(str(error)) from error
            yield engine

    def progress(self) -> ProgressBars:
        """Return progress bars, which a quiet run does not show."""
        from halfmoon._cli.terminal import ProgressBars

        return ProgressBars(quiet=self.quiet or self.as_json)


def command(
    name: str, kind: type[click.Command] = Arguments
) -> Callable[[Any], click.Command]:
    """Return a decorator that makes a command from a function.

    The function gets the common options as one object, and the others by name. Any
    error ends the process with its exit code.
    """
    common_names = {field.name for field in fields(CommonOptions)}

    def decorate(function: Callable[..., None]) -> click.Command:
        @wraps(function)
        def run(**options: Any) -> None:
            given = {key: options.pop(key) for key in common_names & set(options)}
            common = CommonOptions(**given)
            with exit_with_code(debug=common.debug, as_json=common.as_json):
                refuse_small_memory()
                common.refuse_missing()
                function(common, **options)

        return click.command(name, cls=kind, no_args_is_help=True)(run)

    return decorate


def command_line() -> str:
    """Return the command that runs as the user would type it, without defaults."""
    context = click.get_current_context()
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
            whole = isinstance(value, float) and value.is_integer()
            words += [parameter.opts[-1], str(int(value) if whole else value)]
    return shlex.join(words)
