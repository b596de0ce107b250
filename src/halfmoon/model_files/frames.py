"""What fitted objects keep of pandas: dtypes, moments of time, indexes and series.

Pandas is imported only where a model, or a file, holds something of it.
"""

from __future__ import annotations

import re
from datetime import timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import numpy as np

from halfmoon.model_files.codec import Codec, need
from halfmoon.model_files.errors import ModelFileError

__all__ = ["FRAMES"]

UNITS = ("s", "ms", "us", "ns")
NULLABLE = re.compile(r"U?Int(?:8|16|32|64)|Float(?:32|64)|boolean")
STORAGES = ("python", "pyarrow")


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ModelFileError(
            "holds objects of pandas, which is not installed; pip install pandas"
        ) from error
    return pandas


def _is(*names: str) -> Any:
    """Whether a value is of a class of pandas, without importing pandas."""

    def fits(value: Any) -> bool:
        cls = type(value)
        own = cls.__module__.partition(".")[0] == "pandas"
        return own and cls.__name__ in names

    return fits


def _zone_parts(zone: Any) -> Any:
    """A time zone as a name or seconds; None if it is of another kind."""
    if isinstance(zone, ZoneInfo) and zone.key:
        return zone.key
    if type(zone) is timezone:
        return int(zone.utcoffset(None).total_seconds())
    return None


def _zone(zone: Any) -> Any:
    if type(zone) is int:
        return timezone(timedelta(seconds=zone))
    need(isinstance(zone, str) and zone in available_timezones(), "no such time zone")
    return ZoneInfo(zone)


def _fits_zoned(value: Any) -> bool:
    return _is("DatetimeTZDtype")(value) and _zone_parts(value.tz) is not None


def _zoned(unit: str, zone: Any) -> Any:
    need(unit in UNITS, "no such unit")
    return _pandas().DatetimeTZDtype(unit, _zone(zone))


def _nullable(name: str) -> Any:
    need(isinstance(name, str) and NULLABLE.fullmatch(name) is not None, "no dtype")
    return _pandas().api.types.pandas_dtype(name)


def _fits_nullable(value: Any) -> bool:
    cls = type(value)
    own = cls.__module__.partition(".")[0] == "pandas"
    name = getattr(value, "name", None) if own else None
    return isinstance(name, str) and NULLABLE.fullmatch(name) is not None


def _string(storage: str, nan: bool) -> Any:
    need(storage in STORAGES and type(nan) is bool, "no such dtype of text")
    pandas = _pandas()
    return pandas.StringDtype(storage, na_value=np.nan if nan else pandas.NA)


def _categorical(categories: Any, ordered: Any) -> Any:
    pandas = _pandas()
    need(categories is None or isinstance(categories, pandas.Index), "no categories")
    need(type(ordered) is bool or ordered is None, "ordered must be a truth value")
    return pandas.CategoricalDtype(categories, ordered)


def _moment(value: int, unit: str, zone: Any) -> Any:
    need(type(value) is int and unit in UNITS, "no moment")
    moment = _pandas().Timestamp(np.int64(value).view(f"M8[{unit}]")).as_unit(unit)
    return moment if zone is None else moment.tz_localize("UTC").tz_convert(_zone(zone))


def _moment_parts(value: Any) -> dict[str, Any]:
    zone = None if value.tz is None else _zone_parts(value.tz)
    return {"value": int(value._value), "unit": value.unit, "zone": zone}


def _fits_moment(value: Any) -> bool:
    return _is("Timestamp")(value) and (
        value.tz is None or _zone_parts(value.tz) is not None
    )


def _span(value: int, unit: str) -> Any:
    need(type(value) is int and unit in UNITS, "no span of time")
    return _pandas().Timedelta(np.int64(value).view(f"m8[{unit}]")).as_unit(unit)


def _missing(name: str) -> Any:
    need(name in ("NA", "NaT"), "no such missing value")
    return getattr(_pandas(), name)


def _check_name(name: Any) -> None:
    need(name is None or type(name) in (str, int, float, tuple), "no name of a column")


def _index(values: Any, dtype: Any, name: Any) -> Any:
    kinds = (np.dtype, _pandas().api.extensions.ExtensionDtype)
    need(isinstance(values, np.ndarray) and values.ndim == 1, "values are needed")
    need(isinstance(dtype, kinds), "a dtype is needed")
    _check_name(name)
    return _pandas().Index(values, dtype=dtype, name=name)


def _series(values: Any, index: Any, name: Any) -> Any:
    pandas = _pandas()
    need(isinstance(values, pandas.Index), "values are needed")
    need(isinstance(index, pandas.Index), "an index is needed")
    _check_name(name)
    return pandas.Series(values, index=index, name=name)


def _range(numbers: tuple[int, ...], name: Any) -> Any:
    need(type(numbers) is tuple and len(numbers) == 3, "three numbers are needed")
    need(all(type(number) is int for number in numbers), "three numbers are needed")
    _check_name(name)
    return _pandas().RangeIndex(*numbers, name=name)


FRAMES = (
    Codec(
        "zoned dtype",
        _fits_zoned,
        lambda v: {"unit": v.unit, "zone": _zone_parts(v.tz)},
        _zoned,
        package="pandas",
    ),
    Codec(
        "nullable dtype",
        _fits_nullable,
        lambda v: {"name": v.name},
        _nullable,
        package="pandas",
    ),
    Codec(
        "text dtype",
        _is("StringDtype"),
        lambda v: {"storage": v.storage, "nan": isinstance(v.na_value, float)},
        _string,
        package="pandas",
    ),
    Codec(
        "category dtype",
        _is("CategoricalDtype"),
        lambda v: {"categories": v.categories, "ordered": v.ordered},
        _categorical,
        package="pandas",
    ),
    Codec("moment", _fits_moment, _moment_parts, _moment, package="pandas"),
    Codec(
        "span",
        _is("Timedelta"),
        lambda v: {"value": int(v._value), "unit": v.unit},
        _span,
        package="pandas",
    ),
    Codec(
        "missing",
        _is("NAType", "NaTType"),
        lambda v: {"name": type(v).__name__.removesuffix("Type")},
        _missing,
        package="pandas",
    ),
    Codec(
        "range index",
        _is("RangeIndex"),
        lambda v: {"numbers": (v.start, v.stop, v.step), "name": v.name},
        _range,
        package="pandas",
    ),
    Codec(
        "index",
        _is("Index", "DatetimeIndex", "TimedeltaIndex", "CategoricalIndex"),
        lambda v: {"values": v.to_numpy(), "dtype": v.dtype, "name": v.name},
        _index,
        package="pandas",
    ),
    Codec(
        "series",
        _is("Series"),
        lambda v: {
            "values": _pandas().Index(v, name=None),
            "index": v.index,
            "name": v.name,
        },
        _series,
        package="pandas",
    ),
)
