"""Write a table again, with some cells replaced and some columns added."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace as changed
from pathlib import Path
from typing import IO, Any

from halfmoon.atomic_files import leftovers
from halfmoon.report.findings import Note
from halfmoon.table.errors import CommandError, OutputError
from halfmoon.table.files.atomic import replacing, streaming
from halfmoon.table.files.batch import Batch, Table
from halfmoon.table.files.columnar_writer import ColumnarWriter
from halfmoon.table.files.compression import compressing
from halfmoon.table.files.format import Format, format_from_name, format_from_option
from halfmoon.table.files.frame_writer import FrameWriter
from halfmoon.table.files.json_writer import JsonWriter
from halfmoon.table.files.text_writer import TextWriter
from halfmoon.table.files.unsupported import unsupported_ending
from halfmoon.table.files.values import Values, as_lists
from halfmoon.table.files.workbook_writer import WorkbookWriter

__all__ = ["TableOutput", "new_table"]

Writer = TextWriter | ColumnarWriter | WorkbookWriter | JsonWriter | FrameWriter


class TableOutput:
    """A table being written; made by `new_table`."""

    def __init__(self, writer: Writer, like: Table, wanted: Format) -> None:
        self._writer = writer
        self._like = like
        self.format = wanted
        self.n_rows = 0
        self._appended: list[str] | None = None

    @property
    def escaped(self) -> int:
        """How many cells would have been formulas and got an apostrophe."""
        return self._writer.escaped

    def write(
        self,
        batch: Batch,
        replace: Values | None = None,
        append: Values | None = None,
    ) -> None:
        """Write the rows of a batch.

        Parameters
        ----------
        batch : Batch
            Of the table that the output is like.
        replace : dict of str to sequence or pyarrow.Array, optional
            A value for each row of the batch; the cell is left where it is None, and
            emptied where it is "".
        append : dict of str to sequence, optional
            New columns, the same ones for each batch; None gives an empty cell.
        """
        replace, append = replace or {}, append or {}
        self._check(batch, replace, append)
        if not self._writer.takes_arrays:
            replace, append = as_lists(replace), as_lists(append)
        self._writer.write(batch, replace, append)
        self.n_rows += len(batch)

    def _check(self, batch: Batch, replace: Values, append: Values) -> None:
        names = self._like.columns
        for column in replace:
            if column not in names:
                raise CommandError(f"{self._like.name} has no column {column!r}.")
        for column in append:
            if column in names:
                raise CommandError(
                    f"{self._like.name} has a column {column!r} already. Rename it, "
                    f"or leave it out."
                )
        if self._appended is None:
            self._appended = list(append)
        elif self._appended != list(append):
            raise ValueError(
                f"Columns {list(append)} are appended to this batch and "
                f"{self._appended} were to the first; they must be the same."
            )
        for column, values in [*replace.items(), *append.items()]:
            if len(values) != len(batch):
                raise ValueError(
                    f"{len(values)} values for {column!r} and a batch of {len(batch)} "
                    f"rows; one for each row is needed."
                )


@contextmanager
def new_table(
    destination: str | os.PathLike[str] | IO[bytes] | FrameWriter,
    like: Table,
    format: str | None = None,  # noqa: A002
    overwrite: bool = False,
    formulas: str = "escape",
    types: Mapping[str, Any] | None = None,
) -> Iterator[TableOutput]:
    """Begin a table that appears at its place when the block ends without exception.

    Parameters
    ----------
    destination : path, binary stream or FrameWriter
        A stream, such as standard output, gets everything at the end.
    like : Table
        The table that is written again.
    format : str, optional
        As in `open_table`. By default what the destination's name says, else the
        format of `like`.
    overwrite : bool
        Whether an existing file may be replaced. The file that `like` is read from
        never is.
    formulas : {"escape", "keep"}
        Whether new text cells that a spreadsheet would run get an apostrophe. Cells
        of the input are never touched.
    types : dict of str to pyarrow.DataType, optional
        Of columns in Parquet or Feather. By default columns keep theirs (from text:
        strings), and appended ones are float64 where their first batch has numbers,
        else strings. May still be filled in until the first batch is written.

    Raises
    ------
    OutputError
        If the file exists, is the input, or cannot be written.
    """
    if isinstance(destination, FrameWriter):
        yield TableOutput(destination, like, like.format)
        return
    if isinstance(destination, (str, os.PathLike)):
        name = os.fspath(destination)
        other = unsupported_ending(name)
        if other is not None and format is None:
            raise OutputError(
                f"{name} cannot be written: that is the name of {other.what}. Give "
                f"the output a name that ends in .csv, .xlsx, .ods, .parquet, "
                f".feather or the like."
            )
        wanted = _wanted(format_from_name(name), like, format)
        file = replacing(name, overwrite, like.source.inputs)
    else:
        name = "standard output"
        wanted = _wanted((None, None), like, format)
        file = streaming(destination)
    if wanted.is_workbook and wanted.compression is not None:
        raise OutputError(
            f"{name} cannot be written: workbooks are compressed already. Give it a "
            f"name that ends in .{wanted.name}."
        )
    with file as plain, compressing(plain, wanted.compression) as stream:
        if isinstance(destination, (str, os.PathLike)):
            like.notes.extend(_of_leftovers(name))
        writer: Writer
        if wanted.is_text:
            writer = TextWriter(stream, like, wanted, formulas, name)
        else:
            made = _typed_writer(wanted)
            writer = made(stream, like, wanted, {} if types is None else types, name)
        try:
            yield TableOutput(writer, like, wanted)
            writer.finish()
        except BaseException:
            writer.abandon()
            raise


def _of_leftovers(name: str) -> Iterator[Note]:
    """What runs that were killed have left where a table is written."""
    folder = Path(os.path.realpath(name)).parent
    removed, there = leftovers(folder)
    if removed:
        files = "file" if len(removed) == 1 else "files"
        yield Note(
            f"Removed {len(removed)} hidden {files} in {folder} that an earlier run "
            f"of halfmoon left when it was killed, such as {removed[0].name}."
        )
    if there:
        yield Note(
            f"{there[0]} was left by an earlier run of halfmoon that was killed.",
            "Delete it; it is removed by itself when it is a day old.",
        )


def _typed_writer(
    wanted: Format,
) -> type[WorkbookWriter] | type[JsonWriter] | type[ColumnarWriter]:
    if wanted.is_workbook:
        return WorkbookWriter
    return JsonWriter if wanted.is_json else ColumnarWriter


def _wanted(
    promised: tuple[str | None, str | None], like: Table, asked: str | None
) -> Format:
    """Format of the output: as asked, else as its name promises, else as the input."""
    if asked is not None:
        name, compression = format_from_option(asked)
        compression = compression or promised[1]
    elif promised != (None, None):
        name, compression = promised[0] or like.format.name, promised[1]
    else:
        name, compression = like.format.name, like.format.compression
    if name not in ("csv", "tsv"):
        return Format(name, compression)
    if not like.is_text:
        return Format(name, compression, "\t" if name == "tsv" else ",", "utf-8")
    delimiter = like.format.delimiter
    if name == "tsv" and like.format.name != "tsv":
        delimiter = "\t"
    elif name == "csv" and like.format.name == "tsv":
        delimiter = ","
    return changed(like.format, name=name, compression=compression, delimiter=delimiter)
