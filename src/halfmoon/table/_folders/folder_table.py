"""All files of a folder as one table, with a column for each partition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from halfmoon.table._files import Batch, Table, open_table
from halfmoon.table._files.joined_table import JoinedTable
from halfmoon.table._folders.folder_listing import FolderFile
from halfmoon.table._table_errors import ReadError

__all__ = ["FolderTable", "with_partition"]


def with_partition(batch: Batch, file: FolderFile, before: int = 0) -> Batch:
    """Add the columns of a file's partition to a batch, and number its rows.

    `before` is the number of rows in the files before this one.
    """
    rows = batch.rows
    names, columns = list(rows.schema.names), rows.columns
    for name, value in file.partition:
        names.append(name)
        columns.append(pa.repeat(pa.scalar(value, pa.string()), rows.num_rows))
    if file.partition:
        rows = pa.RecordBatch.from_arrays(columns, names)
    return replace(batch, rows=rows, start=batch.start + before)


class FolderTable(JoinedTable):
    """The files of a folder as one table.

    Parameters
    ----------
    files : sequence of FolderFile
    name : str
        Name of the whole table in messages.
    **options
        Options of `open_table`.

    Attributes
    ----------
    counts : list of int
        Number of rows of each file, once the table was read to its end.
    """

    first_row = 1  # rows are counted over all files

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
                    f"{files[0].name} has a column {column!r}, and so does its folder "
                    f"{column}=.... Rename one of them."
                )
            self.schema = self.schema.append(pa.field(column, pa.string()))

    def check_file(self, number: int) -> None:
        """Refuse a file that changed since the table was opened."""
        self._tables[number].source.check()

    def _read_batches(self) -> Iterator[tuple[Batch, int]]:
        self.counts = [0] * len(self.files)
        for number, batch, read in self._read_numbered():
            self.counts[number] += len(batch)
            yield with_partition(batch, self.files[number]), read
