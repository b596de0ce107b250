"""The attributes of an object: which are stored, and which a file may give.

An object is stored as its class and its attributes, and made again without its
`__init__`. So the attributes of a file are checked as far as the class tells what they
are: none that would hide a method, every one that `__init__` would have set, and of the
kind that the class declares.
"""

from __future__ import annotations

import types
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, cached_property
from inspect import getattr_static, isabstract
from typing import Any, get_type_hints

from sklearn.base import BaseEstimator

from halfmoon.model_files.agreement import agree
from halfmoon.model_files.errors import ModelFileError, in_one_line
from halfmoon.model_files.kinds import fits, in_words
from halfmoon.model_files.lookup import class_named, package_of
from halfmoon.model_files.registry import RULES

__all__ = ["bare", "check_state", "state_of"]

#: What scikit-learn keeps of a fit that is going on, or was watched.
PASSING = ("_skl_callbacks", "_skl_callbacks_to_teardown", "_parent_callback_ctx")

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
    """Attributes to store: what cannot be computed again from the others."""
    cls = type(value)
    state = dict(vars(value))
    if package_of(cls) == "halfmoon":
        stored = getattr_static(cls, "__getstate__")
        if str(getattr(stored, "__module__", "")).startswith("halfmoon."):
            state = dict(value.__getstate__())
        for name in list(state):
            if isinstance(getattr_static(cls, name, None), cached_property):
                del state[name]
    for name in PASSING:
        state.pop(name, None)
    return state


def bare(name: Any) -> Any:
    """An object of the class of this name, without attributes."""
    cls = class_named(name)
    if isabstract(cls) or issubclass(cls, tuple) or getattr(cls, "_is_protocol", False):
        raise ModelFileError(f"holds an object of the abstract class {name}")
    return object.__new__(cls)


def check_state(cls: type, state: dict[str, Any]) -> None:
    """Refuse attributes that no object of the class can have."""
    for name, value in state.items():
        fair = name.isidentifier() and not (name[:2] == name[-2:] == "__")
        if not fair or isinstance(getattr_static(cls, name, None), CODE):
            raise ModelFileError(
                f"{cls.__name__} has an attribute {in_one_line(name)!r}, which would "
                f"hide a part of the class"
            )
        if package_of(cls) != "halfmoon" and name in RULES:
            allowed, words = RULES[name]
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
    if not agree(cls, state):
        raise ModelFileError(f"the attributes of {cls.__name__} contradict each other")


@cache
def _required(cls: type) -> frozenset[str]:
    """Attributes that `__init__` sets."""
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
    """Declared kinds of the attributes of a class of halfmoon."""
    if package_of(cls) != "halfmoon":
        return {}
    try:
        return get_type_hints(cls)
    except NameError:  # of something imported for type checkers only
        return {}
