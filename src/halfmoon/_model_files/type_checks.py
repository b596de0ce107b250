"""Whether a value is of the type that an annotation declares, in simple cases."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np

__all__ = ["fits", "in_words"]

#: NumPy's numbers are accepted for Python's, and integers for floats.
SIMPLE: dict[Any, tuple[type, ...]] = {
    bool: (bool, np.bool_),
    int: (int, np.integer),
    float: (int, float, np.integer, np.floating),
    str: (str,),
    type(None): (type(None),),
    None: (type(None),),
}
UNIONS = (Union, types.UnionType)


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of a declared type; True if that is hard to decide."""
    if hint is Any:
        return True
    if hint in SIMPLE:
        return isinstance(value, SIMPLE[hint])
    origin, args = get_origin(hint), get_args(hint)
    if origin in UNIONS:
        return any(fits(value, each) for each in args)
    if origin is Literal:
        return any(type(value) is type(each) and value == each for each in args)
    if origin is np.ndarray:
        numeric = "float" in str(args) or "int" in str(args)
        return isinstance(value, np.ndarray) and (
            not numeric or value.dtype.kind in "biuf"
        )
    if origin is tuple:
        return isinstance(value, tuple) and _each_fits(value, args)
    if origin is list:
        return isinstance(value, list) and all(fits(each, args[0]) for each in value)
    if origin is dict:
        return isinstance(value, Mapping)
    if origin is Sequence:
        return isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str)
    if origin is Callable:
        return callable(value)
    if isinstance(hint, type) and not getattr(hint, "_is_protocol", False):
        return isinstance(value, hint)
    return True


def _each_fits(values: tuple[Any, ...], hints: tuple[Any, ...]) -> bool:
    if len(hints) == 2 and hints[1] is Ellipsis:
        return all(fits(value, hints[0]) for value in values)
    return len(values) == len(hints) and all(map(fits, values, hints))


def in_words(what: Any) -> str:
    """Return a short name of the type of a value, or of a declared type."""
    origin, args = get_origin(what), get_args(what)
    if origin in UNIONS:
        return " or ".join(map(in_words, args))
    if origin is Literal:
        return " or ".join(map(repr, args))
    if origin is list:
        return f"list of {in_words(args[0])}"
    if origin is not None:
        return str(getattr(origin, "__name__", "another type"))
    if what is None or what is type(None):
        return "None"
    return what.__name__ if isinstance(what, type) else type(what).__name__
