"""Convert columns of any Arrow type: to types that can be learned from, and to text.

=============================================  =====================================
type                                           becomes
=============================================  =====================================
views of strings                               strings
run-end encoded; extensions                    what they encode; their storage
dictionaries with null among their values      the same, null in their indices
dates and timestamps outside years 1 to 9999   null, as Python has no such dates
timestamps in a time zone that is not known    the same in UTC
durations                                      numbers, in seconds
lists and structs of such types                text, as JSON
maps, unions, bytes, calendar intervals, and   placeholders without values, whose
lists and structs of them                      type holds the name of the old type
=============================================  =====================================

Only learning uses the converted columns. Rows are written in their original types, or
as text: dates in ISO 8601, numbers in full, null as empty.
"""

from __future__ import annotations

import base64
import datetime as dt
import json
import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from halfmoon.table._files.far_dates import TICKS_PER_SECOND, far_texts, where_far
from halfmoon.table._table_errors import LabelError

__all__ = [
    "Values",
    "array_of",
    "as_list",
    "cell_number",
    "column_text",
    "decoded_array",
    "encoded_as",
    "encoded_with",
    "is_text",
    "null_where",
    "plain_array",
    "plain_rows",
    "refuse_target_type",
    "type_text",
    "typed_label",
    "value_text",
    "without_null_values",
]

#: New cells by column: a list of values, or an Arrow array.
Values = Mapping[str, Sequence[object]]

#: A number that a spreadsheet shows unchanged: no leading zeros, as codes have.
NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?", re.ASCII)
MAX_DIGITS = 15  # that a cell keeps
TRUTH = {"true": True, "false": False}
BYTES = (pt.is_binary, pt.is_large_binary, pt.is_binary_view, pt.is_fixed_size_binary)
#: What Arrow raises for a value that Python does not have.
NOT_IN_PYTHON = (ValueError, OverflowError, KeyError, NotImplementedError)


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
        if plain_array(pa.nulls(0, kind.value_type)).type != kind.value_type:
            return plain_array(array.dictionary_decode())
        return without_null_values(array)
    if pt.is_string_view(kind):
        return array.cast(pa.large_string())
    if pt.is_duration(kind):
        ticks = array.cast(pa.int64()).cast(pa.float64(), safe=False)
        return pc.divide(ticks, float(TICKS_PER_SECOND[kind.unit]))
    if pt.is_date(kind) or pt.is_timestamp(kind):
        if not _is_known_zone(getattr(kind, "tz", None)):
            array = array.cast(pa.timestamp(kind.unit, "UTC"))
        far = where_far(array)
        return array if far is None else pc.if_else(far, None, array)
    if _is_placeholder(kind):
        return array
    if not _has_text(kind):
        return _placeholder(len(array), str(kind))
    if not pt.is_nested(kind):
        return array
    return pa.array([text or None for text in column_text(array)], pa.large_string())


def decoded_array(array: Any) -> Any:
    """Convert a column as above, but keep it if it would become a placeholder."""
    plain = plain_array(array)
    return array if _is_placeholder(plain.type) else plain


def null_where(array: Any, mask: Any) -> Any:
    """Return a column with null where a mask is true or null."""
    return pc.if_else(mask, pa.scalar(None, array.type), array)


def is_text(kind: Any) -> bool:
    """Return whether a type is one of the types of text."""
    return bool(
        pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind)
    )


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
    if pt.is_string_view(kind):  # pyarrow 24 crashes if it writes a cast
        return pa.array(array.to_pylist(), kind)
    return array if array.type == kind else array.cast(kind)


def encoded_with(plain: Any, known: Any, kind: Any) -> Any:
    """Encode values with a dictionary, to which new values are added."""
    unseen = pc.unique(plain.filter(pc.invert(pc.is_in(plain, known)))).drop_null()
    dictionary = pa.concat_arrays([known, unseen]) if len(unseen) else known
    indices = pc.index_in(plain, dictionary).cast(kind.index_type)
    return pa.DictionaryArray.from_arrays(indices, dictionary, ordered=kind.ordered)


