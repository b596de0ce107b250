"""Tables with typed columns: Parquet, and Feather, which is Arrow's own file format.

An Arrow stream, such as a reader of batches or a relation of DuckDB, can be read only
once. It is copied to a temporary file first, batch by batch.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from halfmoon._report.findings import Note
from halfmoon._report.sentences import count
from halfmoon.table._files.arrow_types import far_dates
from halfmoon.table._files.byte_source import PiecewiseStream, Source
from halfmoon.table._files.formats import Format
from halfmoon.table._files.table_interface import Batch, Table, refuse_duplicate_names
from halfmoon.table._table_errors import ReadError

__all__ = ["ColumnarTable", "spooled_stream"]

READ_BYTES = 2**20  # of a column at once
STREAM_START = b"\xff\xff\xff\xff"  # Arrow's format without an index at the end

Opened = tuple[Any, Iterator[tuple[Any, float]]]  # schema; batches, share of the file


class ColumnarTable(Table):
    """A table whose columns have types, which are kept."""

    def __init__(self, source: Source, found: Format, batch_rows: int) -> None:
        super().__init__(source, batch_rows)
        self.format = found
        with self._opened() as (schema, _):
            self.schema = schema
            names = schema.names  # here, as a damaged name is not UTF-8
        if not names:
            raise ReadError(f"{self.name} has no columns. A table is needed.")
        refuse_duplicate_names(names, self.name)

    def _read_batches(self) -> Iterator[tuple[Batch, int]]:
        start = 0
        far: Counter[str] = Counter()
        with self._opened() as (schema, batches):
            if schema != self.schema:
                raise self.source.changed()
            for rows, share in batches:
                done = int(share * self.source.size)
                for first in range(0, rows.num_rows, self.batch_rows):
                    part = rows.slice(first, self.batch_rows)
                    far.update(far_dates(part))
                    yield Batch(start, part), done
                    start += part.num_rows
        if self.n_rows is None:  # read for the first time
            self.notes += map(_far_note, far, far.values())

    def codec(self) -> str | None:
        """Return the compression inside a Parquet file, that of its first column.

        Call this only after rows were read: on inconsistent metadata Arrow ends the
        whole process here, but raises an error when it reads rows.
        """
        if self.format.name != "parquet":
            return None
        with self.source.open() as file:
            metadata = pq.read_metadata(file)
            if not metadata.num_row_groups:
                return None
            codec: str = metadata.row_group(0).column(0).compression.lower()
        return "none" if codec == "uncompressed" else codec

    @contextmanager
    def _opened(self) -> Iterator[Opened]:
        try:
            with self.source.open() as file:
                if self.format.name == "parquet":
                    yield _open_parquet(file, self.batch_rows)
                else:
                    yield _open_feather(file, self.source.path, self.name)
        # A damaged file may ask for more memory than there is.
        except (pa.ArrowException, OSError, UnicodeError, MemoryError) as error:
            what = self.format.name.capitalize()
            raise ReadError(
                f"{self.name} is not a {what} file, or is damaged or cut short. Get "
                f"it again, or say what it is: format='csv' (--format csv)."
            ) from error


def spooled_stream(given: Any) -> Source:
    """Copy an object with ``__arrow_c_stream__`` to a temporary file."""
    reader = pa.RecordBatchReader.from_stream(given)

    def pieces() -> Iterator[bytes]:
        sink = io.BytesIO()
        with pa.ipc.new_stream(sink, reader.schema) as writer:
            for batch in reader:
                writer.write_batch(batch)
                yield sink.getvalue()
                sink.seek(0)
                sink.truncate()
        yield sink.getvalue()

    return Source(cast(IO[bytes], PiecewiseStream(pieces())), "the stream")


def _far_note(column: str, n: int) -> Note:
    return Note(
        f"{count(n, 'cell')} of {column!r} {'has a date' if n == 1 else 'have dates'} "
        f"before the year 1 or after 9999 and counted as missing."
    )


def _open_parquet(file: IO[bytes], batch_rows: int) -> Opened:
    # No threads and no reading ahead: a batch at a time takes little memory.
    table = pq.ParquetFile(file, pre_buffer=False, buffer_size=READ_BYTES)
    total = max(table.metadata.num_rows, 1)

    def batches() -> Iterator[tuple[Any, float]]:
        done = 0
        for batch in table.iter_batches(batch_rows, use_threads=False):
            done += batch.num_rows
            batch.validate(full=True)
            yield batch, done / total

    return table.schema_arrow, batches()


def _open_feather(file: IO[bytes], path: Path | None, name: str) -> Opened:
    start = file.read(4)
    file.seek(0)
    if start == b"FEA1":
        raise ReadError(
            f"{name} is a Feather file of version 1, which Arrow no longer reads. "
            f"Write it again as version 2, or as Parquet or CSV."
        )
    # A memory map takes no memory for uncompressed batches, however large they are.
    opened: Any = file if path is None else pa.memory_map(str(path))
    if start == STREAM_START:
        stream = pa.ipc.open_stream(opened)
        return stream.schema, _validated(stream, None)
    reader = pa.ipc.open_file(opened)
    n = reader.num_record_batches
    return reader.schema, _validated((reader.get_batch(i) for i in range(n)), n)


def _validated(batches: Iterable[Any], n: int | None) -> Iterator[tuple[Any, float]]:
    """Check each batch, because Arrow trusts the offsets and lengths in a file."""
    for number, batch in enumerate(batches, start=1):
        batch.validate(full=True)
        yield batch, 0.0 if n is None else number / n
