"""Formats of tables: by the name of a file, and by its first bytes.

A name such as ``flowers.csv.gz`` gives the format and the compression around it. The
first bytes of a file give the same, except for text. If name and bytes disagree, the
bytes count.
"""

from __future__ import annotations

import os
import re
import zipfile
from dataclasses import dataclass
from typing import IO

from halfmoon.table._table_errors import CommandError

__all__ = [
    "WORKBOOKS",
    "Format",
    "compression_of",
    "format_from_name",
    "format_from_option",
    "kind_of",
    "workbook_in_zip",
]

FORMATS = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".ipc": "feather",
    ".xlsx": "xlsx",
    ".xlsm": "xlsm",
    ".xlsb": "xlsb",
    ".xls": "xls",
    ".ods": "ods",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
}
WORKBOOKS = ("xlsx", "xlsm", "xlsb", "xls", "ods")
COMPRESSIONS = {
    ".gz": "gzip",
    ".bz2": "bz2",
    ".xz": "xz",
    ".zst": "zstd",
    ".lz4": "lz4",
    ".br": "brotli",
}
_COMPRESSION_BYTES = {
    "gzip": re.compile(rb"\x1f\x8b\x08"),
    # A header could begin with BZh, but not with the mark of the first block.
    "bz2": re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"),
    "xz": re.compile(rb"\xfd7zXZ\x00"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd"),
    "lz4": re.compile(rb"\x04\x22\x4d\x18"),
}
ODS_TYPE = b"application/vnd.oasis.opendocument.spreadsheet"
TYPE_BYTES = 100
_FORMAT_BYTES = {
    # A column may be called PAR1; in Parquet a control character follows.
    "parquet": re.compile(rb"PAR[1E]([\x00-\x08\x0b\x0c\x0e-\x1f]|\Z)"),
    "feather": re.compile(rb"ARROW1\x00\x00|FEA1[\x00-\x08]|\xff{4}"),
    "zip": re.compile(rb"PK\x03\x04"),
    "ole": re.compile(rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),  # old Office files
    "jsonl": re.compile(rb"(?:\xef\xbb\xbf)?\s*\{\s*\"(?:[^\"\\]|\\.)*\"\s*:"),
    "json": re.compile(rb"(?:\xef\xbb\xbf)?\s*\[\s*\{\s*[\"}]"),
}


@dataclass(frozen=True)
class Format:
    """Format, compression and text encoding of a table."""

    name: str  # a value of FORMATS
    #: Around the whole file, a value of COMPRESSIONS; Parquet also compresses inside.
    compression: str | None = None
    delimiter: str | None = None  # for text
    encoding: str | None = None  # for text
    bom: bytes = b""  # the byte order mark at the start of the text, if any

    @property
    def is_text(self) -> bool:
        """Whether all cells are text."""
        return self.name in ("csv", "tsv")

    @property
    def is_workbook(self) -> bool:
        """Whether it is the file of a spreadsheet program."""
        return self.name in WORKBOOKS

    @property
    def is_json(self) -> bool:
        """Whether rows are JSON objects."""
        return self.name in ("jsonl", "json")


def format_from_name(path: str | os.PathLike[str]) -> tuple[str | None, str | None]:
    """Return the format and compression in a file's name, None if it has none.

    Examples
    --------
    >>> format_from_name("flowers.tsv.gz"), format_from_name("flowers")
    (('tsv', 'gzip'), (None, None))
    """
    stem, suffix = os.path.splitext(os.fspath(path))
    compression = COMPRESSIONS.get(suffix.lower())
    if compression is not None:
        suffix = os.path.splitext(stem)[1]
    return FORMATS.get(suffix.lower()), compression


def format_from_option(asked: str) -> tuple[str, str | None]:
    """Return the format and compression of an option such as ``csv`` or ``csv.gz``."""
    name, compression = format_from_name("table." + asked.lower().removeprefix("."))
    if name is None:
        known = ", ".join(dict.fromkeys(FORMATS.values()))
        endings = ", ".join(COMPRESSIONS)
        raise CommandError(
            f"The format {asked!r} is not known. Give one of {known}, followed by "
            f"one of {endings} if it is compressed."
        )
    return name, compression


def compression_of(head: bytes) -> str | None:
    """Return the compression that the first bytes of a file show, or None."""
    return _match(_COMPRESSION_BYTES, head)


def kind_of(head: bytes) -> str | None:
    """Return what the first bytes show: parquet, feather, zip and so on, or None."""
    return _match(_FORMAT_BYTES, head)


def _match(patterns: dict[str, re.Pattern[bytes]], head: bytes) -> str | None:
    return next((name for name, start in patterns.items() if start.match(head)), None)


def workbook_in_zip(file: IO[bytes]) -> str | None:
    """Return the format of a workbook, which is a zip file; None for other archives."""
    try:
        with zipfile.ZipFile(file) as archive:
            names = set(archive.namelist())
            if "xl/workbook.xml" in names:
                return "xlsm" if "xl/vbaProject.bin" in names else "xlsx"
            if "xl/workbook.bin" in names:
                return "xlsb"
            if "mimetype" in names:
                with archive.open("mimetype") as part:
                    if part.read(TYPE_BYTES).startswith(ODS_TYPE):
                        return "ods"
    except (zipfile.BadZipFile, OSError, ValueError, EOFError, RuntimeError):
        return None  # damaged, or with a password
    return None
