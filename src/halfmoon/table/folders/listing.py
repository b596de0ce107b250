"""The tables in a folder, and the partitions that they are in.

A folder ``country=fr`` says that in all rows below it the column ``country`` is "fr",
as Hive, Spark and others write it. Names that begin with a dot or an underscore are
not tables: temporary files, marks of other programs, halfmoon's own notes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from halfmoon.table.errors import OutputError, ReadError
from halfmoon.table.files.format import format_from_name

__all__ = ["FolderFile", "list_folder", "refuse_nested"]

FORMATS = ("csv", "tsv", "parquet", "feather")
MOST_FILES = 100_000
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # what Hive writes for a missing value


@dataclass(frozen=True)
class FolderFile:
    """A table in a folder.

    Attributes
    ----------
    path : Path
    name : str
        The path in the folder, with slashes.
    partition : tuple of (str, str or None)
        Columns that its place in the folder gives, with their value.
    """

    path: Path
    name: str
    partition: tuple[tuple[str, str | None], ...] = ()


def list_folder(folder: str | os.PathLike[str]) -> list[FolderFile]:
    """The tables in a folder and in the folders in it, in the order of their names.

    Raises
    ------
    ReadError
        If there are none, or if their partitions do not fit together.
    """
    root = Path(folder)
    found: list[FolderFile] = []
    for place, folders, names in os.walk(root, onerror=_unreadable):
        folders[:] = sorted(name for name in folders if name[0] not in "._")
        for name in sorted(names):
            path = Path(place, name)
            if name[0] not in "._" and format_from_name(path)[0] in FORMATS:
                inside = path.relative_to(root)
                found.append(FolderFile(path, inside.as_posix(), _partition(inside)))
    if not found:
        raise ReadError(
            f"{folder} holds no table. A folder needs files whose names end in .csv, "
            f".tsv, .parquet or .feather; names that begin with . or _ are skipped."
        )
    if len(found) > MOST_FILES:
        raise ReadError(
            f"{folder} holds {len(found):,} tables; at most {MOST_FILES:,} are filled "
            f"in one run. Give the folders in it one by one."
        )
    found.sort(key=lambda file: file.name)
    _refuse_other_partitions(found)
    return found


def refuse_nested(folder: Path, out: Path) -> None:
    """Refuse an output that is the input, in it, or around it."""
    source, place = folder.resolve(), out.resolve()
    if source == place:
        raise OutputError(
            f"{out} is the input, which is never overwritten. Give another folder to "
            f"the output."
        )
    if source in place.parents or place in source.parents:
        inner, outer = (out, folder) if source in place.parents else (folder, out)
        raise OutputError(
            f"{inner} is inside {outer}: input and output would mix. Give a folder "
            f"beside the input to the output."
        )
    if place.exists() and not place.is_dir():
        raise OutputError(
            f"{out} is a file, and the output of a folder is a folder. Give another "
            f"name to the output."
        )


def _partition(inside: Path) -> tuple[tuple[str, str | None], ...]:
    pairs = []
    for part in inside.parent.parts:
        name, equals, value = part.partition("=")
        if equals and name:
            given = None if value == NO_VALUE else unquote(value)
            pairs.append((unquote(name), given))
    return tuple(pairs)


def _refuse_other_partitions(files: Sequence[FolderFile]) -> None:
    first = files[0]
    names = [name for name, _ in first.partition]
    for file in files:
        own = [name for name, _ in file.partition]
        if own != names or len(set(own)) < len(own):
            raise ReadError(
                f"{file.name} is in the partitions {own or 'none'} and {first.name} in "
                f"{names or 'none'}. Put all tables into folders with the same names "
                f"before =, each once, in the same order."
            )


def _unreadable(error: OSError) -> None:
    raise ReadError(f"{error.filename} cannot be read: {error.strerror or error}.")
