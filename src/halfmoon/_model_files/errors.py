"""Errors and warnings of model files, one line each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["ModelFileError", "ModelVersionWarning", "in_one_line"]

MAX_QUOTED = 80  # characters of a name that is quoted from a file


class ModelFileError(ValueError):
    """A model that cannot be saved, or a file that cannot be loaded."""


class ModelVersionWarning(UserWarning):
    """A file was written with other versions than those installed here."""


def in_one_line(what: Any) -> str:
    """Return untrusted text in one line: cut if it is long, escaped if not printable.

    An object is named by its class only, because its own `__str__` would run code
    before it has been checked.
    """
    text = str(what) if _is_plain(what) else type(what).__name__
    if len(text) > MAX_QUOTED:
        text = f"{text[:MAX_QUOTED]}..."
    return text if text.isprintable() else ascii(text)


def _is_plain(what: Any) -> bool:
    if isinstance(what, Exception):
        return all(_is_plain(each) for each in what.args)
    if type(what) in (list, tuple):
        return all(_is_plain(each) for each in what)
    if type(what) is dict:
        return all(_is_plain(each) for pair in what.items() for each in pair)
    return isinstance(what, Path) or type(what) in (str, int, float, bool, type(None))
