"""Open a table of any format."""

from __future__ import annotations

import glob
import os
from dataclasses import replace
from typing import IO

from halfmoon._notes import Note
from halfmoon.table._files.byte_source import Source, decompressed
from halfmoon.table._files.dialect import (
    SEPARATOR_LINE,
    encoding_of,
    is_western,
    sniffed_delimiter,
)
from halfmoon.table._files.formats import (
    WORKBOOKS,
    Format,
    compression_of,
    format_from_name,
    format_from_option,
    kind_of,
    refuse_address,
    refuse_unsupported,
    workbook_in_zip,
)
from halfmoon.table._files.frame_rows import library_of
from halfmoon.table._files.frame_table import FrameTable
from halfmoon.table._files.printed_tables import csv_source, printed_note, row_splitter
from halfmoon.table._files.table_interface import BATCH_ROWS, Table
from halfmoon.table._files.text_table import TextTable
from halfmoon.table._table_errors import CommandError, ReadError

__all__ = ["open_table"]

# Files of the other formats are imported where they are needed.
MAX_FILES = 10_000  # of a pattern
HEAD_BYTES = 2**16  # read to find format, encoding and delimiter
DELIMITER_NAMES = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";"}


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
    source : path, binary stream, data frame of pandas or polars, or Arrow stream
        A stream, such as standard input or an object with ``__arrow_c_stream__``, is
        copied to a temporary file. A pattern such as ``parts/*.csv`` means all matching
        files as one table.
    format : str, optional
        ``csv``, ``tsv``, ``parquet``, ``feather``, ``xlsx``, ``ods``, ``jsonl`` or
        ``json``, followed by ``.gz`` or the like if compressed. By default found from
        the name and the first bytes.
    delimiter, encoding : str, optional
        For text. By default found from the first rows, and from the byte order mark;
        UTF-8 without a mark.
    batch_rows : int
        Maximum number of rows of a batch.
    sheet : str or int, optional
        For a workbook: name of the sheet, or its number from 1. By default the first
        visible sheet with a table.
    """
    asked = (None, None) if format is None else format_from_option(format)
    delimiter = None if delimiter is None else _checked_delimiter(delimiter)
    if library_of(source) is not None:
        return FrameTable(source, batch_rows)
    if isinstance(source, (str, os.PathLike)):
        if not os.fspath(source):
            raise ReadError("The name of the table is empty. Give the name of a file.")
        refuse_address(os.fspath(source))
        files = matching_files(os.fspath(source))
        if files is not None:
            from halfmoon.table._files.joined_table import JoinedTable

            options = format, delimiter, encoding, batch_rows, sheet
            tables = (open_table(name, *options) for name in files)
            one = len(files) == 1
            return next(tables) if one else JoinedTable(tables, os.fspath(source))
    if hasattr(source, "__arrow_c_stream__"):
        from halfmoon.table._files.columnar_table import spooled_stream

        opened, asked = spooled_stream(source), ("feather", None)
    else:
        opened = Source(source)
    try:
        return _table(opened, asked, delimiter, encoding, batch_rows, sheet)
    except BaseException:
        opened.close()
        raise


def matching_files(pattern: str) -> list[str] | None:
    """Return the files that match a pattern, in order; None if it is not a pattern.

    A file whose name is the pattern itself is that file.
    """
    if not glob.has_magic(pattern) or os.path.lexists(pattern):
        return None
    files = sorted(name for name in glob.glob(pattern) if os.path.isfile(name))
    if not files:
        raise ReadError(f"No file matches {pattern}. Check the folder and the pattern.")
    if len(files) > MAX_FILES:
        raise ReadError(
            f"{len(files):,} files match {pattern}; at most {MAX_FILES:,} are read as "
            f"one table. Give a narrower pattern."
        )
    return files


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
    named = (None, None) if source.path is None else format_from_name(source.path)
    head = _head(source, None)
    compression = _compression(head, asked[1] or named[1])
    if compression is not None:
        head = _head(source, compression)
    kind = kind_of(head)
    if kind in ("zip", "ole") and compression is not None:
        source, compression = _unpacked(source, compression), None
    if kind == "zip":
        with source.open() as file:
            kind = workbook_in_zip(file)
        if kind is None and named[0] in WORKBOOKS:
            kind = named[0]  # damaged, as its reader will say
    elif kind == "ole":
        kind = "xls"
    if kind is None and asked[0] is None:
        refuse_unsupported(head, source.name, source.path)
    name = asked[0] or kind or named[0] or "csv"
    if name in WORKBOOKS and kind is None and asked[0] is None and _is_text(head):
        name = "csv"  # some programs give text tables the ending .xls
    if name in WORKBOOKS:
        from halfmoon.table._files.workbook_table import WorkbookTable

        return WorkbookTable(source, Format(kind or name), batch_rows, sheet)
    if sheet is not None:
        raise CommandError(
            f"{source.name} is not a workbook and has no sheet {str(sheet)!r}. Leave "
            f"out the sheet."
        )
    if name in ("parquet", "feather"):
        from halfmoon.table._files.columnar_table import ColumnarTable

        if compression is not None:
            source = _unpacked(source, compression)
        return ColumnarTable(source, Format(name, compression), batch_rows)
    may_guess = encoding is None
    encoding, bom = encoding_of(head, encoding)
    if name in ("jsonl", "json"):
        from halfmoon.table._files.json_table import JsonTable

        found = Format(name, compression, None, encoding, bom)
        return JsonTable(source, found, batch_rows)
    western = may_guess and encoding == "utf-8" and not bom and is_western(head)
    if western:
        encoding = "cp1252"
    found = Format(name, compression, delimiter, encoding, bom)
    table = _text_table(source, found, batch_rows, head)
    if western:
        table.notes.append(_western_note())
    return table


def _western_note() -> Note:
    return Note(
        "The text is not in UTF-8; it was read as cp1252, the encoding of Windows in "
        "western countries.",
        "If some letters look wrong in the report, name another: `encoding='cp1250'`.",
    )


def _text_table(source: Source, found: Format, batch_rows: int, head: bytes) -> Table:
    if found.delimiter is not None:
        return TextTable(source, found, batch_rows)
    encoding = str(found.encoding)
    text = head[len(found.bom) :].decode(encoding, "replace")
    complete = len(head) < HEAD_BYTES
    found = replace(found, delimiter=_delimiter(text, complete, found))
    split = row_splitter(text, complete, str(found.delimiter))
    if split is None or found.name == "tsv":
        return TextTable(source, found, batch_rows)
    source = csv_source(source, found, split)
    table = TextTable(source, Format("csv", None, ",", "utf-8"), batch_rows)
    table.notes.append(printed_note())
    return table


def _delimiter(text: str, complete: bool, found: Format) -> str:
    """Return the delimiter that the beginning of a text shows."""
    named = SEPARATOR_LINE.match(text)
    if named is not None:
        return named[1]
    if found.name == "tsv":
        return "\t"
    return sniffed_delimiter(text, complete)


def _compression(head: bytes, named: str | None) -> str | None:
    """Return the compression that the bytes show; the name's if they show nothing."""
    shown = compression_of(head)
    if shown is not None or named is None:
        return shown
    # Download programs often unpack a file and keep its name.
    is_plain = kind_of(head) is not None or _is_utf8(head)
    return None if is_plain and named != "brotli" else named


def _is_text(head: bytes) -> bool:
    return _is_utf8(head) or is_western(head) or encoding_of(head, None)[0] != "utf-8"


def _is_utf8(head: bytes) -> bool:
    try:
        head.decode()
    except UnicodeDecodeError as error:
        # The head may end within a character.
        if len(head) < HEAD_BYTES or error.start < len(head) - 3:
            return False
    return b"\0" not in head


def _head(source: Source, compression: str | None) -> bytes:
    with decompressed(source, compression) as (stream, _):
        return stream.read(HEAD_BYTES)


def _unpacked(source: Source, compression: str) -> Source:
    """Unpack a file to a temporary one, because columns are read in any order."""
    with decompressed(source, compression) as (stream, _):
        unpacked = Source(stream, source.name)
    unpacked.origin = source.origin
    source.close()
    return unpacked


def _checked_delimiter(delimiter: str) -> str:
    delimiter = DELIMITER_NAMES.get(delimiter, delimiter)
    if len(delimiter) != 1 or delimiter in '"\r\n\0':
        raise CommandError(
            f"The delimiter {delimiter!r} is not a single character. Common ones are "
            f", ; | and tab."
        )
    return delimiter
