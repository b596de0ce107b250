"""Options that several commands share, and what follows from them."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from halfmoon._cli.argument_types import Seconds
from halfmoon._cli.exit_codes import exit_with_code
from halfmoon._cli.paths import STREAM, filled_path, stream_or_path
from halfmoon.table._runs.run_settings import Settings

if TYPE_CHECKING:
    from halfmoon._cli.progress_bars import ProgressBars
    from halfmoon._partitions import Engine
    from halfmoon.table._files import Table

__all__ = [
    "MAX_ROWS_TO_LABEL",
    "CommonOptions",
    "command_line",
    "folder_options",
    "formulas_option",
    "learning_options",
    "option",
    "output_options",
    "reading_options",
    "running",
    "shared_options",
]

MAX_ROWS_TO_LABEL = 500
FORMATS = [
    *("csv", "tsv", "parquet", "feather"),
    *("xlsx", "xls", "ods", "jsonl", "json"),
]
Command = TypeVar("Command", bound=Callable[..., Any])
Option = Callable[[Any], Any]


def option(text: str, help_: str, to: str = "", **more: Any) -> Option:
    """Return an option, written as in a manual: ``-o --output FILE``.

    Without a value or a `type` it is a flag; after ``VALUE...`` it takes several. The
    command gets it as the parameter `to`, by default its long name.
    """
    words = text.split()
    names = [word for word in words if word.startswith("-")]
    value = " ".join(words[len(names) :]) or None
    given: dict[str, Any] = {"help": help_, "metavar": value}
    given["multiple"] = (value or "").endswith("...")
    given["show_default"] = "default" in more
    if value is None and "type" not in more:
        given["is_flag"] = True
    return click.option(*names, *[to][: bool(to)], **(given | more))


def _group(*options: Option) -> Callable[[Command], Command]:
    """Return a decorator that adds several options to a command, in this order."""

    def add(command: Command) -> Command:
        for each in reversed(options):
            command = each(command)
        return command

    return add


reading_options = _group(
    option(
        "--format",
        "Format of the input. Default: found from its name and content.",
        to="format_",
        type=click.Choice(FORMATS),
    ),
    option(
        "--sheet NAME",
        "Sheet of a workbook, by name or number. Default: the first one with a table.",
    ),
    option(
        "--delimiter CHAR",
        "Character between cells, e.g. ';' or tab. Default: found from the file.",
    ),
    option("--encoding NAME", "Text encoding, e.g. latin-1. Default: UTF-8."),
)

formulas_option = option(
    "--formulas",
    "What to do with a new cell that a spreadsheet would run as a formula: put an "
    "apostrophe in front (escape), or leave it (keep). Cells of the input never "
    "change.",
    type=click.Choice(["escape", "keep"]),
    default="escape",
)

output_options = _group(
    option(
        "-o --output FILE",
        "Write the filled table to this file; '-' is standard output. The ending "
        "of the name sets the format. Default: NAME.filled.csv in the folder of the "
        "input, or standard output if the input is standard input.",
    ),
    option(
        "--overwrite", "Replace existing output files. The input is never replaced."
    ),
    reading_options,
    formulas_option,
)

folder_options = _group(
    option(
        "--resume",
        "Continue a stopped run over a folder. The model and the files that are "
        "already written are kept.",
    ),
    option(
        "--dask ADDRESS",
        "Fill the files of a folder on a Dask cluster: the address of its "
        "scheduler, or 'local' for several processes on this machine. The workers "
        "must see the folders under the same paths.",
    ),
)

shared_options = _group(
    option("-q --quiet", "Print only errors."),
    option("--json", "Print the results as JSON.", to="as_json"),
    option("--debug", "Show the full traceback of an error."),
)


def learning_options(
    budget_seconds: float = Settings.budget,
    budget_help: str = "Time to search for the best model of each target: seconds, or "
    "90s, 2m, 1h. Reading and writing take extra time.",
) -> Callable[[Command], Command]:
    """Return the options that decide what is learned: fields of `Settings`."""
    return _group(
        option(
            "--features COLUMN...",
            "Learn only from these columns. Patterns work too: 'bill_*'.",
        ),
        option(
            "--exclude COLUMN...",
            "Do not learn from these columns, e.g. names or row numbers.",
        ),
        option(
            "--known COLUMN...",
            "Columns that are known to raise or lower the target in a straight "
            "line, e.g. area for a price. Name few: each needs several labels.",
        ),
        option(
            "--unlabeled VALUE...",
            "More values that mean a blank, e.g. ? or unknown. Empty cells, NA, "
            "N/A, NaN, null and None always do; add '' if one of these words is a "
            "class.",
        ),
        option(
            "--merge-labels",
            "Treat spellings of one class, such as Yes and yes, as one class.",
        ),
        option(
            "--task",
            "What the labels are. Ordered classes are steps of a scale, e.g. "
            "stars. Default: classes or numbers, found from the labels.",
            type=click.Choice(["classes", "numbers", "ordered"]),
        ),
        option(
            "--order CLASS...",
            "The classes of a scale, from low to high. Implies --task ordered.",
        ),
        option("--budget TIME", budget_help, type=Seconds(), default=budget_seconds),
        option(
            "--memory AMOUNT", "Memory limit of the whole run.", default=Settings.memory
        ),
        option(
            "--seed",
            "Random seed. The same seed gives the same result, unless the budget "
            "cuts the search short.",
            type=click.IntRange(0),
            default=Settings.seed,
        ),
    )


@dataclass(frozen=True)
class CommonOptions:
    """The table of a command, and the options on reading, writing and printing."""

    file: str
    output: str | None = None
    overwrite: bool = False
    resume: bool = False
    dask: str | None = None
    format_: str | None = None
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
        return self.file != STREAM and Path(self.file).is_dir()

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
        return {
            "format": self.format_,
            "sheet": self.sheet,
            "delimiter": self.delimiter,
            "encoding": self.encoding,
        }

    @property
    def writing(self) -> dict[str, Any]:
        """Keyword arguments of `fill_table` and `predict_table`."""
        return {
            "destination": stream_or_path(self.destination, writing=True),
            "overwrite": self.overwrite,
            "formulas": self.formulas,
        }

    @property
    def folder_run(self) -> dict[str, Any]:
        """Keyword arguments of `fill_folder` and `predict_folder`."""
        return {
            "folder": self.file,
            "out": self.destination,
            "overwrite": self.overwrite,
            "resume": self.resume,
            "formulas": self.formulas,
            **self.reading,
        }

    def open_table(self) -> Table:
        """Open the table; a folder is one table of all its files."""
        from halfmoon.table._files import open_table

        if self.is_folder:
            from halfmoon.table._folders import FolderTable, list_folder

            return FolderTable(list_folder(self.file), self.file, **self.reading)
        return open_table(stream_or_path(self.file), **self.reading)

    def refuse_folder_options(self) -> None:
        """Refuse the options of folders if the input is not a folder."""
        from halfmoon.table._table_errors import CommandError

        if self.is_folder:
            return
        if self.resume:
            raise CommandError(
                f"--resume continues a run over a folder, but {self.file} is not a "
                f"folder. Leave it out."
            )
        if self.dask is not None:
            raise CommandError(
                f"--dask fills the files of a folder, but {self.file} is not a folder. "
                f"Leave it out."
            )

    @contextmanager
    def engine(self) -> Iterator[Engine | None]:
        """Connect to the Dask cluster that fills files; None is this process."""
        from halfmoon.table._table_errors import CommandError

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
        from halfmoon._cli.progress_bars import ProgressBars

        return ProgressBars(quiet=self.quiet or self.as_json)

    def print_runs(
        self, runs: Sequence[tuple[Mapping[str, Any], Mapping[str, str | None]]]
    ) -> None:
        """Print the summary of each run, and the files that it wrote."""
        from halfmoon._cli.print_summary import print_runs

        printed = []
        for record, outputs in runs:
            paths = {"table": self.destination, **outputs}.items()
            written = {what: p for what, p in paths if p is not None and p != STREAM}
            printed.append((record, written))
        print_runs(
            printed,
            quiet=self.quiet,
            as_json=self.as_json,
            to_stderr=self.destination == STREAM,
        )


@contextmanager
def running(
    options: Mapping[str, Any],
) -> Iterator[tuple[CommonOptions, dict[str, Any]]]:
    """Split the options of a command into common ones and others.

    Any error ends the process with its exit code.
    """
    names = {field.name for field in fields(CommonOptions)}
    common = CommonOptions(**{k: v for k, v in options.items() if k in names})
    with exit_with_code(debug=common.debug, as_json=common.as_json):
        yield common, {k: v for k, v in options.items() if k not in names}


def command_line(context: click.Context) -> str:
    """Return the command as the user would type it, without default values."""
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
