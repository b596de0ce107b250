"""What goes wrong with a model file, in one line each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["ModelFileError", "ModelVersionWarning", "in_one_line"]

LONGEST = 80  # of a name that is quoted from a file


class ModelFileError(ValueError):
    """A model that cannot be saved, or a file that cannot be loaded; one line."""


class ModelVersionWarning(UserWarning):
    """A file was written with other versions than those that read it."""


def in_one_line(what: Any) -> str:
    """A name from outside as it is, or escaped and cut where it is no fair name.

    Of an object only the class is told: to ask it for its own words would run its code
    before it has been checked.
    """
    text = str(what) if _is_plain(what) else type(what).__name__
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}..."
    return text if text.isprintable() else ascii(text)


def _is_plain(what: Any) -> bool:
    if isinstance(what, Exception):
        return all(_is_plain(each) for each in what.args)
    if type(what) in (list, tuple):
        return all(_is_plain(each) for each in what)
    if type(what) is dict:
        return all(_is_plain(each) for pair in what.items() for each in pair)
    return isinstance(what, Path) or type(what) in (str, int, float, bool, type(None))