def array_of(values: Sequence[object], kind: Any) -> Any:
    """Return values, which may be text or None, as an array of a type."""
    if pt.is_time(kind):
        return pa.array([v and dt.time.fromisoformat(str(v)) for v in values], kind)
    if is_text(kind) or any(isinstance(v, str) for v in values):
        values = [
            v if v is None or isinstance(v, str) else value_text(v) for v in values
        ]
    # pa.array(values, kind) would cut off decimals without an error.
    return pa.array(values).cast(kind)


def type_text(kind: Any) -> str:
    """Return the name of a type; for a placeholder, that of the original type."""
    return kind.field(0).name if _is_placeholder(kind) else str(kind)


def refuse_target_type(name: str, kind: Any) -> None:
    """Refuse a target column whose cells cannot be labels."""
    plain = plain_array(pa.nulls(0, kind)).type
    if pt.is_dictionary(plain):
        plain = plain.value_type
    nested = pt.is_nested(kind) and not pt.is_run_end_encoded(kind)
    if _is_placeholder(plain) or nested or pt.is_duration(kind):
        raise LabelError(
            f"The column {name!r} has the type {kind}, which cannot be filled. Give "
            f"the labels as classes in text, or as numbers, such as seconds."
        )


@cache
def _is_known_zone(name: str | None) -> bool:
    """Return whether Python knows a time zone; None is that of local times."""
    try:
        pa.scalar(0, pa.timestamp("s", name)).as_py()
    except NOT_IN_PYTHON:
        return False
    return True


def _is_bytes(kind: Any) -> bool:
    return any(is_kind(kind) for is_kind in BYTES)


def _has_text(kind: Any) -> bool:
    """Whether values are plain, or lists and structs of plain values."""
    if pt.is_struct(kind):
        return all(_has_text(kind.field(i).type) for i in range(kind.num_fields))
    if pt.is_nested(kind) and not (pt.is_map(kind) or pt.is_union(kind)):
        return _has_text(kind.value_type)
    other = pt.is_nested(kind) or pt.is_interval(kind) or _is_bytes(kind)
    return not (other or isinstance(kind, pa.BaseExtensionType))


def _placeholder(n: int, name: str) -> Any:
    return pa.nulls(n, pa.struct([pa.field(name, pa.null())]))


def _is_placeholder(kind: Any) -> bool:
    return bool(
        pt.is_struct(kind) and kind.num_fields == 1 and pt.is_null(kind.field(0).type)
    )


def as_list(values: Any) -> list[Any]:
    """Return the values of a column as a list of Python values."""
    if isinstance(values, list):
        return values
    return values.to_pylist() if isinstance(values, pa.Array) else list(values)


def column_text(array: Any) -> list[str]:
    """Return the cells of a column as text, without quotes.

    Examples
    --------
    >>> column_text(pa.array([1.5, None, 2.0]))
    ['1.5', '', '2.0']
    >>> column_text(pa.array([{"a": [1, 2]}]))
    ['{"a": [1, 2]}']
    """
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        if kind.extension_name == "arrow.uuid":
            return ["" if v is None else str(v) for v in array.to_pylist()]
        return column_text(array.storage)
    if pt.is_run_end_encoded(kind):
        return column_text(pc.run_end_decode(array))
    if pt.is_dictionary(kind):
        return column_text(array.dictionary_decode())
    if pt.is_float64(kind):
        return ["" if value is None else repr(value) for value in array.to_pylist()]
    if pt.is_temporal(kind) and not pt.is_interval(kind):
        return _times(array)
    if pt.is_nested(kind):
        try:
            values = array.to_pylist()
        except NOT_IN_PYTHON:
            return [_nested_text(value) if value.is_valid else "" for value in array]
        return ["" if value is None else _json(value) for value in values]
    if _is_bytes(kind):
        return ["" if v is None else _plain(v) for v in array.to_pylist()]
    if pt.is_boolean(kind) or pt.is_float32(kind) or pt.is_float16(kind):
        # Arrow writes the fewest digits that identify a number of this type.
        array = array.cast(pa.string())
    return ["" if value is None else str(value) for value in array.to_pylist()]


