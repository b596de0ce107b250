"""The files of a folder, and the partitions they are in.

In all files below a subfolder ``country=fr`` the column ``country`` is "fr", as Hive,
Spark and others write it. Names that begin with a dot or an underscore are skipped:
temporary files, files of other programs, halfmoon's own manifest.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from halfmoon.table._files.formats import format_from_name
from halfmoon.table._table_errors import OutputError, ReadError

__all__ = ["FolderFile", "list_folder", "refuse_links", "refuse_nested"]

FORMATS = ("csv", "tsv", "parquet", "feather")
MAX_FILES = 100_000
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # a missing value in Hive


@dataclass(frozen=True)
class FolderFile:
    """A file of a folder.

    Attributes
    ----------
    path : Path
    name : str
        The path relative to the folder, with slashes.
    partition : tuple of (str, str or None)
        Columns that the subfolders give, with their values.
    """

    path: Path
    name: str
    partition: tuple[tuple[str, str | None], ...] = ()


def list_folder(folder: str | os.PathLike[str]) -> list[FolderFile]:
    """Return the tables in a folder and its subfolders, in the order of their names.

    Raises
    ------
    ReadError
        If there are none, or if their partitions differ.
    """
    root = Path(folder)
    found: list[FolderFile] = []
    for parent, folders, names in os.walk(root, onerror=_unreadable):
        folders[:] = sorted(name for name in folders if name[0] not in "._")
        for name in sorted(names):
            path = Path(parent, name)
            if name[0] not in "._" and format_from_name(path)[0] in FORMATS:
                relative = path.relative_to(root)
                partition = _partition(relative)
                found.append(FolderFile(path, relative.as_posix(), partition))
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


def refuse_nested(folder: Path, out: Path) -> None:
    """Refuse an output folder that is the input, inside it, or around it."""
    source, target = folder.resolve(), out.resolve()
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
    """Refuse an output folder with links to the input, which would be overwritten."""
    source = folder.resolve()
    for file in files if out.exists() else ():
        place = out / file.name
        if source in place.resolve().parents:
            raise OutputError(
                f"{place} is a link into {folder}, which is never overwritten. Remove "
                f"the link, or give another folder to the output."
            )


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
    for file in files:
        others = [name for name, _ in file.partition]
        if others != names or len(set(others)) < len(others):
            raise ReadError(
                f"{file.name} is in the partitions {others or 'none'}, but "
                f"{first.name} in {names or 'none'}. Put all tables into subfolders "
                f"with the same names before =, each once, in the same order."
            )


def _unreadable(error: OSError) -> None:
    raise ReadError(f"{error.filename} cannot be read: {error.strerror or error}.")
