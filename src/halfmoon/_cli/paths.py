"""Paths of inputs and outputs: what the user gives, and what follows from it."""

from __future__ import annotations

import glob
import re
from pathlib import Path

from halfmoon.table._table_errors import CommandError

__all__ = [
    "STREAM",
    "display_name",
    "filled_path",
    "is_table_name",
    "labels_path",
    "path_for_target",
    "report_path",
]

STREAM = "-"  # standard input or output

ENDINGS = {
    *(".csv", ".tsv", ".tab", ".txt", ".parquet", ".pq", ".feather", ".arrow", ".ipc"),
    *(".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
    *(".jsonl", ".ndjson", ".json"),
    *(".gz", ".bz2", ".xz", ".zst", ".lz4", ".br"),
}
FILLED = re.compile(r"(.+)\.filled(\d*)")
ILLEGAL_IN_NAMES = re.compile(r'[\x00-\x1f/\\:*?"<>|]')
READ_ONLY = {".xls", ".xlsb"}  # workbooks that cannot be written


def display_name(name: str) -> str:
    """Return the name of a file for a sentence."""
    return "standard input" if name == STREAM else Path(name).name


def filled_path(source: Path) -> Path:
    """Return the default path of the filled table.

    Examples
    --------
    >>> filled_path(Path("data/flowers.csv.gz")).as_posix()
    'data/flowers.filled.csv.gz'
    >>> filled_path(Path("flowers.filled.csv")).as_posix()
    'flowers.filled2.csv'
    """
    if glob.has_magic(str(source)) and not source.exists():
        return _filled_folder_path(source)
    stem = _stem(source.name)
    endings = source.name[len(stem) :]
    endings = ".xlsx" if endings.lower() in READ_ONLY else endings
    original, times = _filled_before(stem)
    return source.with_name(f"{original}.filled{times + 1 if times else ''}{endings}")


def _filled_folder_path(pattern: Path) -> Path:
    """Return a path outside the folder, so that the next run does not read it."""
    folder = pattern.parent
    if not folder.name or glob.has_magic(str(folder)):
        raise CommandError(
            f"{pattern} is a pattern of files, so the output has no default name. Give "
            f"one: --output FILE."
        )
    endings = pattern.name[len(_stem(pattern.name)) :]
    return folder.with_name(f"{folder.name}.filled{endings}")


def labels_path(source: Path) -> Path:
    """Return the default path of the labels that are typed for a table.

    Examples
    --------
    >>> labels_path(Path("data/flowers.csv.gz")).as_posix()
    'data/flowers.labels.jsonl'
    """
    if glob.has_magic(str(source)) and not source.exists():
        source = _filled_folder_path(source)
    original, _ = _filled_before(_stem(source.name))
    return source.with_name(f"{original}.labels.jsonl")


def report_path(filled: Path, target: str = "") -> Path:
    """Return the default path of the report on a filled table.

    A report on one of several targets has the target in its name.

    Examples
    --------
    >>> report_path(Path("flowers.filled.csv")).as_posix()
    'flowers.report.html'
    >>> report_path(Path("flowers.filled2.csv"), "species").as_posix()
    'flowers.species.report2.html'
    """
    original, times = _filled_before(_stem(filled.name))
    report = filled.with_name(f"{original}.report{times if times > 1 else ''}.html")
    return path_for_target(report, target, ".report") if target else report


def path_for_target(report: Path, target: str, marker: str = "") -> Path:
    """Return the path of the report on one of several targets.

    Examples
    --------
    >>> path_for_target(Path("all.html"), "price / m2").as_posix()
    'all.price _ m2.html'
    """
    name = ILLEGAL_IN_NAMES.sub("_", target)
    stem, middle, ending = report.name.rpartition(marker or report.suffix or ".html")
    if not middle:
        stem, ending = report.name, ""
    return report.with_name(f"{stem}.{name}{middle}{ending}")


def is_table_name(name: str) -> bool:
    """Return whether a name ends like that of a table.

    Examples
    --------
    >>> is_table_name("flowers.csv.gz"), is_table_name("species")
    (True, False)
    """
    return _stem(name) != name


def _filled_before(stem: str) -> tuple[str, int]:
    """Return the name before any filling, and how often the table was filled."""
    match = FILLED.fullmatch(stem)
    return (match[1], int(match[2] or 1)) if match else (stem, 0)


def _stem(name: str) -> str:
    """Return a file's name without the endings of its format and compression."""
    while (suffix := Path(name).suffix).lower() in ENDINGS:
        name = name[: -len(suffix)]
    return name
