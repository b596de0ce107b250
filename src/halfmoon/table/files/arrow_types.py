"""Columns of any type of Arrow, as types that rows can be taken and learned from.

=============================================  =====================================
type                                           becomes
=============================================  =====================================
views of strings                               strings
run-end encoded; extensions                    what they encode; their storage
dictionaries with null among their values      the same, null in their indices
dates and timestamps outside years 1 to 9999   null, as Python has none of them
durations                                      numbers, in seconds
lists, structs, maps, unions, bytes,           no values, and a type that only names
calendar intervals                             what they were: they are left out
=============================================  =====================================

The rows of a file stay as they are, and are written so; this is for those who learn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from halfmoon.table.errors import LabelError

__all__ = [
    "decoded_array",
    "encoded_as",
    "far_dates",
    "null_where",
    "plain_array",
    "plain_rows",
    "refuse_target_type",
    "type_text",
    "without_null_values",
]

DAY = 86_400
FIRST, LAST = -719_162, 2_932_896  # days from 1970 of 0001-01-01 and 9999-12-31
TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def plain_rows(rows: Any) -> Any:
    """A batch of rows whose columns can be learned from.

    Parameters
    ----------
    rows : pyarrow.RecordBatch

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
    """A column as above; the same array where nothing is to be done."""
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        array = plain_array(array.storage)
        is_placeholder = _is_placeholder(array.type)
        return _placeholder(len(array), str(kind)) if is_placeholder else array
    if pt.is_run_end_encoded(kind):
        return plain_array(pc.run_end_decode(array))
    if pt.is_dictionary(kind):
        if _is_odd(kind.value_type):
            return plain_array(array.dictionary_decode())
        return without_null_values(array)
    if pt.is_string_view(kind):
        return array.cast(pa.large_string())
    if pt.is_duration(kind):
        ticks = array.cast(pa.int64()).cast(pa.float64(), safe=False)
        return pc.divide(ticks, float(TICKS[kind.unit]))
    if pt.is_date(kind) or pt.is_timestamp(kind):
        far = _far(array)
        return array if far is None else pc.if_else(far, None, array)
    if _cannot_be_learned(kind) and not _is_placeholder(kind):
        return _placeholder(len(array), str(kind))
    return array


def decoded_array(array: Any) -> Any:
    """A column as above, but with its values where it cannot be learned from."""
    plain = plain_array(array)
    return array if _is_placeholder(plain.type) else plain


def null_where(array: Any, mask: Any) -> Any:
    """A column with null where a mask is true, or null."""
    kind = array.type
    if pt.is_string(kind) or pt.is_large_string(kind):
        # Not if_else, which pyarrow 18 gets wrong for slices of text.
        return pc.replace_with_mask(array, mask, pa.scalar(None, kind))
    return pc.if_else(mask, pa.scalar(None, kind), array)


def without_null_values(array: Any) -> Any:
    """A dictionary array with null in its indices rather than in its dictionary."""
    if not array.dictionary.null_count:
        return array
    kind = array.type
    encoded = array.dictionary_decode().dictionary_encode()
    return pa.DictionaryArray.from_arrays(
        encoded.indices.cast(kind.index_type), encoded.dictionary, ordered=kind.ordered
    )


def encoded_as(array: Any, kind: Any) -> Any:
    """What `plain_array` gave of a type, in this type again."""
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(
            kind, encoded_as(array, kind.storage_type)
        )
    if pt.is_run_end_encoded(kind):
        values = encoded_as(array, kind.value_type)
        return pc.run_end_encode(values, run_end_type=kind.run_end_type)
    if pt.is_string_view(kind):  # pyarrow 18 cannot write what a cast makes
        return pa.array(array.to_pylist(), kind)
    return array if array.type == kind else array.cast(kind)


def far_dates(rows: Any) -> dict[str, int]:
    """Of each column with dates outside the years 1 to 9999, how many."""
    counts = {}
    for name, column in zip(rows.schema.names, rows.columns, strict=True):
        if pt.is_date(column.type) or pt.is_timestamp(column.type):
            far = _far(column)
            if far is not None:
                counts[name] = int(pc.sum(far).as_py())
    return counts


def type_text(kind: Any) -> str:
    """Name of a type, also of one of which `plain_array` only kept the name."""
    return kind.field(0).name if _is_placeholder(kind) else str(kind)


def refuse_target_type(name: str, kind: Any) -> None:
    """Refuse a target whose cells are no labels, before anything is learned.

    Parameters
    ----------
    name : str
    kind : pyarrow.DataType
    """
    plain = plain_array(pa.nulls(0, kind)).type
    if pt.is_dictionary(plain):
        plain = plain.value_type
    if _is_placeholder(plain) or pt.is_duration(kind):
        raise LabelError(
            f"Cells of {name!r} are of type {kind}, which cannot be filled in. Give "
            f"the labels as text or as numbers."
        )


def _is_odd(kind: Any) -> bool:
    """Whether `plain_array` changes the type."""
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
    """Where dates are outside the years of Python; None if nowhere."""
    kind = array.type
    day = 1 if pt.is_date32(kind) else DAY * TICKS[getattr(kind, "unit", "ms")]
    whole = pa.int32() if pt.is_date32(kind) else pa.int64()
    ticks = array.cast(whole)
    ends = pc.min_max(ticks).as_py()
    first, last = FIRST * day, (LAST + 1) * day - 1
    if ends["min"] is None or (first <= ends["min"] and ends["max"] <= last):
        return None
    limits = np.iinfo(whole.to_pandas_dtype())
    first, last = max(first, int(limits.min)), min(last, int(limits.max))
    return pc.or_(
        pc.less(ticks, pa.scalar(first, whole)),
        pc.greater(ticks, pa.scalar(last, whole)),
    )
