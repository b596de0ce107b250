"""Attributes of an object: which are stored, and which a file may set.

An object is stored as its class and its attributes, and is made again without calling
`__init__`. So the attributes in a file are checked against the class. None may hide a
method, none that `__init__` sets may be missing, and each must be of the declared type.
Where compiled code relies on two attributes to agree, that is checked too: a wrong
index in a forged file would make it read outside an array.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, cached_property, lru_cache
from inspect import getattr_static, isabstract
from typing import Any, get_type_hints

import numpy as np
from sklearn.base import BaseEstimator

from halfmoon._model_files.errors import ModelFileError, in_one_line
from halfmoon._model_files.registry import ATTRIBUTE_RULES, class_named, package_of
from halfmoon._model_files.type_checks import fits, in_words

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
    """Return the attributes that `__init__` sets."""
    if is_dataclass(cls):
        return frozenset(
            each.name
            for each in fields(cls)
            if each.init or each.default_factory is not MISSING
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
