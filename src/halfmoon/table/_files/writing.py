"""Write a table again, with replaced cells and new columns.

An output appears whole or not at all: a file gets its name at the end, and a stream
gets everything at once. System errors become one sentence that says what to do.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Any

from halfmoon._atomic_files import leftovers, whole_file
from halfmoon._notes import Note
from halfmoon.table._files.byte_source import compressing
from halfmoon.table._files.formats import Format, format_from_name, unsupported_ending
from halfmoon.table._files.frame_table import FrameWriter
from halfmoon.table._files.table_interface import Table, TableOutput
from halfmoon.table._files.text_writer import TextWriter
from halfmoon.table._table_errors import OutputError

__all__ = ["leftover_notes", "new_table", "refuse_place", "replacing"]

DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
COPY_BYTES = 2**20
SEPARATORS = tuple({os.sep, os.altsep or os.sep})  # of the folders in a path


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


@contextmanager
def replacing(
    path: str | os.PathLike[str],
    overwrite: bool = False,
    inputs: Sequence[str | os.PathLike[str]] = (),
) -> Iterator[IO[bytes]]:
    """Open a file that gets its name when the block ends without an exception.

    Links are followed. A device or pipe, such as ``/dev/null``, gets a copy when the
    block ends. Without `overwrite`, a file that appears in the meantime is not replaced
    either; `inputs` are never replaced. An `OutputError` comes before the block if the
    file cannot be made, after it if it cannot be moved.
    """
    name = os.fspath(path)
    if refuse_place(name, overwrite, inputs):
        try:
            device = open(name, "wb", buffering=0)  # noqa: SIM115
        except OSError as error:
            raise _unwritable(name, error) from error
        with device, streaming(device, name) as spool:
            yield spool
        return
    place = Path(os.path.realpath(name))
    with whole_file(place, overwrite, partial(_unwritable, name)) as file:
        yield file


@contextmanager
def streaming(stream: IO[bytes], name: str = "standard output") -> Iterator[IO[bytes]]:
    """Open a file that is copied to a stream when the block ends without an error."""
    target: IO[bytes] = getattr(stream, "buffer", stream)
    try:
        with tempfile.TemporaryFile(prefix="halfmoon-") as spool:
            yield spool
            spool.seek(0)
            _copy(spool, target, name)
    except OSError as error:  # closing the file may fail again
        if error.errno not in DISK_FULL:
            raise
        raise OutputError(
            f"{name} is first written to a temporary file in {tempfile.gettempdir()}: "
            f"{error.strerror}. Set TMPDIR to a folder with more room."
        ) from error


def _copy(spool: IO[bytes], target: IO[bytes], name: str) -> None:
    try:
        shutil.copyfileobj(spool, target, COPY_BYTES)
        target.flush()
    except BrokenPipeError as error:
        raise OutputError(
            f"{name} was closed before all of the output was written."
        ) from error
    except OSError as error:
        raise _unwritable(name, error) from error


def refuse_place(
    path: str | os.PathLike[str],
    overwrite: bool = False,
    inputs: Sequence[str | os.PathLike[str]] = (),
) -> bool:
    """Refuse a path that cannot be written; return whether it is a device or pipe."""
    name = os.fspath(path)
    if not name:
        raise OutputError("The name of an output is empty. Give the name of a file.")
    try:
        found = os.stat(name)
    except FileNotFoundError:
        is_folder = name.endswith(SEPARATORS)
        folder = name if is_folder else os.path.dirname(os.path.realpath(name))
        if not os.path.isdir(folder):
            raise OutputError(
                f"{name} cannot be written: the folder {folder} does not exist. Make "
                f"it first."
            ) from None
        return False
    except (OSError, ValueError) as error:
        raise _unwritable(name, error) from error
    if stat.S_ISDIR(found.st_mode):
        raise OutputError(f"{name} is a folder. Give the name of a file in it.")
    for given in inputs:
        with suppress(OSError):
            if os.path.samestat(found, os.stat(given)):
                raise OutputError(
                    f"{name} is the input, which is never overwritten. Give another "
                    f"name to the output."
                )
    if not stat.S_ISREG(found.st_mode):
        return True
    if not overwrite:
        raise _unwritable(name, FileExistsError())
    return False


def _unwritable(name: str, error: Exception) -> OutputError:
    if isinstance(error, FileExistsError):
        return OutputError(
            f"{name} already exists. Give another name, or overwrite it "
            f"(`overwrite=True`)."
        )
    number = getattr(error, "errno", None)
    why = getattr(error, "strerror", None) or error
    what = " Make room on the disk." if number in DISK_FULL else ""
    return OutputError(f"{name} cannot be written: {why}.{what}")
