"""Whether a value is of the kind that an annotation declares, where that is simple."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np

__all__ = ["fits", "in_words"]

#: Numbers of NumPy serve where those of Python do, and whole ones as real ones.
SIMPLE: dict[Any, tuple[type, ...]] = {
    bool: (bool, np.bool_),
    int: (int, np.integer),
    float: (int, float, np.integer, np.floating),
    str: (str,),
    type(None): (type(None),),
    None: (type(None),),
}


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of a declared kind; True wherever that is hard to say."""
    if hint is Any:
        return True
    if hint in SIMPLE:
        return isinstance(value, SIMPLE[hint])
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(fits(value, each) for each in args)
    if origin is Literal:
        return any(type(value) is type(each) and value == each for each in args)
    if origin is np.ndarray:
        numeric = "float" in str(args) or "int" in str(args)
        return isinstance(value, np.ndarray) and (
            not numeric or value.dtype.kind in "biuf"
        )
    if origin is tuple:
        return isinstance(value, tuple) and _fits_each(value, args)
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


def _fits_each(values: tuple[Any, ...], hints: tuple[Any, ...]) -> bool:
    if len(hints) == 2 and hints[1] is Ellipsis:
        return all(fits(value, hints[0]) for value in values)
    return len(values) == len(hints) and all(map(fits, values, hints))


def in_words(what: Any) -> str:
    """A short name of a value's kind, or of a declared one."""
    if get_origin(what) in (Union, types.UnionType):
        return _either(map(in_words, get_args(what)))
    if get_origin(what) is Literal:
        return _either(map(repr, get_args(what)))
    if get_origin(what) is not None:
        return str(getattr(get_origin(what), "__name__", "another kind"))
    if what is None or what is type(None):
        return "None"
    return what.__name__ if isinstance(what, type) else type(what).__name__


def _either(names: Iterable[str]) -> str:
    return " or ".join(names)
