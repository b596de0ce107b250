"""Write a table again, with replaced cells and new columns."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from halfmoon._atomic_files import leftovers
from halfmoon._notes import Note
from halfmoon.table._files.byte_source import compressing
from halfmoon.table._files.formats import Format, format_from_name, unsupported_ending
from halfmoon.table._files.frame_table import FrameWriter
from halfmoon.table._files.outputs import replacing, streaming
from halfmoon.table._files.table_interface import Table, TableOutput
from halfmoon.table._files.text_writer import TextWriter
from halfmoon.table._table_errors import OutputError

__all__ = ["leftover_notes", "new_table"]


@contextmanager
def new_table(
    destination: str | os.PathLike[str] | IO[bytes] | FrameWriter,
    like: Table,
    overwrite: bool = False,
    formulas: str = "escape",
    types: Mapping[str, Any] | None = None,
    tidy: bool = True,
) -> Iterator[TableOutput]:
    """Begin a table that appears at its path when the block ends without an exception.

    Parameters
    ----------
    destination : path, binary stream or FrameWriter
        A stream, such as standard output, gets everything at the end.
    like : Table
        The table that is written again, in the format that the name of the destination
        gives, else in its own.
    overwrite : bool
        Whether an existing file may be replaced. The file of `like` is never replaced.
    formulas : {"escape", "keep"}
        Whether new text cells that a spreadsheet would run get an apostrophe. Cells of
        the input never change.
    types : dict of str to pyarrow.DataType, optional
        Types of columns in Parquet or Feather. By default columns keep their types
        (strings for text input), and new columns are float64 if their first batch has
        numbers, else strings. The dictionary may be filled until the first batch is
        written.
    tidy : bool
        Whether to look for hidden files that killed runs left in the folder.

    Raises
    ------
    OutputError
        If the file exists, is the input, or cannot be written.
    """
    if isinstance(destination, FrameWriter):
        destination.begin(like)
        yield destination
        return
    if isinstance(destination, (str, os.PathLike)):
        name = os.fspath(destination)
        other = unsupported_ending(name)
        if other is not None:
            raise OutputError(
                f"{name} cannot be written: that is the name of {other.what}. Give "
                f"the output a name that ends in .csv, .xlsx, .ods, .parquet, "
                f".feather or the like."
            )
        wanted = _output_format(like, *format_from_name(name))
        file = replacing(name, overwrite, like.source.inputs)
    else:
        name = "standard output"
        wanted = _output_format(like)
        file = streaming(destination)
    if wanted.is_workbook and wanted.compression is not None:
        raise OutputError(
            f"{name} cannot be written: workbooks are already compressed. Give it a "
            f"name that ends in .{wanted.name}."
        )
    with file as plain, compressing(plain, wanted.compression) as stream:
        if tidy and isinstance(destination, (str, os.PathLike)):
            like.notes.extend(leftover_notes(name))
        output = stream, like, wanted, {} if types is None else types, name
        writer = _writer(wanted, output, formulas)
        try:
            yield writer
            writer.finish()
        except BaseException:
            with suppress(Exception):  # such as the full disk that led here
                writer.abandon()
            raise


def _writer(wanted: Format, output: tuple[Any, ...], formulas: str) -> TableOutput:
    """Return the writer of a format, which is imported where it is needed."""
    if wanted.is_text:
        return TextWriter(*output, formulas=formulas)
    if wanted.is_workbook:
        from halfmoon.table._files.workbook_writer import workbook_writer

        return workbook_writer(*output)
    if wanted.is_json:
        from halfmoon.table._files.json_table import JsonWriter

        return JsonWriter(*output)
    from halfmoon.table._files.columnar_table import ColumnarWriter

    return ColumnarWriter(*output)


def leftover_notes(name: str | os.PathLike[str]) -> Iterator[Note]:
    """Report hidden files that killed runs left in the folder of an output."""
    folder = Path(os.path.realpath(name)).parent
    removed, remaining = leftovers(folder)
    if removed:
        files = "file" if len(removed) == 1 else "files"
        yield Note(
            f"Removed {len(removed)} hidden {files} in {folder} that an earlier run "
            f"of halfmoon left when it was killed, such as {removed[0].name}."
        )
    if remaining:
        yield Note(
            f"{remaining[0]} was left by an earlier run of halfmoon that was killed.",
            "Delete it; otherwise halfmoon removes it when it is a day old.",
        )


def _output_format(
    like: Table, named: str | None = None, compression: str | None = None
) -> Format:
    """Return the format of the output: by its name, else that of the input."""
    own = like.format
    name = named or own.name
    if (named, compression) == (None, None):
        compression = own.compression
    if name not in ("csv", "tsv"):
        return Format(name, compression)
    if like.is_text and name == own.name:
        return replace(own, compression=compression)
    delimiter = "\t" if name == "tsv" else ","
    if like.is_text:
        return replace(own, name=name, compression=compression, delimiter=delimiter)
    return Format(name, compression, delimiter, "utf-8")
