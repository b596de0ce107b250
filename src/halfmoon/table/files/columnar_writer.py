"""Write a table with typed columns: Parquet and Feather.

Columns keep their types and the file its metadata. A replaced cell takes the type of
its column; `types` says otherwise where it must be another one, as when a predicted
number goes into a column of text.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyarrow.types as pt

from halfmoon.table.errors import OutputError
from halfmoon.table.files.arrow_types import (
    encoded_as,
    null_where,
    plain_array,
    without_null_values,
)
from halfmoon.table.files.batch import Batch, Table
from halfmoon.table.files.cells import value_text
from halfmoon.table.files.columnar import ColumnarTable
from halfmoon.table.files.format import Format
from halfmoon.table.files.values import Values

__all__ = ["ColumnarWriter"]

GROUP_ROWS = 2**16  # rows of a row group, or of a batch in the file
GROUP_BYTES = 2**24


class ColumnarWriter:
    """Batches of a table, with cells replaced and columns added, with their types.

    Parameters
    ----------
    stream : binary stream
    like : Table
    wanted : Format
    types : dict of str to pyarrow.DataType
    name : str
        What to call the output in an error.
    """

    escaped = 0  # a typed file has no formulas
    takes_arrays = True

    def __init__(
        self,
        stream: IO[bytes],
        like: Table,
        wanted: Format,
        types: Mapping[str, Any],
        name: str,
    ) -> None:
        self._stream = stream
        self._like = like
        self._format = wanted
        self._types = types
        self._name = name
        self._schema: Any = None
        self._writer: Any = None
        self._held: list[Any] = []
        self._dictionaries: dict[str, Any] = {}
        if wanted.name == "parquet":
            for field in like.schema:
                self._refuse_unwritable(field)

    def write(self, batch: Batch, replace: Values, append: Values) -> None:
        """Write the rows of a batch."""
        if self._schema is None:
            self._begin(append, rows_read=len(batch) > 0)
        self._held.append(self.rows_of(batch, replace, append))
        if (
            sum(held.num_rows for held in self._held) >= GROUP_ROWS
            or sum(map(_nbytes, self._held)) >= GROUP_BYTES
        ):
            self._flush()

    def rows_of(self, batch: Batch, replace: Values, append: Values) -> Any:
        """The rows of a batch as they are written, in the schema of the output."""
        if self._schema is None:
            self._schema = self.schema_with(append)
        arrays = []
        for field in self._schema:
            if field.name in append:
                array = self._new(append[field.name], field)
            else:
                array = batch.rows.column(field.name)
                values = replace.get(field.name)
                array = self._kept(array, field, values)
                if values is not None:
                    array = self._replaced(array, values, field)
            if pt.is_dictionary(field.type) and self._format.name == "feather":
                array = self._one_dictionary(array, field)
            arrays.append(array)
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)

    def finish(self) -> None:
        """Write what is held, and the end of the file."""
        if self._schema is None:
            self._begin({}, rows_read=False)
        self._flush()
        self._writer.close()

    def abandon(self) -> None:
        """Let go of the stream: the file will not be."""
        if self._writer is not None:
            with suppress(Exception):  # such as the full disk that led here
                self._writer.close()

    def schema_with(self, append: Values) -> Any:
        """The schema of the output, with new columns."""
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
        self._schema = schema = self.schema_with(append)
        if self._format.name == "parquet":
            codec = None
            if isinstance(self._like, ColumnarTable) and rows_read:
                codec = self._like.codec()
            self._writer = pq.ParquetWriter(
                self._stream, schema, compression=codec or "snappy"
            )
        else:
            options = pa.ipc.IpcWriteOptions(
                compression="lz4", emit_dictionary_deltas=True
            )
            self._writer = pa.ipc.new_file(self._stream, schema, options=options)

    def _flush(self) -> None:
        if not self._held:
            return
        rows = pa.Table.from_batches(self._held, self._schema)
        self._held = []
        try:
            if self._format.name == "parquet":
                self._writer.write_table(rows, row_group_size=GROUP_ROWS)
            else:
                rows = rows.combine_chunks()
                self._writer.write_table(rows, max_chunksize=GROUP_ROWS)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise OutputError(
                f"{self._name} cannot be written: {error}. Write CSV instead."
            ) from error

    def _kept(self, array: Any, field: Any, replaced: Sequence[object] | None) -> Any:
        """A column of the input in its type in the output."""
        if pt.is_dictionary(array.type):
            array = without_null_values(array)
        if array.type == field.type:
            return array
        array = plain_array(array)
        try:
            if replaced is not None:  # what goes need not fit: a blank may read NA
                array = null_where(array, _there(replaced))
            if _is_text(array.type):
                array = pc.utf8_trim_whitespace(array)
                array = null_where(array, pc.equal(array, ""))
            return array.cast(field.type)
        except pa.ArrowException as error:
            raise self._unfit(field, error) from error

    def _new(self, values: Sequence[object], field: Any, kind: Any = None) -> Any:
        """Values as a column; None and not-a-number are null."""
        kind = field.type if kind is None else kind
        kind = kind.value_type if pt.is_dictionary(kind) else kind
        if isinstance(values, pa.Array):
            if values.type == kind and not pt.is_dictionary(field.type):
                return null_where(values, pc.invert(_there(values)))
            values = values.to_pylist()
        given = [None if v is None or v != v else v for v in values]
        try:
            if pt.is_time(kind):
                return pa.array(
                    [v and dt.time.fromisoformat(str(v)) for v in given], kind
                )
            if _is_text(kind) or any(isinstance(v, str) for v in given):
                given = [None if v is None else _as_text(v) for v in given]
            # Not pa.array(given, kind), which cuts decimals off without a word.
            array = pa.array(given).cast(kind)
        except (pa.ArrowException, UnicodeEncodeError, OverflowError) as error:
            raise self._unfit(field, error) from error
        return array.dictionary_encode() if pt.is_dictionary(field.type) else array

    def _replaced(self, array: Any, values: Sequence[object], field: Any) -> Any:
        plain = array if pt.is_dictionary(field.type) else plain_array(array)
        if isinstance(values, pa.Array):  # which have no value that empties a cell
            cleared = pa.array(np.zeros(len(values), dtype=bool))
        else:
            empty = [isinstance(v, str) and not v for v in values]
            cleared = pa.array(empty, pa.bool_())
            values = [v if v != "" else None for v in values]
        new = self._new(values, field, plain.type)
        if pt.is_dictionary(field.type):
            plain = pc.coalesce(_decoded(new), _decoded(array))
            plain = pc.if_else(cleared, pa.scalar(None, plain.type), plain)
            return self._encoded(plain, array.dictionary, field)
        kept = pc.if_else(new.is_valid(), new, plain)
        kept = pc.if_else(cleared, pa.scalar(None, kept.type), kept)
        return encoded_as(kept, field.type)

    def _one_dictionary(self, array: Any, field: Any) -> Any:
        """The same values in a dictionary that only grows, as the format wants it."""
        known = self._dictionaries.setdefault(field.name, array.dictionary)
        if not array.dictionary.equals(known):
            array = self._encoded(_decoded(array), known, field)
            self._dictionaries[field.name] = array.dictionary
        return array

    def _encoded(self, plain: Any, known: Any, field: Any) -> Any:
        """Values as numbers in a dictionary, to which those not in it are added."""
        unseen = pc.unique(plain.filter(pc.invert(pc.is_in(plain, known)))).drop_null()
        dictionary = pa.concat_arrays([known, unseen]) if len(unseen) else known
        try:
            places = pc.index_in(plain, dictionary).cast(field.type.index_type)
        except pa.ArrowException as error:
            raise self._unfit(field, error) from error
        return pa.DictionaryArray.from_arrays(
            places, dictionary, ordered=field.type.ordered
        )

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


def _there(values: Sequence[object]) -> Any:
    """Where there is a value, and not None or not-a-number."""
    if not isinstance(values, pa.Array):
        return pa.array([v is not None and v == v for v in values], pa.bool_())
    if pt.is_floating(values.type):
        return pc.invert(pc.is_null(values, nan_is_null=True))
    return values.is_valid()


def _nbytes(rows: Any) -> int:
    try:
        return int(rows.nbytes)
    except pa.ArrowTypeError:  # pyarrow 18 cannot tell of views
        return int(rows.get_total_buffer_size())


def _decoded(array: Any) -> Any:
    return array.dictionary_decode() if pt.is_dictionary(array.type) else array


def _is_text(kind: Any) -> bool:
    return bool(pt.is_string(kind) or pt.is_large_string(kind))


def _as_text(value: object) -> str:
    return str(value) if isinstance(value, str) else value_text(value)


def _type_of(values: Sequence[object]) -> Any:
    """Type of an appended column by its first batch: numbers if it has any."""
    if isinstance(values, pa.Array):
        return values.type
    numbers = any(v is not None and not isinstance(v, str) for v in values)
    return pa.float64() if numbers else pa.string()
