"""The files of a folder, the partitions they are in, and all of them as one table.

In all files below a subfolder ``country=fr`` the column ``country`` is "fr", as Hive,
Spark and others write it. Names that begin with a dot or an underscore are skipped:
temporary files, files of other programs, halfmoon's own manifest. A text file (.txt) is
a table only if there are no others: it may describe them. Links are followed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from halfmoon._notes import Note
from halfmoon._number_format import count
from halfmoon.table._files import Batch, open_table
from halfmoon.table._files.formats import format_from_name
from halfmoon.table._files.joined_table import JoinedTable
from halfmoon.table._table_errors import OutputError, ReadError

__all__ = [
    "FolderFile",
    "FolderTable",
    "left_out_note",
    "list_folder",
    "refuse_links",
    "refuse_nested",
    "with_partition",
]

FORMATS = ("csv", "tsv", "parquet", "feather")
MAX_FILES = 100_000
MAX_LISTED = 3  # other files in a note
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # a missing value in Hive


@dataclass(frozen=True)
class FolderFile:
    """A file of a folder."""

    path: Path
    name: str  # the path relative to the folder, with slashes
    #: Columns that the subfolders give, with their values.
    partition: tuple[tuple[str, str | None], ...] = ()

    def resolved(self) -> FolderFile:
        """Return the file with its absolute path."""
        return replace(self, path=self.path.resolve())


def list_folder(folder: str | os.PathLike[str]) -> list[FolderFile]:
    """Return the tables in a folder and its subfolders, in the order of their names."""
    root = Path(folder)
    paths = _tables_and_others(root)[0]
    found = []
    for path in paths:
        _refuse_pipe(path)
        relative = path.relative_to(root)
        name = relative.as_posix()
        if _as_utf8(name) != name:
            raise ReadError(
                f"The name of {_as_utf8(name)} is not UTF-8, so no report can name it. "
                f"Rename the file."
            )
        found.append(FolderFile(path, name, _partition(relative)))
    if not found:
        raise ReadError(
            f"{folder} holds no table. A folder needs files whose names end in .csv, "
            f".tsv, .parquet or .feather; names that begin with . or _ are skipped."
        )
    if len(found) > MAX_FILES:
        raise ReadError(
            f"{folder} holds {len(found):,} tables; at most {MAX_FILES:,} are filled "
            f"in one run. Fill its subfolders one by one."
        )
    found.sort(key=lambda file: file.name)
    _refuse_different_partitions(found)
    return found


def left_out_note(folder: str | os.PathLike[str]) -> list[Note]:
    """Return a note on files that are not read, if there are any."""
    others = _tables_and_others(Path(folder))[1]
    if not others:
        return []
    names = [
        _as_utf8(path.relative_to(folder).as_posix()) for path in others[:MAX_LISTED]
    ]
    n_more = len(others) - MAX_LISTED
    more = f" and {n_more:,} more" if n_more > 0 else ""
    return [
        Note(
            f"{count(len(others), 'other file')} of the folder "
            f"{'was' if len(others) == 1 else 'were'} left out: {', '.join(names)}"
            f"{more}. Only CSV, TSV, Parquet and Feather files are read."
        )
    ]


def _tables_and_others(root: Path) -> tuple[list[Path], list[Path]]:
    """Return the tables below a folder, and the other files."""
    tables: list[Path] = []
    texts: list[Path] = []
    others: list[Path] = []
    for parent, folders, names in os.walk(root, onerror=_unreadable, followlinks=True):
        folders[:] = sorted(name for name in folders if name[0] not in "._")
        for name in folders:
            _refuse_circle(Path(parent, name), root)
        for path in (Path(parent, name) for name in sorted(names)):
            if path.name[0] in "._":
                continue
            if format_from_name(path)[0] not in FORMATS:
                others.append(path)
            else:
                (texts if ".txt" in path.suffixes else tables).append(path)
    return (tables, others + texts) if tables else (texts, others)


def _refuse_circle(folder: Path, root: Path) -> None:
    """Refuse a link to a folder that contains the link."""
    if not folder.is_symlink():
        return
    real = folder.resolve()
    above = [parent for parent in folder.parents if parent.is_relative_to(root)]
    if any(parent.resolve() == real for parent in above):
        raise ReadError(
            f"{folder} is a link to a folder that contains it, so there is no end to "
            f"it. Remove the link."
        )


def _refuse_pipe(path: Path) -> None:
    """Refuse a pipe or a device, whose reading may never end."""
    if path.exists() and not path.is_file():
        raise ReadError(
            f"{path} is not a file but a pipe or a device. Remove it from the folder."
        )


def _as_utf8(name: str) -> str:
    r"""Return a name as it is, or with bytes that are not UTF-8 written as \xff."""
    return os.fsencode(name).decode(errors="backslashreplace")


def refuse_nested(folder: Path, out: Path) -> None:
    """Refuse an output folder that is the input, inside it, or around it."""
    source, target = _real(folder), _real(out)
    if source == target:
        raise OutputError(
            f"{out} is the input, which is never overwritten. Give another folder to "
            f"the output."
        )
    if source in target.parents or target in source.parents:
        inner, outer = (out, folder) if source in target.parents else (folder, out)
        raise OutputError(
            f"{inner} is inside {outer}, so input and output would mix. Give an output "
            f"folder outside of the input."
        )
    if target.exists() and not target.is_dir():
        raise OutputError(
            f"{out} is a file, but the output of a folder is a folder. Give another "
            f"name to the output."
        )


def refuse_links(files: Sequence[FolderFile], folder: Path, out: Path) -> None:
    """Refuse an output folder that leads to the input, which would be overwritten."""
    source, inputs = _real(folder), {_real(file.path) for file in files}
    for file in files if out.exists() else ():
        place = out / file.name
        real = _real(place)
        if real in inputs or source in real.parents:
            raise OutputError(
                f"{place} leads to a file of {folder}, which is never overwritten. "
                f"Remove the link, or give another folder to the output."
            )


def _real(path: Path) -> Path:
    """Return the path without links; a circle of links is no error, as in `resolve`."""
    return Path(os.path.realpath(path))


def _partition(relative: Path) -> tuple[tuple[str, str | None], ...]:
    pairs = []
    for part in relative.parent.parts:
        name, equals, value = part.partition("=")
        if equals and name:
            value_or_none = None if value == NO_VALUE else unquote(value)
            pairs.append((unquote(name), value_or_none))
    return tuple(pairs)


def _refuse_different_partitions(files: Sequence[FolderFile]) -> None:
    first = files[0]
    names = [name for name, _ in first.partition]
    if len(set(names)) < len(names):
        raise ReadError(
            f"{first.name} is in the partitions {names}, in one of them twice. Name "
            f"each only once in the path."
        )
    for file in files:
        others = [name for name, _ in file.partition]
        if others != names:
            raise ReadError(
                f"{file.name} is in the partitions {others or 'none'}, but "
                f"{first.name} in {names or 'none'}. Put all tables into subfolders "
                f"with the same names before =, in the same order."
            )


def _unreadable(error: OSError) -> None:
    raise ReadError(f"{error.filename} cannot be read: {error.strerror or error}.")


def with_partition(batch: Batch, file: FolderFile, before: int = 0) -> Batch:
    """Add the columns of a file's partition to a batch, and number its rows.

    `before` is the number of rows in the files before this one.
    """
    rows = batch.rows
    names, columns = list(rows.schema.names), rows.columns
    for name, value in file.partition:
        names.append(name)
        columns.append(pa.repeat(pa.scalar(value, pa.string()), rows.num_rows))
    if file.partition:
        rows = pa.RecordBatch.from_arrays(columns, names)
    return replace(batch, rows=rows, start=batch.start + before)


class FolderTable(JoinedTable):
    """The files of a folder as one table; options as in `open_table`."""

    first_row = 1  # rows are counted over all files
    counts: list[int]  # rows of each file, once the table was read to its end

    def __init__(self, files: Sequence[FolderFile], name: str, **options: Any) -> None:
        super().__init__((open_table(file.path, **options) for file in files), name)
        self.files, self.counts = files, [0] * len(files)
        for column, _ in files[0].partition:
            if column in self.schema.names:
                self.close()
                raise ReadError(
                    f"{files[0].name} has a column {column!r}, and so does its folder "
                    f"{column}=.... Rename one of them."
                )
            self.schema = self.schema.append(pa.field(column, pa.string()))

    def check_file(self, number: int) -> None:
        """Refuse a file that changed since the table was opened."""
        self._tables[number].source.check()

    def _read_batches(self) -> Iterator[tuple[Batch, int]]:
        self.counts = [0] * len(self.files)
        for number, batch, read in self._read_numbered():
            self.counts[number] += len(batch)
            yield with_partition(batch, self.files[number]), read
