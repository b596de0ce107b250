"""Streams of Arrow as tables: readers of batches, relations of DuckDB, and the like.

A stream is read once and a table twice, so that what comes in goes to a temporary file,
batch by batch, which the system removes whatever happens to the process.
"""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa

from halfmoon.table.files.columnar import ColumnarTable
from halfmoon.table.files.format import Format
from halfmoon.table.files.source import Source

__all__ = ["is_arrow_stream", "stream_table"]


def is_arrow_stream(given: Any) -> bool:
    """Whether something hands out batches of Arrow.

    Examples
    --------
    >>> is_arrow_stream(pa.table({"a": [1]})), is_arrow_stream("flowers.csv")
    (True, False)
    """
    return hasattr(given, "__arrow_c_stream__")


def stream_table(given: Any, batch_rows: int) -> ColumnarTable:
    """A stream of Arrow as a table; the stream is read to its end.

    Parameters
    ----------
    given : object with ``__arrow_c_stream__``
    batch_rows : int
    """
    reader = pa.RecordBatchReader.from_stream(given)
    source = Source(_Bytes(reader), "the stream")  # type: ignore[arg-type]
    try:
        return ColumnarTable(source, Format("feather"), batch_rows)
    except BaseException:
        source.close()
        raise


class _Bytes(io.RawIOBase):
    """Batches in Arrow's own format, made as they are read."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader
        self._sink = io.BytesIO()
        self._writer = pa.ipc.new_stream(self._sink, reader.schema)
        self._closed_writer = False
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left:
            batch = next(self._reader, None)
            if batch is not None:
                self._writer.write_batch(batch)
            elif not self._closed_writer:
                self._writer.close()
                self._closed_writer = True
            else:
                return 0
            self._left = memoryview(self._sink.getvalue())
            self._sink.seek(0)
            self._sink.truncate()
        n = min(len(buffer), len(self._left))
        buffer[:n] = self._left[:n]
        self._left = self._left[n:]
        return n
