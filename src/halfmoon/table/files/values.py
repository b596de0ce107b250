"""Values of typed columns as text: dates as ISO 8601, numbers in full, null as none."""

from __future__ import annotations

import base64
import json
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

__all__ = ["column_text"]


def column_text(array: Any) -> list[str]:
    """The cells of a column as text, before any quoting.

    Examples
    --------
    >>> column_text(pa.array([1.5, None, 2.0]))
    ['1.5', '', '2.0']
    >>> column_text(pa.array([{"a": [1, 2]}]))
    ['{"a": [1, 2]}']
    """
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return column_text(array.storage)
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
    if pt.is_binary(kind) or pt.is_large_binary(kind) or pt.is_fixed_size_binary(kind):
        return ["" if v is None else _plain(v) for v in array.to_pylist()]
    if pt.is_boolean(kind) or pt.is_float32(kind) or pt.is_float16(kind):
        # Arrow gives the fewest digits that tell two numbers of the type apart.
        array = array.cast(pa.string())
    return ["" if value is None else str(value) for value in array.to_pylist()]


def _times(array: Any) -> list[str]:
    if pt.is_duration(array.type):
        # No text form is common to programs; the number is exact.
        return column_text(array.cast(pa.int64()))
    if pt.is_timestamp(array.type) and array.type.tz is not None:
        # The same moment in universal time: names of zones are not in a cell.
        array = array.cast(pa.timestamp(array.type.unit, "UTC"))
    texts = array.cast(pa.string()).to_pylist()
    return ["" if text is None else text.replace(" ", "T", 1) for text in texts]


def _plain(value: object) -> str:
    """What JSON has no form for: bytes, dates, decimals."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return base64.b64encode(value).decode()
    return str(value)
