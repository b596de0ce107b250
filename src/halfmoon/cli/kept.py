"""Model files, as the command line opens them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from halfmoon.model_files import ModelFileError, load, save
from halfmoon.table.errors import ModelError, OutputError, TableError
from halfmoon.table.model import TableModel

__all__ = ["any_model", "keep", "table_model", "used"]

#: What arrays and numbers that do not fit together lead to.
WRONG = (
    *(ValueError, LookupError, TypeError, AttributeError, ArithmeticError),
    *(AssertionError, RecursionError, NotImplementedError),
)


def any_model(path: str) -> Any:
    """What a model file holds."""
    try:
        return load(path)
    except (ModelFileError, OSError) as error:
        raise ModelError(str(error)) from error


@contextmanager
def used(path: str) -> Iterator[None]:
    """Blame the model file for what goes wrong while a loaded model is asked."""
    try:
        yield
    except TableError:
        raise
    except WRONG as error:
        raise ModelError(
            f"{path} is damaged or was changed: {type(error).__name__}: {error}. Make "
            f"the model again: halfmoon fill --model {path}."
        ) from error


def keep(model: TableModel, path: str, *, overwrite: bool) -> None:
    """Write a model file."""
    try:
        save(model, path, overwrite=overwrite)
    except (ModelFileError, OSError) as error:
        why = getattr(error, "strerror", None)
        told = f"{path} cannot be written: {why}." if why else str(error)
        raise OutputError(told) from error


def table_model(path: str) -> TableModel:
    """A model of a table."""
    model = any_model(path)
    if not isinstance(model, TableModel):
        raise ModelError(
            f"{path} holds a {type(model).__name__}, which was not learned from a "
            f"table by halfmoon fill. Use it in Python: halfmoon.load({path!r})."
        )
    return model
