"""Load and save model files; failures are errors of the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from halfmoon._model_files import ModelFileError, load, save
from halfmoon.table._models.table_model import TableModel
from halfmoon.table._table_errors import ModelError, OutputError, TableError

__all__ = ["blaming_model", "load_model", "load_table_model", "save_model"]

#: What a damaged model raises when it predicts.
DAMAGE = (
    *(ValueError, LookupError, TypeError, AttributeError, ArithmeticError),
    *(AssertionError, RecursionError, NotImplementedError),
)


def load_model(path: str) -> Any:
    """Return the model in a file, of any kind."""
    try:
        return load(path)
    except (ModelFileError, OSError) as error:
        raise ModelError(str(error)) from error


def load_table_model(path: str) -> TableModel:
    """Return the model in a file that ``halfmoon fill`` wrote."""
    model = load_model(path)
    if not isinstance(model, TableModel):
        raise ModelError(
            f"{path} holds a {type(model).__name__}, which was not learned from a "
            f"table by halfmoon fill. Use it in Python: halfmoon.load({path!r})."
        )
    return model


@contextmanager
def blaming_model(path: str) -> Iterator[None]:
    """Blame the model file for any failure while its model is used."""
    try:
        yield
    except TableError:
        raise
    except DAMAGE as error:
        raise ModelError(
            f"{path} is damaged or was changed: {type(error).__name__}: {error}. Make "
            f"the model again: halfmoon fill --model {path}."
        ) from error


def save_model(model: TableModel, path: str, *, overwrite: bool) -> None:
    """Write a model file."""
    try:
        save(model, path, overwrite=overwrite)
    except (ModelFileError, OSError) as error:
        why = getattr(error, "strerror", None)
        text = f"{path} cannot be written: {why}." if why else str(error)
        raise OutputError(text) from error
