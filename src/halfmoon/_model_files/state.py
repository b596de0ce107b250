"""Attributes of an object: which are stored, and which a file may set.

An object is stored as its class and its attributes, and is made again without calling
`__init__`. So the attributes in a file are checked against the class. None may hide a
method, none that `__init__` sets may be missing, and each must be of the declared type.
Where compiled code relies on two attributes to agree, that is checked too: a wrong
index in a forged file would make it read outside an array.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, cached_property, lru_cache
from inspect import getattr_static, isabstract
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from halfmoon._model_files.errors import ModelFileError, in_one_line
from halfmoon._model_files.registry import ATTRIBUTE_RULES, class_named, package_of

__all__ = ["check_state", "empty_object", "state_of"]

#: Attributes that scikit-learn sets during a fit with callbacks.
TEMPORARY = ("_skl_callbacks", "_skl_callbacks_to_teardown", "_parent_callback_ctx")

CODE = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    classmethod,
    staticmethod,
    property,
    cached_property,
)

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
ARRAYS = (np.ndarray, get_origin(NDArray[Any]))  # from NumPy 2.5 on, two origins


def state_of(value: Any) -> dict[str, Any]:
    """Return the attributes to store: those that do not follow from the others."""
    cls: type = type(value)
    state = dict(vars(value))
    if package_of(cls) == "halfmoon":
        getstate = _in_class(cls, "__getstate__")
        if str(getattr(getstate, "__module__", "")).startswith("halfmoon."):
            state = dict(value.__getstate__())
        for name in list(state):
            if isinstance(_in_class(cls, name), cached_property):
                del state[name]
    for name in TEMPORARY:
        state.pop(name, None)
    return state


def empty_object(name: Any) -> Any:
    """Return an object of the class of this name, without attributes."""
    cls = class_named(name)
    if isabstract(cls) or issubclass(cls, tuple) or getattr(cls, "_is_protocol", False):
        raise ModelFileError(f"holds an object of the abstract class {name}")
    return object.__new__(cls)


def check_state(cls: type, state: dict[str, Any]) -> None:
    """Refuse attributes that no object of the class can have."""
    for name, value in state.items():
        valid = name.isidentifier() and not (name[:2] == name[-2:] == "__")
        if not valid or isinstance(_in_class(cls, name), CODE):
            raise ModelFileError(
                f"{cls.__name__} has an attribute {in_one_line(name)!r}, which would "
                f"hide a part of the class"
            )
        if package_of(cls) != "halfmoon" and name in ATTRIBUTE_RULES:
            allowed, words = ATTRIBUTE_RULES[name]
            if not allowed(value):
                raise ModelFileError(
                    f"{cls.__name__}.{name} must be {words} in a model file"
                )
    missing = _required(cls) - set(state)
    if missing:
        raise ModelFileError(f"{cls.__name__} lacks its attribute {min(missing)!r}")
    for name, hint in _hints(cls).items():
        if name in state and not fits(state[name], hint):
            raise ModelFileError(
                f"{cls.__name__}.{name} is {in_words(state[name])}, where "
                f"{in_words(hint)} is needed"
            )
    if not _agree(cls, state):
        raise ModelFileError(f"the attributes of {cls.__name__} contradict each other")


@lru_cache(maxsize=10_000)  # names come from files, so the number is bounded
def _in_class(cls: type, name: str) -> Any:
    """Return what the class itself has under a name, if anything."""
    return getattr_static(cls, name, None)


@cache
def _required(cls: type) -> frozenset[str]:
    """Return the attributes that `__init__` sets.

    Those with a default may be missing, as in files of older versions, but parameters
    of estimators may not.
    """
    if is_dataclass(cls):
        strict = issubclass(cls, BaseEstimator)
        return frozenset(
            each.name
            for each in fields(cls)
            if (each.init and (strict or each.default is MISSING))
            or each.default_factory is not MISSING
        )
    if issubclass(cls, BaseEstimator):
        names: list[str] = cls._get_param_names()  # type: ignore[attr-defined]
        return frozenset(names)
    return frozenset()


@cache
def _hints(cls: type) -> dict[str, Any]:
    """Return the declared types of the attributes of a class of halfmoon."""
    if package_of(cls) != "halfmoon":
        return {}
    try:
        return get_type_hints(cls)
    except NameError:  # of something imported for type checkers only
        return {}


def _agree(cls: type, state: dict[str, Any]) -> bool:
    """Whether attributes that must agree do."""
    try:
        return all(
            AGREEMENTS[name](state)
            for name in (f"{package_of(base)}.{base.__name__}" for base in cls.__mro__)
            if name in AGREEMENTS
        )
    except (AttributeError, KeyError, TypeError, ValueError):  # something is missing
        return False


def _neighbors_agree(state: dict[str, Any]) -> bool:
    """Whether a search among n rows finds rows below n, with a scale for each."""
    n, own = state["_rows"].shape[0], state["_own"]
    sizes = {state["_search"].n_samples_fit_, len(state["scales"]), own.shape[0]}
    within = own.size == 0 or (own.min() >= 0 and own.max() < n)
    k = state["n_neighbors"]
    return sizes == {n} and bool(within) and type(k) is int and 1 <= k < n


def _graph_agrees(state: dict[str, Any]) -> bool:
    n = len(state["index"].scales)
    return tuple(state["W"].shape) == (n, n)


def _vocabulary_agrees(state: dict[str, Any]) -> bool:
    """Whether each term has one number, and the numbers have no gaps."""
    if state.get("vocabulary_") is None:
        return True
    numbers = sorted(state["vocabulary_"].values())
    whole = all(isinstance(each, (int, np.integer)) for each in numbers)
    return whole and numbers == list(range(len(numbers)))


AGREEMENTS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "halfmoon.NeighborIndex": _neighbors_agree,
    "halfmoon.NearestRows": _graph_agrees,
    "sklearn.CountVectorizer": _vocabulary_agrees,
}


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
    if origin in ARRAYS:
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
    if origin in ARRAYS:
        return "ndarray"
    if origin is not None:
        return str(getattr(origin, "__name__", "another type"))
    if what is None or what is type(None):
        return "None"
    return what.__name__ if isinstance(what, type) else type(what).__name__
