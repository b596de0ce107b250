"""Convert typed columns to text: dates in ISO 8601, numbers in full, null as empty."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

__all__ = ["Values", "as_list", "as_lists", "column_text"]

#: New cells by column: a list of values, or an Arrow array.
Values = Mapping[str, Sequence[object]]

BYTES = (
    pt.is_binary,
    pt.is_large_binary,
    pt.is_binary_view,
    pt.is_fixed_size_binary,
)


def as_list(values: Any) -> list[Any]:
    """Return the values of a column as a list of Python values."""
    if isinstance(values, list):
        return values
    return values.to_pylist() if isinstance(values, pa.Array) else list(values)


def as_lists(columns: Values) -> dict[str, list[Any]]:
    """Return the values of several columns as lists."""
    return {name: as_list(values) for name, values in columns.items()}


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
        return [
            ""
            if value is None
            else json.dumps(value, default=_plain, ensure_ascii=False)
            for value in array.to_pylist()
        ]
    if any(is_kind(kind) for is_kind in BYTES):
        return ["" if v is None else _plain(v) for v in array.to_pylist()]
    if pt.is_boolean(kind) or pt.is_float32(kind) or pt.is_float16(kind):
        # Arrow writes the fewest digits that identify a number of this type.
        array = array.cast(pa.string())
    return ["" if value is None else str(value) for value in array.to_pylist()]


def _times(array: Any) -> list[str]:
    if pt.is_duration(array.type):
        # Programs share no text form of durations; the number is exact.
        return column_text(array.cast(pa.int64()))
    if pt.is_timestamp(array.type) and array.type.tz is not None:
        # A cell cannot hold the name of a time zone, so write universal time.
        array = array.cast(pa.timestamp(array.type.unit, "UTC"))
    texts = array.cast(pa.string()).to_pylist()
    if any(text is not None and text.startswith("<") for text in texts):
        texts = _far_times(array, texts)
    return ["" if text is None else text.replace(" ", "T", 1) for text in texts]


def _far_times(array: Any, texts: list[str | None]) -> list[str | None]:
    """Return dates as text, including dates outside the range that Arrow writes."""
    kind = array.type
    unit: Any = "D" if pt.is_date32(kind) else getattr(kind, "unit", "ms")
    ticks = array.cast(pa.int32() if pt.is_date32(kind) else pa.int64()).to_pylist()
    return [
        str(np.datetime64(tick, unit)) if text and text.startswith("<") else text
        for tick, text in zip(ticks, texts, strict=True)
    ]


def _plain(value: object) -> str:
    """Return text for values that JSON lacks: bytes, dates, decimals."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return base64.b64encode(value).decode()
    return str(value)
