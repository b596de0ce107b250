"""Values of Python and NumPy that JSON has no form for, one codec each."""

from __future__ import annotations

import datetime
import re
from base64 import b64decode, b64encode
from math import isfinite
from typing import Any

import numpy as np

from halfmoon.model_files.codec import Codec, need

__all__ = ["LEAVES", "as_dtype", "is_inline"]

INLINE_INTS = 2**63  # beyond it other readers of JSON lose digits
DTYPE = re.compile(
    r"[<>|](?:b1|[iu][1248]|f(?:2|4|8|12|16)|c(?:8|16|24|32)|[SU]\d{1,9}"
    r"|[mM]8(?:\[\d{0,9}(?:Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])?|O)"
)
NAMED_FLOATS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


def is_inline(value: Any) -> bool:
    """Whether JSON has this very value."""
    if value is None or type(value) in (bool, str):
        return True
    if type(value) is int:
        return -INLINE_INTS < value < INLINE_INTS
    return type(value) is float and isfinite(value)


def as_dtype(name: Any) -> np.dtype[Any]:
    """A dtype of NumPy by its short name: no structures."""
    need(isinstance(name, str) and DTYPE.fullmatch(name) is not None, "no such dtype")
    return np.dtype(name)


def _exact(cls: type) -> Any:
    return lambda value: type(value) is cls


def _integer(digits: str) -> int:
    need(isinstance(digits, str), "digits must be text")
    return int(digits, 16)


def _float(name: str) -> float:
    return NAMED_FLOATS[name]


def _complex(real: float, imag: float) -> complex:
    need(type(real) is float and type(imag) is float, "two numbers are needed")
    return complex(real, imag)


def _slice(start: Any, stop: Any, step: Any) -> slice:
    return slice(start, stop, step)


def _bytes(base64: str) -> bytes:
    return b64decode(base64, validate=True)


def _frozenset(items: tuple[Any, ...]) -> frozenset[Any]:
    need(type(items) is tuple, "items must be a tuple")
    return frozenset(items)


def _numbers(*values: Any) -> None:
    need(all(type(value) is int for value in values), "whole numbers are needed")


def _date(year: int, month: int, day: int) -> datetime.date:
    _numbers(year, month, day)
    return datetime.date(year, month, day)


def _timedelta(days: int, seconds: int, microseconds: int) -> datetime.timedelta:
    _numbers(days, seconds, microseconds)
    return datetime.timedelta(days, seconds, microseconds)


def _timezone(offset: datetime.timedelta) -> datetime.timezone:
    need(type(offset) is datetime.timedelta, "an offset is needed")
    return datetime.timezone(offset)


def _datetime(numbers: tuple[int, ...], tzinfo: Any, fold: int) -> datetime.datetime:
    need(type(numbers) is tuple and len(numbers) == 7, "seven numbers are needed")
    _numbers(*numbers, fold)
    need(tzinfo is None or type(tzinfo) is datetime.timezone, "no such time zone")
    year, month, day, hour, minute, second, rest = numbers
    return datetime.datetime(
        *(year, month, day), hour, minute, second, rest, tzinfo, fold=fold
    )


def _fits_datetime(value: Any) -> bool:
    zone = getattr(value, "tzinfo", None)
    return type(value) is datetime.datetime and (
        zone is None or type(zone) is datetime.timezone
    )


def _datetime_parts(value: datetime.datetime) -> dict[str, Any]:
    numbers = (*value.timetuple()[:6], value.microsecond)
    return {"numbers": numbers, "tzinfo": value.tzinfo, "fold": value.fold}


def _scalar(dtype: str, base64: str) -> Any:
    kind, data = as_dtype(dtype), b64decode(base64, validate=True)
    need(kind.kind != "O" and len(data) == kind.itemsize, "a number of another size")
    need(kind.kind != "b" or data in (b"\0", b"\1"), "no truth value")
    value = np.zeros((), dtype=kind)
    if data:
        value = np.frombuffer(data, dtype=kind).reshape(()).copy()
    return value[()]


LEAVES = (
    Codec("integer", _exact(int), lambda v: {"digits": hex(v)}, _integer),
    Codec("float", _exact(float), lambda v: {"name": repr(v)}, _float),
    Codec(
        "complex",
        _exact(complex),
        lambda v: {"real": v.real, "imag": v.imag},
        _complex,
    ),
    Codec(
        "bytes",
        _exact(bytes),
        lambda v: {"base64": b64encode(v).decode("ascii")},
        _bytes,
    ),
    Codec("frozenset", _exact(frozenset), lambda v: {"items": tuple(v)}, _frozenset),
    Codec(
        "slice",
        _exact(slice),
        lambda v: {"start": v.start, "stop": v.stop, "step": v.step},
        _slice,
    ),
    Codec(
        "date",
        _exact(datetime.date),
        lambda v: {"year": v.year, "month": v.month, "day": v.day},
        _date,
    ),
    Codec(
        "timedelta",
        _exact(datetime.timedelta),
        lambda v: {
            "days": v.days,
            "seconds": v.seconds,
            "microseconds": v.microseconds,
        },
        _timedelta,
    ),
    Codec(
        "timezone",
        _exact(datetime.timezone),
        lambda v: {"offset": v.utcoffset(None)},
        _timezone,
    ),
    Codec("datetime", _fits_datetime, _datetime_parts, _datetime),
    Codec(
        "dtype",
        lambda v: isinstance(v, np.dtype) and DTYPE.fullmatch(v.str) is not None,
        lambda v: {"name": v.str},
        as_dtype,
    ),
    Codec(
        "scalar",
        lambda v: (
            isinstance(v, np.generic) and DTYPE.fullmatch(v.dtype.str) is not None
        ),
        lambda v: {
            "dtype": v.dtype.str,
            "base64": b64encode(v.tobytes()[: v.dtype.itemsize]).decode("ascii"),
        },
        _scalar,
    ),
)
