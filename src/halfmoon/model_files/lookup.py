"""From names to what they stand for and back, by the lists of `registry` alone."""

from __future__ import annotations

import logging
import pkgutil
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from halfmoon.model_files.errors import ModelFileError, in_one_line
from halfmoon.model_files.registry import FUNCTIONS, HALFMOON, METHODS, OUTSIDE

__all__ = [
    "class_named",
    "function_named",
    "name_of_class",
    "name_of_function",
    "owner_of_method",
    "package_of",
]


def class_named(name: Any) -> type:
    """The class of a name, if it is one that may be in a file."""
    cls = _own_class(name) or _imported(OUTSIDE, name)
    if not isinstance(cls, type):
        raise ModelFileError(
            f"names the class {in_one_line(name)}, which no model file may hold; get "
            f"the file from where it was written"
        )
    return cls


def name_of_class(cls: type) -> str | None:
    """The name of a class in a file; None if it may not be in one."""
    name = _stable_name(cls)
    if _own_class(name) is cls:
        return name
    return _exported_name(OUTSIDE, cls.__name__, cls)


def function_named(name: Any) -> Any:
    """The function of a name, if it is one that may be in a file."""
    function = _imported(FUNCTIONS, name)
    if function is None:
        raise ModelFileError(
            f"names the function {in_one_line(name)}, which no model file may hold; "
            f"get the file from where it was written"
        )
    return function


def name_of_function(function: Any) -> str | None:
    """The name of a function in a file; None if it may not be in one."""
    return _exported_name(FUNCTIONS, getattr(function, "__name__", ""), function)


def owner_of_method(owner: Any, name: Any) -> bool:
    """Whether this method of an object may be held by another."""
    return (name_of_class(type(owner)), name) in METHODS


def package_of(cls: type) -> str:
    """The package that a class belongs to."""
    return cls.__module__.partition(".")[0]


def _package(module: str) -> str:
    """``halfmoon.kernels`` for any module in it, also if the package is private."""
    return ".".join(part.lstrip("_") for part in module.split(".")[:2])


def _stable_name(cls: type) -> str:
    """``halfmoon.<package>.<class>``: files may move inside a package."""
    return f"{_package(cls.__module__)}.{cls.__name__}"


def _own_class(name: Any) -> type | None:
    """A class of halfmoon, by its stable name."""
    if not isinstance(name, str):
        return None
    package = name.rpartition(".")[0]
    known = {_package(start) for start in HALFMOON}
    return _classes(package).get(name) if package in known else None


@cache
def _classes(package: str) -> dict[str, type]:
    """The classes of a package of halfmoon that may be in a file."""
    return {
        _stable_name(cls): cls
        for start in HALFMOON
        if _package(start) == package
        for module in _modules(start)
        for cls in vars(module).values()
        if isinstance(cls, type)
        and cls.__module__ == module.__name__
        and not issubclass(cls, (BaseException, logging.Handler))
    }


def _modules(name: str) -> list[Any]:
    """A module, or a package and all that is in it."""
    try:
        package = import_module(name)
    except ImportError:  # a part of halfmoon whose extras are not installed
        return []
    modules = [package]
    for inner in pkgutil.iter_modules(getattr(package, "__path__", []), f"{name}."):
        modules += _modules(inner.name)
    return modules


def _imported(table: dict[str, tuple[str, ...]], name: Any) -> Any:
    """What a name of the table stands for; None where it is not in the table."""
    if not isinstance(name, str):
        return None
    for module, members in table.items():
        start, _, member = name.rpartition(".")
        if start == module and member in members:
            try:
                return getattr(import_module(module), member)
            except (ImportError, AttributeError) as error:
                raise ModelFileError(
                    f"needs {name}, which is not installed here or not in this "
                    f"version; install {module.partition('.')[0]}"
                ) from error
    return None


def _exported_name(
    table: dict[str, tuple[str, ...]], member: str, what: Any
) -> str | None:
    for module, members in table.items():
        if member in members or (module == "numpy" and isinstance(what, np.ufunc)):
            for each in members if module == "numpy" else (member,):
                if _is_member(module, each, what):
                    return f"{module}.{each}"
    return None


def _is_member(module: str, member: str, what: Any) -> bool:
    try:
        return getattr(import_module(module), member, None) is what
    except ImportError:
        return False