def _nested_text(value: Any) -> str:
    """Return an Arrow scalar as JSON, also one that has no value in Python.

    Examples of the latter are dates after the year 9999, and structs in which two
    fields have one name.
    """
    kind = value.type
    if not value.is_valid:
        return "null"
    if isinstance(kind, pa.BaseExtensionType) or (
        pt.is_union(kind) or pt.is_dictionary(kind) or pt.is_run_end_encoded(kind)
    ):
        return _nested_text(value.value)
    if pt.is_struct(kind):
        texts = [
            f"{_json(kind.field(i).name)}: {_nested_text(value[i])}"
            for i in range(kind.num_fields)
        ]
        return "{" + ", ".join(texts) + "}"
    if pt.is_map(kind):
        pairs = [f"[{_nested_text(x[0])}, {_nested_text(x[1])}]" for x in value.values]
        return "[" + ", ".join(pairs) + "]"
    if pt.is_nested(kind):
        return "[" + ", ".join(map(_nested_text, value.values)) + "]"
    try:
        return _json(value.as_py())
    except NOT_IN_PYTHON:
        return _json(column_text(pa.repeat(value, 1))[0])


def _json(value: object) -> str:
    return json.dumps(value, default=_plain, ensure_ascii=False)


def _times(array: Any) -> list[str]:
    if pt.is_duration(array.type):
        # Programs share no text form of durations; the number is exact.
        return column_text(array.cast(pa.int64()))
    if pt.is_timestamp(array.type) and array.type.tz is not None:
        # A cell cannot hold the name of a time zone, so write universal time.
        array = array.cast(pa.timestamp(array.type.unit, "UTC"))
    texts = array.cast(pa.string()).to_pylist()
    if any(text is not None and text.startswith("<") for text in texts):
        texts = far_texts(array, texts)
    return ["" if text is None else text.replace(" ", "T", 1) for text in texts]


def _plain(value: object) -> str:
    """Return text for values that JSON lacks: bytes, dates, decimals."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return base64.b64encode(value).decode()
    return str(value)


def value_text(value: object) -> str:
    """Return a value that is not text as text: numbers in full, true or false.

    Examples
    --------
    >>> [value_text(value) for value in (0.1, 3, True, None, float("nan"))]
    ['0.1', '3', 'true', '', '']
    """
    if hasattr(value, "item"):  # a NumPy scalar
        value = value.item()
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, (int, float)) else str(value)


def cell_number(text: str) -> float | int | None:
    """Return the number in a text cell; None for text such as ``007``.

    Examples
    --------
    >>> cell_number("3.50"), cell_number("12"), cell_number("007"), cell_number("x")
    (3.5, 12, None, None)
    """
    if not NUMBER.fullmatch(text):
        return None
    digits = re.split("[eE]", text)[0].lstrip("-").replace(".", "").lstrip("0")
    if len(digits) > MAX_DIGITS:
        return None
    value = float(text)
    if not math.isfinite(value):
        return None
    return int(text) if text.lstrip("-").isdecimal() else value


def typed_label(label: str, kind: Any) -> str | float | int | bool:
    """Return a label in the type of its column, if that has truth values or numbers."""
    if pt.is_boolean(kind) and label.lower() in TRUTH:
        return TRUTH[label.lower()]
    is_number = pt.is_integer(kind) or pt.is_floating(kind) or pt.is_decimal(kind)
    number = cell_number(label) if is_number else None
    return label if number is None else number
