"""What the user chose for reading, writing and telling, the same for every command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from halfmoon.cli.places import STREAM, filled_beside, stream_or_path

if TYPE_CHECKING:
    from halfmoon.cli.stages import Bars
    from halfmoon.partitions import Engine
    from halfmoon.table.files import Table

__all__ = ["Chosen"]


@dataclass(frozen=True)
class Chosen:
    """Values of `table_options` and `shared_options`, and of the table's place."""

    file: str
    output: str | None
    overwrite: bool
    format_: str | None
    sheet: str | None
    delimiter: str | None
    encoding: str | None
    formulas: str
    quiet: bool
    as_json: bool
    debug: bool

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> tuple[Chosen, dict[str, Any]]:
        """These options, and the others."""
        own = {each.name for each in fields(cls)}
        others = {name: value for name, value in options.items() if name not in own}
        return cls(**{name: options[name] for name in own}), others

    @property
    def place(self) -> str:
        """Where the filled table goes."""
        if self.output is not None:
            return self.output
        return STREAM if self.file == STREAM else str(filled_beside(Path(self.file)))

    @property
    def writing(self) -> dict[str, Any]:
        """How a table is written, for `fill_table` and `predict_table`."""
        return {
            "destination": stream_or_path(self.place, writing=True),
            "overwrite": self.overwrite,
            "formulas": self.formulas,
        }

    @property
    def is_folder(self) -> bool:
        """Whether the input is a folder of tables."""
        return self.file != STREAM and Path(self.file).is_dir()

    @property
    def reading(self) -> dict[str, Any]:
        """How tables are read."""
        return {
            "format": self.format_,
            "sheet": self.sheet,
            "delimiter": self.delimiter,
            "encoding": self.encoding,
        }

    def table(self) -> Table:
        """The table, to be walked through; of a folder, all tables in it as one."""
        from halfmoon.table.files import open_table
        from halfmoon.table.folders import FolderTable, list_folder

        if self.is_folder:
            return FolderTable(list_folder(self.file), self.file, **self.reading)
        return open_table(stream_or_path(self.file), **self.reading)

    def refuse_for_file(self, resume: bool, dask: str | None = None) -> None:
        """Refuse what only folders have."""
        from halfmoon.table.errors import CommandError

        if resume and not self.is_folder:
            raise CommandError(
                f"--resume goes on with the files of a folder, and {self.file} is not "
                f"a folder. Leave it out; a table is filled in one go."
            )
        if dask is not None and not self.is_folder:
            raise CommandError(
                f"--dask fills the files of a folder, and {self.file} is not a folder. "
                f"Leave it out."
            )

    @contextmanager
    def engine(self, dask: str | None) -> Iterator[Engine | None]:
        """What fills files, by the address of a scheduler; None is this process."""
        from halfmoon.table.errors import CommandError

        if dask is None:
            yield None
            return
        try:
            from halfmoon.partitions.dask_rows import connected
        except ModuleNotFoundError as missing:
            raise CommandError(
                f"--dask needs {missing.name}, which is not installed. Run: "
                f'pip install "halfmoon[dask]"'
            ) from None
        with ExitStack() as stack:
            try:
                engine = stack.enter_context(connected(dask))
            except ConnectionError as error:
                raise CommandError(str(error)) from error
            yield engine

    def bars(self) -> Bars:
        """Progress, unless it is to be quiet."""
        from halfmoon.cli.stages import Bars

        return Bars(quiet=self.quiet or self.as_json)

    def say(
        self, runs: Sequence[tuple[Mapping[str, Any], Mapping[str, str | None]]]
    ) -> None:
        """Tell of runs, each with the files that were written beside the table."""
        from halfmoon.cli.summary import say

        said = []
        for record, others in runs:
            places = {"table": self.place, **others}.items()
            written = {what: p for what, p in places if p is not None and p != STREAM}
            said.append((record, written))
        say(
            said,
            quiet=self.quiet,
            as_json=self.as_json,
            to_stderr=self.place == STREAM,
        )
