"""Files and addresses that cannot be read: what they are, and how to get a table.

The first bytes of a file decide, and its name if the bytes say nothing.
"""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass

from halfmoon.table._table_errors import ReadError

__all__ = ["refuse_address", "refuse_unsupported", "unsupported_ending"]

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
        "an XML document",
        "Write the table in it as CSV.",
        rb"\s*<\?xml\s",
        (".xml",),
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
ZIP_START = b"PK\x03\x04"
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
    if head.startswith(ZIP_START):
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
