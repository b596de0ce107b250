"""Values that stand for something by its name: types, functions, methods, tuples."""

from __future__ import annotations

import types
from functools import partial
from typing import Any

import numpy as np

from halfmoon.model_files.codec import Codec, need
from halfmoon.model_files.lookup import (
    class_named,
    function_named,
    name_of_class,
    name_of_function,
    owner_of_method,
)

__all__ = ["REFERENCES"]

TYPES: dict[str, Any] = {
    each.__name__: each for each in (bool, int, float, complex, str, bytes, object)
} | {
    f"numpy.{each.__name__}": each
    for each in (
        *(np.bool_, np.int8, np.int16, np.int32, np.int64),
        *(np.uint8, np.uint16, np.uint32, np.uint64),
        *(np.float16, np.float32, np.float64, np.complex64, np.complex128),
        *(np.str_, np.bytes_, np.object_, np.datetime64, np.timedelta64),
    )
}
TYPE_NAMES = {each: name for name, each in TYPES.items()}


def _partial(
    function: Any, args: tuple[Any, ...], keywords: tuple[Any, ...]
) -> partial[Any]:
    need(name_of_function(function) is not None, "not a function of ours")
    need(type(args) is tuple and type(keywords) is tuple, "tuples are needed")
    named = dict(zip(keywords[::2], keywords[1::2], strict=True))
    need(all(type(name) is str for name in named), "keywords must be text")
    return partial(function, *args, **named)


def _partial_parts(value: partial[Any]) -> dict[str, Any]:
    keywords = tuple(each for pair in value.keywords.items() for each in pair)
    return {"function": value.func, "args": value.args, "keywords": keywords}


def _method(owner: Any, name: str) -> Any:
    need(owner_of_method(owner, name), "no such method may be held")
    return types.MethodType(getattr(type(owner), name), owner)


def _named_tuple(cls: str, values: tuple[Any, ...]) -> Any:
    named = class_named(cls)
    fields = getattr(named, "_fields", None)
    need(issubclass(named, tuple) and fields is not None, "no named tuple")
    need(type(values) is tuple and len(values) == len(fields), "other fields")  # type: ignore[arg-type]
    return tuple.__new__(named, values)


def _is_named_tuple(value: Any) -> bool:
    own = isinstance(value, tuple) and hasattr(value, "_fields")
    return own and name_of_class(type(value)) is not None


REFERENCES = (
    Codec(
        "type",
        lambda v: isinstance(v, type) and v in TYPE_NAMES,
        lambda v: {"name": TYPE_NAMES[v]},
        lambda name: TYPES[name],
    ),
    Codec(
        "function",
        lambda v: name_of_function(v) is not None,
        lambda v: {"name": name_of_function(v)},
        function_named,
    ),
    Codec(
        "partial",
        lambda v: type(v) is partial and name_of_function(v.func) is not None,
        _partial_parts,
        _partial,
    ),
    Codec(
        "method",
        lambda v: (
            type(v) is types.MethodType and owner_of_method(v.__self__, v.__name__)
        ),
        lambda v: {"owner": v.__self__, "name": v.__name__},
        _method,
    ),
    Codec(
        "named tuple",
        _is_named_tuple,
        lambda v: {"cls": name_of_class(type(v)), "values": tuple(v)},
        _named_tuple,
    ),
)
