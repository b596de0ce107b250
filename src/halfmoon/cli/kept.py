"""Model files, as the command line opens them."""

from __future__ import annotations

from typing import Any

from halfmoon.model_files import ModelFileError, load
from halfmoon.table.errors import ModelError
from halfmoon.table.model import TableModel

__all__ = ["any_model", "table_model"]


def any_model(path: str) -> Any:
    """What a model file holds."""
    try:
        return load(path)
    except (ModelFileError, OSError) as error:
        raise ModelError(str(error)) from error


def table_model(path: str) -> TableModel:
    """A model of a table."""
    model = any_model(path)
    if not isinstance(model, TableModel):
        raise ModelError(
            f"{path} holds a {type(model).__name__}, which was not learned from a "
            f"table by halfmoon fill. Use it in Python: halfmoon.load({path!r})."
        )
    return model
