"""All tables of a folder as one, with the columns that their places give."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from halfmoon.table.errors import ReadError
from halfmoon.table.files import Batch, Table, open_table
from halfmoon.table.files.joined import JoinedTable
from halfmoon.table.folders.listing import FolderFile

__all__ = ["FolderTable", "with_partition"]


def with_partition(batch: Batch, file: FolderFile, before: int = 0) -> Batch:
    """A batch of a file with its partition's columns, numbered in the whole folder.

    Parameters
    ----------
    batch : Batch
    file : FolderFile
    before : int
        Rows in the files before it.
    """
    rows = batch.rows
    names, columns = list(rows.schema.names), rows.columns
    for name, value in file.partition:
        names.append(name)
        columns.append(_repeated(value, rows.num_rows))
    if file.partition:
        rows = pa.RecordBatch.from_arrays(columns, names)
    return replace(batch, rows=rows, start=batch.start + before)


class FolderTable(JoinedTable):
    """The tables of a folder, one after the other.

    Parameters
    ----------
    files : sequence of FolderFile
    name : str
        What to call the whole in a message.
    **options
        Of `open_table`.

    Attributes
    ----------
    counts : list of int
        Rows of each file, once a walk has come to its end.
    """

    first_row = 1  # rows are counted through all files

    def __init__(self, files: Sequence[FolderFile], name: str, **options: Any) -> None:
        tables: list[Table] = []
        try:
            tables += (open_table(file.path, **options) for file in files)
            super().__init__(tables, name)
        except BaseException:
            for table in tables:
                table.close()
            raise
        self.files, self.counts = files, [0] * len(files)
        for column, _ in files[0].partition:
            if column in self.schema.names:
                raise ReadError(
                    f"{files[0].name} has a column {column!r}, and so has its folder, "
                    f"{column}=.... Rename one of them."
                )
            self.schema = self.schema.append(pa.field(column, pa.string()))

    def _walk(self) -> Iterator[tuple[Batch, int]]:
        self.counts = [0] * len(self.files)
        for number, batch, read in self._walk_tables():
            self.counts[number] += len(batch)
            yield with_partition(batch, self.files[number]), read


def _repeated(value: str | None, n: int) -> Any:
    if value is None:
        return pa.nulls(n, pa.string())
    return pa.repeat(pa.scalar(value, pa.string()), n)
