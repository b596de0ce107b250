"""Tables with typed columns: Parquet, and Feather, which is Arrow's own file format.

An Arrow stream, such as a reader of batches or a relation of DuckDB, can be read only
once. It is copied to a temporary file first, batch by batch.

Columns keep their types when they are written, and the file keeps its metadata. A
replaced cell takes the type of its column, unless `types` names another one: a
predicted number may go into a column of text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyarrow.types as pt

from halfmoon._notes import Note
from halfmoon._number_format import count
from halfmoon.table._files.arrow_types import (
    Values,
    array_of,
    encoded_as,
    encoded_with,
    is_text,
    null_where,
    plain_array,
    without_null_values,
)
from halfmoon.table._files.byte_source import Sink, Source
from halfmoon.table._files.far_dates import far_dates
from halfmoon.table._files.formats import Format
from halfmoon.table._files.table_interface import (
    Batch,
    Table,
    TableOutput,
    refuse_duplicate_names,
)
from halfmoon.table._table_errors import OutputError, ReadError

__all__ = ["ColumnarTable", "ColumnarWriter", "spooled_stream"]

READ_BYTES = 2**20  # of a column at once
GROUP_ROWS = 2**16  # of a row group, or of a batch in the file
GROUP_BYTES = 2**24
STREAM_START = b"\xff\xff\xff\xff"  # Arrow's format without an index at the end

Opened = tuple[Any, Iterator[tuple[Any, float]]]  # schema; batches, share of the file


class ColumnarTable(Table):
    """A table whose columns have types, which are kept."""

    def __init__(self, source: Source, found: Format, batch_rows: int) -> None:
        super().__init__(source, found, batch_rows)
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
                f"it again, or say what it is: `format='csv'`."
            ) from error


def spooled_stream(given: Any) -> Source:
    """Copy an object with ``__arrow_c_stream__`` to a temporary file."""
    reader = pa.RecordBatchReader.from_stream(given)

    def write(file: IO[bytes]) -> None:
        with pa.ipc.new_stream(Sink(file), reader.schema) as writer:
            for batch in reader:
                writer.write_batch(batch)

    return Source(write)


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


class ColumnarWriter(TableOutput):
    """Writes Parquet or Feather."""

    takes_arrays = True

    def __init__(self, *output: Any) -> None:
        super().__init__(*output)
        self._is_parquet = self.format.name == "parquet"
        self._schema: Any = None
        self._writer: Any = None
        self._waiting: list[Any] = []
        self._dictionaries: dict[str, Any] = {}
        if self._is_parquet:
            for field in self._like.schema:
                self._refuse_unwritable(field)

    def _write(self, batch: Batch, replace: Values, append: Values) -> None:
        if self._schema is None:
            self._begin(append, rows_read=len(batch) > 0)
        self._waiting.append(self.rows_of(batch, replace, append))
        if (
            sum(rows.num_rows for rows in self._waiting) >= GROUP_ROWS
            or sum(rows.nbytes for rows in self._waiting) >= GROUP_BYTES
        ):
            self._flush()

    def rows_of(self, batch: Batch, replace: Values, append: Values) -> Any:
        """Return the rows of a batch in the schema of the output."""
        if self._schema is None:
            self._schema = self._output_schema(append)
        arrays = []
        for field in self._schema:
            if field.name in append:
                array = self._array(append[field.name], field, field.type)
            else:
                values = replace.get(field.name)
                array = self._converted(batch.rows.column(field.name), field, values)
                if values is not None:
                    array = self._replaced(array, values, field)
            if pt.is_dictionary(field.type) and not self._is_parquet:
                array = self._with_shared_dictionary(array, field)
            arrays.append(array)
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)

    def finish(self) -> None:
        if self._schema is None:
            self._begin({}, rows_read=False)
        self._flush()
        self._writer.close()

    def abandon(self) -> None:
        if self._writer is not None:
            self._writer.close()

    def _output_schema(self, append: Values) -> Any:
        schema = self._like.schema
        for column, kind in self._types.items():
            place = schema.get_field_index(column)
            if place >= 0:
                schema = schema.set(place, schema.field(place).with_type(kind))
        for column, values in append.items():
            kind = self._types.get(column) or _type_of(values)
            schema = schema.append(pa.field(column, kind))
        return schema

    def _begin(self, append: Values, rows_read: bool) -> None:
        self._schema = self._output_schema(append)
        if self._is_parquet:
            codec = None
            if isinstance(self._like, ColumnarTable) and rows_read:
                codec = self._like.codec()
            self._writer = pq.ParquetWriter(
                self._stream, self._schema, compression=codec or "snappy"
            )
        else:
            options = pa.ipc.IpcWriteOptions(
                compression="lz4", emit_dictionary_deltas=True
            )
            self._writer = pa.ipc.new_file(self._stream, self._schema, options=options)

    def _flush(self) -> None:
        if not self._waiting:
            return
        rows = pa.Table.from_batches(self._waiting, self._schema)
        self._waiting = []
        try:
            if self._is_parquet:
                self._writer.write_table(rows, row_group_size=GROUP_ROWS)
            else:
                rows = rows.combine_chunks()
                self._writer.write_table(rows, max_chunksize=GROUP_ROWS)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise OutputError(
                f"{self._name} cannot be written: {error}. Write CSV instead."
            ) from error

    def _converted(
        self, array: Any, field: Any, replaced: Sequence[object] | None
    ) -> Any:
        """Return a column of the input in the type of the output."""
        if pt.is_dictionary(array.type):
            array = without_null_values(array)
        if array.type == field.type:
            return array
        array = plain_array(array)
        try:
            if replaced is not None:  # a replaced cell need not fit, e.g. NA
                array = null_where(array, _has_value(replaced))
            if is_text(array.type):
                array = pc.utf8_trim_whitespace(array)
                array = null_where(array, pc.equal(array, ""))
            return array.cast(field.type)
        except pa.ArrowException as error:
            raise self._unfit(field, error) from error

    def _array(self, values: Sequence[object], field: Any, kind: Any) -> Any:
        """Return values as a column; None and NaN are null."""
        kind = kind.value_type if pt.is_dictionary(kind) else kind
        if isinstance(values, pa.Array):
            if values.type == kind and not pt.is_dictionary(field.type):
                return null_where(values, pc.invert(_has_value(values)))
            values = values.to_pylist()
        known = [None if v is None or v != v else v for v in values]
        try:
            array = array_of(known, kind)
        except (pa.ArrowException, UnicodeEncodeError, OverflowError) as error:
            raise self._unfit(field, error) from error
        return array.dictionary_encode() if pt.is_dictionary(field.type) else array

    def _replaced(self, array: Any, values: Sequence[object], field: Any) -> Any:
        """Return a column with new values; None leaves a cell, "" empties it."""
        is_dictionary = pt.is_dictionary(field.type)
        old = array if is_dictionary else plain_array(array)
        emptied = pa.array(np.zeros(len(values), dtype=bool))
        if not isinstance(values, pa.Array):  # an array empties no cells
            emptied = pa.array([isinstance(v, str) and not v for v in values])
            values = [v if v != "" else None for v in values]
        new = self._array(values, field, old.type)
        if is_dictionary:
            filled = pc.coalesce(_decoded(new), _decoded(array))
        else:
            filled = pc.if_else(new.is_valid(), new, old)
        filled = pc.if_else(emptied, pa.scalar(None, filled.type), filled)
        if is_dictionary:
            return self._encoded(filled, array.dictionary, field)
        return encoded_as(filled, field.type)

    def _with_shared_dictionary(self, array: Any, field: Any) -> Any:
        """Encode with one dictionary for all batches, which only grows."""
        known = self._dictionaries.setdefault(field.name, array.dictionary)
        if not array.dictionary.equals(known):
            array = self._encoded(_decoded(array), known, field)
            self._dictionaries[field.name] = array.dictionary
        return array

    def _encoded(self, plain: Any, known: Any, field: Any) -> Any:
        """Encode values with a dictionary, to which new values are added."""
        try:
            return encoded_with(plain, known, field.type)
        except pa.ArrowException as error:
            raise self._unfit(field, error) from error

    def _refuse_unwritable(self, field: Any) -> None:
        """Refuse a column of a type that Parquet does not have."""
        try:
            pq.ParquetWriter(pa.BufferOutputStream(), pa.schema([field])).close()
        except (pa.ArrowException, OSError) as error:
            raise OutputError(
                f"{self._name} cannot be written: Parquet has no type for the column "
                f"{field.name!r} of {field.type}. Write Feather or CSV instead."
            ) from error

    def _unfit(self, field: Any, error: Exception) -> OutputError:
        return OutputError(
            f"{self._name} cannot be written: a value does not fit into the column "
            f"{field.name!r} of {field.type} ({error}). Write CSV instead."
        )


def _has_value(values: Sequence[object]) -> Any:
    """Return where values are neither None nor NaN."""
    if not isinstance(values, pa.Array):
        return pa.array([v is not None and v == v for v in values], pa.bool_())
    return pc.invert(pc.is_null(values, nan_is_null=True))


def _decoded(array: Any) -> Any:
    return array.dictionary_decode() if pt.is_dictionary(array.type) else array


def _type_of(values: Sequence[object]) -> Any:
    """Return the type of a new column by its first batch: numbers if it has any."""
    if isinstance(values, pa.Array):
        return values.type
    has_numbers = any(v is not None and not isinstance(v, str) for v in values)
    return pa.float64() if has_numbers else pa.string()
