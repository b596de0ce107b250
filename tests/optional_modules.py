"""Libraries that halfmoon does not require: what uses a missing one is skipped."""

from importlib import import_module

import pytest

__all__ = ["optional"]


def optional(name):
    """The module; where it is missing, a stand-in that skips whoever uses it."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        return _Missing(error.name)


class _Missing:
    def __init__(self, name):
        self._name = name

    def __getattr__(self, attribute):
        # Used while a module is imported, it skips the module.
        pytest.skip(f"needs {self._name}", allow_module_level=True)
