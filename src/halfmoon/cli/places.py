"""Where files come from and go to, by what the user says and does not say."""

from __future__ import annotations

import glob
import re
import sys
from pathlib import Path
from typing import IO

__all__ = [
    "STREAM",
    "filled_beside",
    "for_target",
    "is_table_name",
    "labels_beside",
    "named",
    "report_beside",
    "stream_or_path",
]

STREAM = "-"  # standard input or output

ENDINGS = {
    *(".csv", ".tsv", ".tab", ".txt", ".parquet", ".pq", ".feather", ".arrow", ".ipc"),
    *(".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
    *(".jsonl", ".ndjson", ".json"),
    *(".gz", ".bz2", ".xz", ".zst", ".lz4", ".br"),
}
FILLED = re.compile(r"(.+)\.filled(\d*)")
NOT_IN_NAMES = re.compile(r'[\x00-\x1f/\\:*?"<>|]')  # of files
READ_ONLY = {".xls", ".xlsb"}  # workbooks that are read and not written


def stream_or_path(name: str, *, writing: bool = False) -> str | IO[bytes]:
    """A file, or standard input or output."""
    if name != STREAM:
        return name  # not a Path, which would take a slash from https://
    return sys.stdout.buffer if writing else sys.stdin.buffer


def named(name: str) -> str:
    """What to call a file in a sentence."""
    return "standard input" if name == STREAM else Path(name).name


def filled_beside(source: Path) -> Path:
    """The place of a filled table.

    Examples
    --------
    >>> filled_beside(Path("data/flowers.csv.gz")).as_posix()
    'data/flowers.filled.csv.gz'
    >>> filled_beside(Path("flowers.filled.csv")).as_posix()
    'flowers.filled2.csv'
    """
    if glob.has_magic(str(source)) and not source.exists():
        return _beside_folder(source)
    stem = _stem(source.name)
    endings = source.name[len(stem) :]
    endings = ".xlsx" if endings.lower() in READ_ONLY else endings
    before, times = _filled_before(stem)
    return source.with_name(f"{before}.filled{times + 1 if times else ''}{endings}")


def _beside_folder(pattern: Path) -> Path:
    """The place of a table of many files: not among them, or it would be read next."""
    from halfmoon.table.errors import CommandError

    folder = pattern.parent
    if not folder.name or glob.has_magic(str(folder)):
        raise CommandError(
            f"{pattern} is a pattern of files: name the file for the filled table with "
            f"--output FILE."
        )
    endings = pattern.name[len(_stem(pattern.name)) :]
    return folder.with_name(f"{folder.name}.filled{endings}")


def labels_beside(source: Path) -> Path:
    """The place of the answers for a table.

    Examples
    --------
    >>> labels_beside(Path("data/flowers.csv.gz")).as_posix()
    'data/flowers.labels.jsonl'
    """
    if glob.has_magic(str(source)) and not source.exists():
        source = _beside_folder(source)
    before, _ = _filled_before(_stem(source.name))
    return source.with_name(f"{before}.labels.jsonl")


def report_beside(filled: Path, target: str = "") -> Path:
    """The place of the report on a filled table, or on one of its targets.

    Examples
    --------
    >>> report_beside(Path("flowers.filled.csv")).as_posix()
    'flowers.report.html'
    >>> report_beside(Path("flowers.filled2.csv"), "species").as_posix()
    'flowers.species.report2.html'
    """
    before, times = _filled_before(_stem(filled.name))
    report = filled.with_name(f"{before}.report{times if times > 1 else ''}.html")
    return for_target(report, target, ".report") if target else report


def for_target(report: Path, target: str, before: str = "") -> Path:
    """The place of the report on one of several targets, whose name it holds.

    Examples
    --------
    >>> for_target(Path("all.html"), "price / m2").as_posix()
    'all.price _ m2.html'
    """
    name = NOT_IN_NAMES.sub("_", target)
    stem, middle, ending = report.name.rpartition(before or report.suffix or ".html")
    if not middle:
        stem, ending = report.name, ""
    return report.with_name(f"{stem}.{name}{middle}{ending}")


def is_table_name(name: str) -> bool:
    """Whether a name ends as those of tables do.

    Examples
    --------
    >>> is_table_name("flowers.csv.gz"), is_table_name("species")
    (True, False)
    """
    return _stem(name) != name


def _filled_before(stem: str) -> tuple[str, int]:
    """The name before any filling, and how often the table was filled."""
    match = FILLED.fullmatch(stem)
    return (match[1], int(match[2] or 1)) if match else (stem, 0)


def _stem(name: str) -> str:
    """A file's name without the endings that say how it is written."""
    while (suffix := Path(name).suffix).lower() in ENDINGS:
        name = name[: -len(suffix)]
    return name
