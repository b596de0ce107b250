"""Convert columns of any Arrow type to types that can be learned from.

=============================================  =====================================
type                                           becomes
=============================================  =====================================
views of strings                               strings
run-end encoded; extensions                    what they encode; their storage
dictionaries with null among their values      the same, null in their indices
dates and timestamps outside years 1 to 9999   null, as Python has no such dates
durations                                      numbers, in seconds
lists, structs, maps, unions, bytes,           placeholders without values, whose
calendar intervals                             type holds the name of the old type
=============================================  =====================================

Only learning uses the converted columns. Rows are written in their original types.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from halfmoon.table._table_errors import LabelError

__all__ = [
    "decoded_array",
    "encoded_as",
    "far_dates",
    "is_text",
    "null_where",
    "plain_array",
    "plain_rows",
    "refuse_target_type",
    "type_text",
    "without_null_values",
]

DAY_SECONDS = 86_400
FIRST_DAY, LAST_DAY = -719_162, 2_932_896  # 0001-01-01 and 9999-12-31, from 1970
TICKS_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def plain_rows(rows: Any) -> Any:
    """Convert all columns of a record batch to types that can be learned from.

    Examples
    --------
    >>> rows = pa.RecordBatch.from_pydict({"a": pa.array(["x"], pa.string_view())})
    >>> plain_rows(rows).schema.field("a").type
    DataType(large_string)
    """
    if all(pt.is_string(kind) or pt.is_float64(kind) for kind in rows.schema.types):
        return rows
    given = rows.columns
    columns = [plain_array(column) for column in given]
    if all(new is old for new, old in zip(columns, given, strict=True)):
        return rows
    return pa.RecordBatch.from_arrays(columns, rows.schema.names)


def plain_array(array: Any) -> Any:
    """Convert a column as above; return the same array if nothing changes."""
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        array = plain_array(array.storage)
        is_placeholder = _is_placeholder(array.type)
        return _placeholder(len(array), str(kind)) if is_placeholder else array
    if pt.is_run_end_encoded(kind):
        return plain_array(pc.run_end_decode(array))
    if pt.is_dictionary(kind):
        if _is_converted(kind.value_type):
            return plain_array(array.dictionary_decode())
        return without_null_values(array)
    if pt.is_string_view(kind):
        return array.cast(pa.large_string())
    if pt.is_duration(kind):
        ticks = array.cast(pa.int64()).cast(pa.float64(), safe=False)
        return pc.divide(ticks, float(TICKS_PER_SECOND[kind.unit]))
    if pt.is_date(kind) or pt.is_timestamp(kind):
        far = _far(array)
        return array if far is None else pc.if_else(far, None, array)
    if _cannot_be_learned(kind) and not _is_placeholder(kind):
        return _placeholder(len(array), str(kind))
    return array


def decoded_array(array: Any) -> Any:
    """Convert a column as above, but keep it if it would become a placeholder."""
    plain = plain_array(array)
    return array if _is_placeholder(plain.type) else plain


def null_where(array: Any, mask: Any) -> Any:
    """Return a column with null where a mask is true or null."""
    kind = array.type
    if is_text(kind):
        # pyarrow 18 has a bug in if_else for slices of text.
        return pc.replace_with_mask(array, mask, pa.scalar(None, kind))
    return pc.if_else(mask, pa.scalar(None, kind), array)


def is_text(kind: Any) -> bool:
    """Return whether a type holds text."""
    return bool(pt.is_string(kind) or pt.is_large_string(kind))


def without_null_values(array: Any) -> Any:
    """Move nulls of a dictionary array from its dictionary to its indices."""
    if not array.dictionary.null_count:
        return array
    kind = array.type
    encoded = array.dictionary_decode().dictionary_encode()
    return pa.DictionaryArray.from_arrays(
        encoded.indices.cast(kind.index_type), encoded.dictionary, ordered=kind.ordered
    )


def encoded_as(array: Any, kind: Any) -> Any:
    """Convert the result of `plain_array` back to the original type."""
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(
            kind, encoded_as(array, kind.storage_type)
        )
    if pt.is_run_end_encoded(kind):
        values = encoded_as(array, kind.value_type)
        return pc.run_end_encode(values, run_end_type=kind.run_end_type)
    if pt.is_string_view(kind):  # pyarrow 18 cannot write the result of a cast
        return pa.array(array.to_pylist(), kind)
    return array if array.type == kind else array.cast(kind)


def far_dates(rows: Any) -> dict[str, int]:
    """Count the dates outside the years 1 to 9999 in each column that has any."""
    counts = {}
    for name, column in zip(rows.schema.names, rows.columns, strict=True):
        if pt.is_date(column.type) or pt.is_timestamp(column.type):
            far = _far(column)
            if far is not None:
                counts[name] = int(pc.sum(far).as_py())
    return counts


def type_text(kind: Any) -> str:
    """Return the name of a type; for a placeholder, that of the original type."""
    return kind.field(0).name if _is_placeholder(kind) else str(kind)


def refuse_target_type(name: str, kind: Any) -> None:
    """Refuse a target column whose cells cannot be labels."""
    plain = plain_array(pa.nulls(0, kind)).type
    if pt.is_dictionary(plain):
        plain = plain.value_type
    if _is_placeholder(plain) or pt.is_duration(kind):
        raise LabelError(
            f"The column {name!r} has the type {kind}, which cannot be filled. Give "
            f"the labels as text or as numbers."
        )


def _is_converted(kind: Any) -> bool:
    """Return whether `plain_array` changes the type."""
    return bool(plain_array(pa.nulls(0, kind)).type != kind)


def _cannot_be_learned(kind: Any) -> bool:
    return bool(
        pt.is_nested(kind)
        or pt.is_interval(kind)
        or pt.is_binary(kind)
        or pt.is_large_binary(kind)
        or pt.is_binary_view(kind)
        or pt.is_fixed_size_binary(kind)
    )


def _placeholder(n: int, name: str) -> Any:
    return pa.nulls(n, pa.struct([pa.field(name, pa.null())]))


def _is_placeholder(kind: Any) -> bool:
    return bool(
        pt.is_struct(kind) and kind.num_fields == 1 and pt.is_null(kind.field(0).type)
    )


def _far(array: Any) -> Any:
    """Return where dates are outside the years 1 to 9999; None if nowhere."""
    kind = array.type
    day = (
        1
        if pt.is_date32(kind)
        else DAY_SECONDS * TICKS_PER_SECOND[getattr(kind, "unit", "ms")]
    )
    integer = pa.int32() if pt.is_date32(kind) else pa.int64()
    ticks = array.cast(integer)
    extremes = pc.min_max(ticks).as_py()
    first, last = FIRST_DAY * day, (LAST_DAY + 1) * day - 1
    if extremes["min"] is None or (
        first <= extremes["min"] and extremes["max"] <= last
    ):
        return None
    limits = np.iinfo(integer.to_pandas_dtype())
    first, last = max(first, int(limits.min)), min(last, int(limits.max))
    return pc.or_(
        pc.less(ticks, pa.scalar(first, integer)),
        pc.greater(ticks, pa.scalar(last, integer)),
    )
