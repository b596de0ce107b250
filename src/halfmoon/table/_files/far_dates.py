"""Dates outside the years 1 to 9999, which Arrow has and Python has not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

__all__ = ["TICKS_PER_SECOND", "far_dates", "far_texts", "where_far"]

DAY_SECONDS = 86_400
FIRST_DAY, LAST_DAY = -719_162, 2_932_896  # 0001-01-01 and 9999-12-31, from 1970
TICKS_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def far_dates(rows: Any) -> dict[str, int]:
    """Count the dates outside the years 1 to 9999 in each column that has any."""
    counts = {}
    for name, column in zip(rows.schema.names, rows.columns, strict=True):
        if pt.is_date(column.type) or pt.is_timestamp(column.type):
            far = where_far(column)
            if far is not None:
                counts[name] = int(pc.sum(far).as_py())
    return counts


def where_far(array: Any) -> Any:
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


def far_texts(array: Any, texts: list[str | None]) -> list[str | None]:
    """Return dates as text, including dates outside the range that Arrow writes."""
    kind = array.type
    unit: Any = "D" if pt.is_date32(kind) else getattr(kind, "unit", "ms")
    ticks = array.cast(pa.int32() if pt.is_date32(kind) else pa.int64()).to_pylist()
    return [
        str(np.datetime64(tick, unit)) if text and text.startswith("<") else text
        for tick, text in zip(ticks, texts, strict=True)
    ]
