"""Open a table, whatever its format."""

from __future__ import annotations

import os
from typing import IO, Any

from halfmoon.table.errors import CommandError, ReadError
from halfmoon.table.files.archive import workbook_in_zip
from halfmoon.table.files.arrow_stream import is_arrow_stream, stream_table
from halfmoon.table.files.batch import BATCH_ROWS, Table
from halfmoon.table.files.columnar import ColumnarTable
from halfmoon.table.files.compression import decompressing, reading
from halfmoon.table.files.dialect import sniffed_delimiter
from halfmoon.table.files.encoding import encoding_of
from halfmoon.table.files.format import (
    WORKBOOKS,
    Format,
    compression_of,
    format_from_name,
    format_from_option,
    kind_of,
)
from halfmoon.table.files.frame import FrameTable, library_of
from halfmoon.table.files.joined import JoinedTable, matching_files
from halfmoon.table.files.json_table import JsonTable
from halfmoon.table.files.source import Source
from halfmoon.table.files.text import TextTable
from halfmoon.table.files.title import SEPARATOR
from halfmoon.table.files.unsupported import refuse_address, refuse_unsupported
from halfmoon.table.files.workbook import WorkbookTable

__all__ = ["open_table"]

PACKED = ("zip", "ole")
HEAD_BYTES = 2**16  # looked at to find format, encoding and delimiter
NAMES_OF_DELIMITERS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";"}


def open_table(
    source: str | os.PathLike[str] | IO[bytes],
    format: str | None = None,  # noqa: A002
    delimiter: str | None = None,
    encoding: str | None = None,
    batch_rows: int = BATCH_ROWS,
    sheet: str | int | None = None,
) -> Table:
    """Open a table; used with ``with``.

    Parameters
    ----------
    source : path, binary stream, data frame of pandas or polars, or stream of Arrow
        A stream, such as standard input or anything with ``__arrow_c_stream__``, is
        kept in a temporary file. A pattern such
        as ``parts/*.csv`` is all files that fit it, as one table.
    format : str, optional
        ``csv``, ``tsv``, ``parquet``, ``feather``, ``xlsx``, ``ods``, ``jsonl`` or
        ``json``, with ``.gz`` or its like behind it if compressed. By default the name
        and the first bytes decide.
    delimiter, encoding : str, optional
        Of text. By default the first rows decide, and the byte order mark or UTF-8.
    batch_rows : int
        Rows of a batch, at most.
    sheet : str or int, optional
        Of a workbook: name of the sheet, or its number from 1. By default the first
        visible one that holds a table.

    Returns
    -------
    Table

    Raises
    ------
    ReadError
        If it is not a table, or not to be read.
    CommandError
        If an option does not exist.
    """
    asked = (None, None) if format is None else format_from_option(format)
    delimiter = None if delimiter is None else _checked_delimiter(delimiter)
    if library_of(source) is not None:
        return FrameTable(source, batch_rows)
    if is_arrow_stream(source):
        return stream_table(source, batch_rows)
    if isinstance(source, (str, os.PathLike)):
        refuse_address(os.fspath(source))
        files = matching_files(os.fspath(source))
        if files is not None:
            options = format, delimiter, encoding, batch_rows, sheet
            return _joined(files, os.fspath(source), options)
    opened = Source(source)
    try:
        return _table(opened, asked, delimiter, encoding, batch_rows, sheet)
    except BaseException:
        opened.close()
        raise


def _joined(files: list[str], pattern: str, options: tuple[Any, ...]) -> Table:
    """The files that fit a pattern, as one table."""
    tables: list[Table] = []
    try:
        for name in files:
            tables.append(open_table(name, *options))
        return tables[0] if len(tables) == 1 else JoinedTable(tables, pattern)
    except BaseException:
        for table in tables:
            table.close()
        raise


def _table(
    source: Source,
    asked: tuple[str | None, str | None],
    delimiter: str | None,
    encoding: str | None,
    batch_rows: int,
    sheet: str | int | None,
) -> Table:
    if not source.size:
        raise ReadError(
            f"{source.name} is empty. A table with a header and rows is needed."
        )
    promised = (None, None) if source.path is None else format_from_name(source.path)
    head = _head(source, None)
    compression = _compression(head, asked[1] or promised[1])
    if compression is not None:
        head = _head(source, compression)
    kind = kind_of(head)
    if kind in PACKED and compression is not None:
        source, compression = _unpacked(source, compression), None
    if kind == "zip":
        with source.open() as file:
            kind = workbook_in_zip(file)
        if kind is None and promised[0] in WORKBOOKS:
            kind = promised[0]  # cut short or damaged, as its reader will say
    elif kind == "ole":
        kind = "xls"
    if kind is None and asked[0] is None:
        refuse_unsupported(head, source.name, source.path)
    name = asked[0] or kind or promised[0] or "csv"
    if name in WORKBOOKS and kind is None and asked[0] is None and _is_utf8(head):
        name = "csv"  # some programs call their text tables .xls
    if name in WORKBOOKS:
        return WorkbookTable(source, Format(kind or name), batch_rows, sheet)
    if sheet is not None:
        raise CommandError(
            f"{source.name} is not a workbook and has no sheets, but the sheet "
            f"{str(sheet)!r} was asked for."
        )
    if name in ("parquet", "feather"):
        if compression is not None:
            source = _unpacked(source, compression)
        return ColumnarTable(source, Format(name, compression), batch_rows)
    encoding, bom = encoding_of(head, encoding)
    if name in ("jsonl", "json"):
        found = Format(name, compression, None, encoding, bom)
        return JsonTable(source, found, batch_rows)
    text = head[len(bom) :].decode(encoding, "replace")
    hint = SEPARATOR.match(text)
    if hint is not None:
        text = text[hint.end() :]
        delimiter = delimiter or hint[1]
    if delimiter is None:
        whole = len(head) < HEAD_BYTES
        delimiter = "\t" if name == "tsv" else sniffed_delimiter(text, whole)
    found = Format(name, compression, delimiter, encoding, bom)
    return TextTable(source, found, batch_rows)


def _compression(head: bytes, promised: str | None) -> str | None:
    """What the bytes show; what the name promises where they can show nothing."""
    shown = compression_of(head)
    if shown is not None or promised is None:
        return shown
    # Programs that fetch files often unpack them and keep the name.
    plain = kind_of(head) is not None or _is_utf8(head)
    return None if plain and promised != "brotli" else promised


def _is_utf8(head: bytes) -> bool:
    try:
        head.decode()
    except UnicodeDecodeError as error:
        # Cut in the middle of a character, text is still text.
        if len(head) < HEAD_BYTES or error.start < len(head) - 3:
            return False
    return b"\0" not in head


def _head(source: Source, compression: str | None) -> bytes:
    with (
        reading(source.name, compression),
        source.open() as file,
        decompressing(file, compression) as stream,
    ):
        return stream.read(HEAD_BYTES)


def _unpacked(source: Source, compression: str) -> Source:
    """The content of a compressed file in a temporary one: columns need any order."""
    with (
        reading(source.name, compression),
        source.open() as file,
        decompressing(file, compression) as stream,
    ):
        unpacked = Source(stream, source.name)
    unpacked.origin = source.origin
    source.close()
    return unpacked


def _checked_delimiter(delimiter: str) -> str:
    delimiter = NAMES_OF_DELIMITERS.get(delimiter, delimiter)
    if len(delimiter) != 1 or delimiter in '"\r\n\0':
        raise CommandError(
            f"The delimiter {delimiter!r} is not one sign. Common ones are , ; | and "
            f"tab."
        )
    return delimiter
