"""Tables with typed columns: Parquet, and Feather, which is Arrow's own file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from halfmoon.report.findings import Note
from halfmoon.report.wording import count
from halfmoon.table.errors import ReadError
from halfmoon.table.files.arrow_types import far_dates
from halfmoon.table.files.batch import Batch, Table, refuse_doubled_names
from halfmoon.table.files.format import Format
from halfmoon.table.files.source import Source

__all__ = ["ColumnarTable"]

READ_BYTES = 2**20  # of a column at once
STREAM_START = b"\xff\xff\xff\xff"  # Arrow's format without an index at the end


def _far_note(column: str, n: int) -> Note:
    return Note(
        f"{count(n, 'cell')} of {column!r} {'has a date' if n == 1 else 'have dates'} "
        f"before the year 1 or after 9999 and counted as missing."
    )


class _Opened(NamedTuple):
    schema: Any
    batches: Iterator[tuple[Any, float]]  # rows, and the share of the file behind them


class ColumnarTable(Table):
    """A table whose columns have types of their own, which come through untouched."""

    def __init__(self, source: Source, found: Format, batch_rows: int) -> None:
        super().__init__(source, batch_rows)
        self.format = found
        with self._opened() as opened:
            self.schema = opened.schema
            names = self.schema.names
        if not names:
            raise ReadError(f"{self.name} has no columns. A table is needed.")
        refuse_doubled_names(names, self.name)

    def _walk(self) -> Iterator[tuple[Batch, int]]:
        start = 0
        far: Counter[str] = Counter()
        with self._opened() as opened:
            if opened.schema != self.schema:
                raise self.source.changed()
            for rows, share in opened.batches:
                done = int(share * self.source.size)
                for first in range(0, rows.num_rows, self.batch_rows):
                    part = rows.slice(first, self.batch_rows)
                    far.update(far_dates(part))
                    yield Batch(start, part), done
                    start += part.num_rows
        if self.n_rows is None:  # the first walk
            self.notes += map(_far_note, far, far.values())

    def codec(self) -> str | None:
        """Compression inside a Parquet file, that of its first column.

        To be asked for once rows were read: on metadata that do not fit together
        Arrow ends the whole process here, but raises an error where it reads rows.
        """
        if self.format.name != "parquet":
            return None
        with self.source.open() as file:
            held = pq.read_metadata(file)
            if not held.num_row_groups:
                return None
            codec: str = held.row_group(0).column(0).compression.lower()
        return "none" if codec == "uncompressed" else codec

    @contextmanager
    def _opened(self) -> Iterator[_Opened]:
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


def _open_parquet(file: IO[bytes], batch_rows: int) -> _Opened:
    # No threads and no reading ahead: rows come a batch at a time, in little memory.
    table = pq.ParquetFile(file, pre_buffer=False, buffer_size=READ_BYTES)
    total = max(table.metadata.num_rows, 1)

    def batches() -> Iterator[tuple[Any, float]]:
        done = 0
        for batch in table.iter_batches(batch_rows, use_threads=False):
            done += batch.num_rows
            batch.validate(full=True)
            yield batch, done / total

    return _Opened(table.schema_arrow, batches())


def _open_feather(file: IO[bytes], path: Path | None, name: str) -> _Opened:
    start = file.read(4)
    file.seek(0)
    if start == b"FEA1":
        raise ReadError(
            f"{name} is a Feather file of version 1, which Arrow no longer reads. "
            f"Write it again as version 2, or as Parquet or CSV."
        )
    # A map costs no memory for what is not compressed, however large its batches.
    opened: Any = file if path is None else pa.memory_map(str(path))
    if start == STREAM_START:
        stream = pa.ipc.open_stream(opened)
        return _Opened(stream.schema, _checked(stream, None))
    reader = pa.ipc.open_file(opened)
    n = reader.num_record_batches
    batches = (reader.get_batch(i) for i in range(n))
    return _Opened(reader.schema, _checked(batches, n))


def _checked(batches: Iterable[Any], n: int | None) -> Iterator[tuple[Any, float]]:
    """Batches whose parts fit together: Arrow itself believes what a file says."""
    for number, batch in enumerate(batches, start=1):
        batch.validate(full=True)
        yield batch, 0.0 if n is None else number / n
