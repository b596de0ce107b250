"""Libraries that halfmoon does not require: what uses a missing one is skipped."""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

import pytest

__all__ = ["far_dates", "optional"]


def _major(name):
    try:
        return int(version(name).split(".")[0])
    except PackageNotFoundError:
        return 0


far_dates = pytest.mark.skipif(
    _major("pandas") < 3, reason="pandas 2 has no dates after 2262"
)


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
