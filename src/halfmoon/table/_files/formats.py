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
#: What it is, the endings of its names, and what to do: {file} is the path quoted for a
#: shell, {name} the path itself, and {fill} the command that reads a pipe.
UNREADABLE = """
an SQLite database: .sqlite .sqlite3 .db
    Pipe a table of it in: sqlite3 -header -csv {file} "SELECT * FROM mytable" | {fill}
a DuckDB database: .duckdb
    Pipe a table of it in: duckdb {file} "COPY (SELECT * FROM mytable) TO '/dev/stdout'
    (FORMAT csv, HEADER)" | {fill}
a PDF document: .pdf
    Save the table in it as CSV or as a workbook.
an HDF5 file: .h5 .hdf5
    {pandas: read_hdf}
a NumPy file: .npy
    Write it as CSV: numpy.savetxt, with a header of column names.
a Python pickle, which may run any code when it is opened: .pkl .pickle .joblib
    If you trust it, open it in Python and write the table as CSV or Parquet.
a file of R data: .rds .rda .rdata
    Write the table from R: write.csv(table, 'table.csv', row.names = FALSE)
an SPSS file: .sav .zsav
    {pandas: read_spss}
a Stata file: .dta
    {pandas: read_stata}
a SAS file: .sas7bdat .xpt
    {pandas: read_sas}
an ORC file: .orc
    Write it as Parquet: pyarrow.parquet.write_table(pyarrow.orc.read_table(...))
an ARFF file of Weka: .arff
    Make a CSV file of it: python -c "import pandas as pd; from scipy.io import arff;
    pd.DataFrame(arff.loadarff('{name}')[0]).to_csv('table.csv', index=False)"
an Avro file: .avro
    Write the table as Parquet or CSV.
a picture: .png .jpg .jpeg .gif .tif .tiff .webp .bmp .svg
    Type the table in it into a spreadsheet program and save that.
an HTML page: .html .htm
    Copy the table on it into a spreadsheet program and save that as CSV.
an XML document: .xml
    Write the table in it as CSV.
a pointer of Git LFS, without the file itself:
    Fetch the file: git lfs pull
a tar archive: .tar .tgz
    Unpack it: tar -xf {file}
a 7-Zip or RAR archive: .7z .rar
    Unpack it.
a zip archive: .zip
    Unpack it, or: unzip -p {file} | {fill}
a document: .docx .doc .odt .pptx .ppt .rtf .md
    Copy the table in it into a spreadsheet program and save that.
"""
PANDAS = (
    'Make a CSV file of it: python -c "import pandas as pd; '
    r"pd.\1('{name}').to_csv('table.csv', index=False)" + '"'
)
#: Patterns of the first bytes of some of these.
STARTS = {
    "an SQLite database": rb"SQLite format 3\x00",
    "a DuckDB database": rb"(?s:.{8})DUCK",
    "a PDF document": rb"%PDF-",
    "an HDF5 file": rb"\x89HDF\r\n\x1a\n",
    "a NumPy file": rb"\x93NUMPY",
    "a Python pickle, which may run any code when it is opened": (
        rb"\x80[\x02-\x05][\x8c\x95cX}\](K]"
    ),
    "a file of R data": rb"RD[AX][23]\n|[AX]\n\x00\x00\x00[\x02\x03]|A\n[23]\n",
    "an SPSS file": rb"\$FL[23]",
    "a Stata file": rb"<stata_dta>|[\x71-\x73][\x01\x02]\x01\x00",
    "a SAS file": rb"\x00{12}\xc2\xea\x81\x60",
    "an ORC file": rb"ORC[\x00-\x08\x0b\x0c\x0e-\x1f]",
    "an ARFF file of Weka": rb"(?i)(?:\s*%[^\n]*\n)*\s*@relation\s",
    "an Avro file": rb"Obj\x01",
    "a picture": (
        rb"\x89PNG\r\n|\xff\xd8\xff|GIF8[79]a|II\*\x00|MM\x00\*"
        rb"|RIFF(?s:.{4})WEBP|BM(?s:.{4})\x00{4}"
    ),
    "an HTML page": (
        rb"(?i:\s*(?:<!--(?s:.{0,400}?)-->\s*)?<(?:!doctype\s+html|html|head|table)\b)"
    ),
    "an XML document": rb"\s*<\?xml\s",
    "a pointer of Git LFS, without the file itself": rb"version https://git-lfs\.",
    "a tar archive": rb"(?s:.{257})ustar",
    "a 7-Zip or RAR archive": rb"7z\xbc\xaf\x27\x1c|Rar!\x1a\x07",
    "a document": rb"\{\\rtf1",
}


@dataclass(frozen=True)
class Kind:
    """A kind of file that cannot be read."""

    what: str  # as in "is ..."
    endings: tuple[str, ...]  # of its names
    remedy: str


KINDS = {
    what: Kind(
        what,
        tuple(endings.split()),
        re.sub(r"{pandas: (\w+)}", PANDAS, " ".join(remedy.split())),
    )
    for what, endings, remedy in re.findall(
        r"(?m)^(\S.*?):(.*)\n((?:    .*\n)+)", UNREADABLE
    )
}
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
    for what, start in STARTS.items():
        if re.match(start, head):
            raise _refusal(KINDS[what], name, path)
    if kind_of(head) == "zip":
        raise _refusal(KINDS["a zip archive"], name, path)
    named = None if path is None else unsupported_ending(path)
    if named is not None and b"\0" in head:
        raise _refusal(named, name, path)


def unsupported_ending(path: str | os.PathLike[str]) -> Kind | None:
    """Return the kind of file that a name ends like, or None if it can be read."""
    ending = os.path.splitext(os.fspath(path))[1].lower()
    return next((kind for kind in KINDS.values() if ending in kind.endings), None)


def _refusal(kind: Kind, name: str, path: str | os.PathLike[str] | None) -> ReadError:
    file = "FILE" if path is None else os.fspath(path)
    remedy = kind.remedy.replace("{fill}", FILL).replace("{file}", shlex.quote(file))
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
