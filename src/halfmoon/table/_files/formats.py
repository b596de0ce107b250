"""Formats of tables: by the name of a file, and by its first bytes.

A name such as ``flowers.csv.gz`` gives the format and the compression around it. The
first bytes of a file give the same, except for text. If name and bytes disagree, the
bytes count. Files and addresses that cannot be read are refused, with a way to get a
table from them.
"""

from __future__ import annotations

import os
import re
import shlex
import zipfile
from dataclasses import dataclass
from typing import IO

from halfmoon.table._table_errors import CommandError, ReadError

__all__ = [
    "WORKBOOKS",
    "Format",
    "compression_of",
    "format_from_name",
    "format_from_option",
    "kind_of",
    "refuse_address",
    "refuse_unsupported",
    "unsupported_ending",
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


# ---- what cannot be read -------------------------------------------------------------

FILL = "halfmoon fill - --target COLUMN"
DUCKDB = "COPY (SELECT * FROM mytable) TO '/dev/stdout' (FORMAT csv, HEADER)"
PANDAS = (
    'python -c "import pandas as pd; '
    "pd.{reader}('{name}').to_csv('table.csv', index=False)\""
)


@dataclass(frozen=True)
class Kind:
    """A kind of file that cannot be read."""

    what: str  # as in "is ..."
    remedy: str  # {file} is the path quoted for a shell, {name} the path
    start: bytes = b""  # pattern of its first bytes; empty if they say nothing
    endings: tuple[str, ...] = ()  # of its names


def _by_pandas(what: str, reader: str, start: bytes, *endings: str) -> Kind:
    command = PANDAS.replace("{reader}", reader)
    return Kind(what, f"Make a CSV file of it: {command}", start, endings)


ZIP_ARCHIVE = Kind(
    "a zip archive", f"Unpack it, or: unzip -p {{file}} | {FILL}", b"", (".zip",)
)
KINDS = (
    Kind(
        "an SQLite database",
        f'Pipe a table of it in: sqlite3 -header -csv {{file}} "SELECT * FROM mytable" '
        f"| {FILL}",
        rb"SQLite format 3\x00",
        (".sqlite", ".sqlite3", ".db"),
    ),
    Kind(
        "a DuckDB database",
        f'Pipe a table of it in: duckdb {{file}} "{DUCKDB}" | {FILL}',
        rb"(?s:.{8})DUCK",
        (".duckdb",),
    ),
    Kind(
        "a PDF document",
        "Save the table in it as CSV or as a workbook.",
        rb"%PDF-",
        (".pdf",),
    ),
    _by_pandas("an HDF5 file", "read_hdf", rb"\x89HDF\r\n\x1a\n", ".h5", ".hdf5"),
    Kind(
        "a NumPy file",
        "Write it as CSV: numpy.savetxt, with a header of column names.",
        rb"\x93NUMPY",
        (".npy",),
    ),
    Kind(
        "a Python pickle, which may run any code when it is opened",
        "If you trust it, open it in Python and write the table as CSV or Parquet.",
        rb"\x80[\x02-\x05][\x8c\x95cX}\](K]",
        (".pkl", ".pickle", ".joblib"),
    ),
    Kind(
        "a file of R data",
        "Write the table from R: write.csv(table, 'table.csv', row.names = FALSE)",
        rb"RD[AX][23]\n|[AX]\n\x00\x00\x00[\x02\x03]|A\n[23]\n",
        (".rds", ".rda", ".rdata"),
    ),
    _by_pandas("an SPSS file", "read_spss", rb"\$FL[23]", ".sav", ".zsav"),
    _by_pandas(
        "a Stata file",
        "read_stata",
        rb"<stata_dta>|[\x71-\x73][\x01\x02]\x01\x00",
        ".dta",
    ),
    _by_pandas(
        "a SAS file", "read_sas", rb"\x00{12}\xc2\xea\x81\x60", ".sas7bdat", ".xpt"
    ),
    Kind(
        "an ORC file",
        "Write it as Parquet: pyarrow.parquet.write_table(pyarrow.orc.read_table(...))",
        rb"ORC[\x00-\x08\x0b\x0c\x0e-\x1f]",
        (".orc",),
    ),
    Kind(
        "an ARFF file of Weka",
        'Make a CSV file of it: python -c "import pandas as pd; from scipy.io import '
        "arff; pd.DataFrame(arff.loadarff('{name}')[0]).to_csv('table.csv', "
        'index=False)"',
        rb"(?i)(?:\s*%[^\n]*\n)*\s*@relation\s",
        (".arff",),
    ),
    Kind("an Avro file", "Write the table as Parquet or CSV.", rb"Obj\x01", (".avro",)),
    Kind(
        "a picture",
        "Type the table in it into a spreadsheet program and save that.",
        rb"\x89PNG\r\n|\xff\xd8\xff|GIF8[79]a|II\*\x00|MM\x00\*"
        rb"|RIFF(?s:.{4})WEBP|BM(?s:.{4})\x00{4}",
        (".png", ".jpg", ".jpeg", ".gif", ".tif", ".tiff", ".webp", ".bmp", ".svg"),
    ),
    Kind(
        "an HTML page",
        "Copy the table on it into a spreadsheet program and save that as CSV.",
        rb"(?i:\s*(?:<!--(?s:.{0,400}?)-->\s*)?<(?:!doctype\s+html|html|head|table)\b)",
        (".html", ".htm"),
    ),
    Kind(
        "an XML document", "Write the table in it as CSV.", rb"\s*<\?xml\s", (".xml",)
    ),
    Kind(
        "a pointer of Git LFS, without the file itself",
        "Fetch the file: git lfs pull",
        rb"version https://git-lfs\.",
    ),
    Kind(
        "a tar archive",
        "Unpack it: tar -xf {file}",
        rb"(?s:.{257})ustar",
        (".tar", ".tgz"),
    ),
    Kind(
        "a 7-Zip or RAR archive",
        "Unpack it.",
        rb"7z\xbc\xaf\x27\x1c|Rar!\x1a\x07",
        (".7z", ".rar"),
    ),
    ZIP_ARCHIVE,
    Kind(
        "a document",
        "Copy the table in it into a spreadsheet program and save that.",
        rb"\{\\rtf1",
        (".docx", ".doc", ".odt", ".pptx", ".ppt", ".rtf", ".md"),
    ),
)
FETCH_COMMANDS = {
    **dict.fromkeys(("http", "https", "ftp"), "curl -L {}"),
    "s3": "aws s3 cp {} -",
    **dict.fromkeys(("gs", "gcs"), "gcloud storage cat {}"),
    **dict.fromkeys(
        ("postgres", "postgresql"), "psql {} --csv -c 'SELECT * FROM mytable'"
    ),
}
ADDRESS = re.compile(r"(?i)([a-z][a-z0-9+.]{1,20}):/{1,2}(?=[^/])")


def refuse_unsupported(
    head: bytes, name: str, path: str | os.PathLike[str] | None
) -> None:
    """Refuse a file that is known not to be a table, by its first bytes or its path."""
    for kind in KINDS:
        if kind.start and re.match(kind.start, head):
            raise _refusal(kind, name, path)
    if kind_of(head) == "zip":
        raise _refusal(ZIP_ARCHIVE, name, path)
    named = None if path is None else unsupported_ending(path)
    if named is not None and b"\0" in head:
        raise _refusal(named, name, path)


def unsupported_ending(path: str | os.PathLike[str]) -> Kind | None:
    """Return the kind of file that a name ends like, or None if it can be read."""
    ending = os.path.splitext(os.fspath(path))[1].lower()
    return next((kind for kind in KINDS if ending in kind.endings), None)


def _refusal(kind: Kind, name: str, path: str | os.PathLike[str] | None) -> ReadError:
    file = "FILE" if path is None else os.fspath(path)
    remedy = kind.remedy.replace("{file}", shlex.quote(file))
    return ReadError(f"{name} is {kind.what}. {remedy.replace('{name}', file)}")


def refuse_address(given: str) -> None:
    """Refuse an address on the network."""
    found = ADDRESS.match(given)
    if found is None:
        return
    scheme = found[1].lower()
    rest = given[found.end() :]
    address = shlex.quote(f"{scheme}://{rest}")
    command = FETCH_COMMANDS.get(scheme, "").format(address)
    remedy = (
        f"Pipe it in: {command} | {FILL}"
        if command
        else "Download it first, and give the file."
    )
    raise ReadError(
        f"{scheme}://{rest} is an address, but only files can be read. {remedy}"
    )
