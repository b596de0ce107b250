"""Formats: what a file is called, what its first bytes say, and which of them counts.

A name such as ``flowers.csv.gz`` says two things, the table's format and the
compression around it. The first bytes of a file say the same for every format but
text. Where name and bytes disagree, the bytes are believed if they leave no doubt.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from halfmoon.table.errors import CommandError

__all__ = [
    "WORKBOOKS",
    "Format",
    "compression_of",
    "format_from_name",
    "format_from_option",
    "kind_of",
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
    # The letters BZh alone could begin a header; the first block's mark could not.
    "bz2": re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"),
    "xz": re.compile(rb"\xfd7zXZ\x00"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd"),
    "lz4": re.compile(rb"\x04\x22\x4d\x18"),
}
_FORMAT_BYTES = {
    # A column may be called PAR1; what follows in Parquet is no letter.
    "parquet": re.compile(rb"PAR[1E]([\x00-\x08\x0b\x0c\x0e-\x1f]|\Z)"),
    "feather": re.compile(rb"ARROW1\x00\x00|FEA1[\x00-\x08]|\xff{4}"),
    "zip": re.compile(rb"PK\x03\x04"),
    "ole": re.compile(rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),  # old Office files
    "jsonl": re.compile(rb"(?:\xef\xbb\xbf)?\s*\{\s*\"(?:[^\"\\]|\\.)*\"\s*:"),
    "json": re.compile(rb"(?:\xef\xbb\xbf)?\s*\[\s*\{\s*[\"}]"),
}


@dataclass(frozen=True)
class Format:
    """How a table is written down.

    Parameters
    ----------
    name : {"csv", "tsv", "parquet", "feather", "xlsx", "xlsm", "xlsb", "xls", "ods",
        "jsonl", "json"}
    compression : {None, "gzip", "bz2", "xz", "zstd", "lz4", "brotli"}
        Around the whole file; what Parquet and Feather do inside is theirs.
    delimiter, encoding : str or None
        Of text; None elsewhere.
    bom : bytes
        The byte order mark that the text begins with, often none.
    """

    name: str
    compression: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    bom: bytes = b""

    @property
    def is_text(self) -> bool:
        """Whether cells are text and nothing else."""
        return self.name in ("csv", "tsv")

    @property
    def is_workbook(self) -> bool:
        """Whether it is a file of a spreadsheet program."""
        return self.name in WORKBOOKS

    @property
    def is_json(self) -> bool:
        """Whether rows are JSON objects."""
        return self.name in ("jsonl", "json")


def format_from_name(path: str | os.PathLike[str]) -> tuple[str | None, str | None]:
    """Format and compression that a file's name promises, None where it says nothing.

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
    """Format and compression that a user asked for, as in ``csv`` or ``csv.gz``."""
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
    """Compression that the first bytes of a file show beyond doubt."""
    return _match(_COMPRESSION_BYTES, head)


def kind_of(head: bytes) -> str | None:
    """What the first bytes show beyond doubt: parquet, feather, json and so on."""
    return _match(_FORMAT_BYTES, head)


def _match(patterns: dict[str, re.Pattern[bytes]], head: bytes) -> str | None:
    return next((name for name, start in patterns.items() if start.match(head)), None)
