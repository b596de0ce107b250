"""Two columns of a table, as the plane that a picture can show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from halfmoon.rows import Array

__all__ = ["as_numbers_table", "column_names", "column_numbers", "table_like"]


def as_numbers_table(X: Any) -> Array:  # (n, d)
    """A table as an array of floats, or an error that says what is in the way."""
    if sp.issparse(X):
        raise ValueError(
            f"X is a sparse matrix of shape {X.shape}; a picture needs a dense table. "
            f"Pass X.toarray()."
        )
    try:
        values = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"X cannot be read as numbers ({error}); a picture needs columns of "
            f"numbers. Pass the table after its columns were encoded, and the model "
            f"that takes it."
        ) from error
    if values.ndim != 2:
        raise ValueError(f"X has shape {values.shape}; a table (n, d) is needed.")
    return values


def column_names(X: Any, d: int) -> list[str]:
    """What to call the columns: their own names, or their numbers."""
    return [str(name) for name in getattr(X, "columns", range(d))]


def column_numbers(X: Any, columns: Sequence[Any] | None, d: int) -> list[int]:
    """Which two columns are shown, from their numbers or names.

    Parameters
    ----------
    X : table of d columns
    columns : two of int or str, or None
        None is both columns of a table that has two.
    """
    if columns is None:
        if d == 2:
            return [0, 1]
        raise ValueError(
            f"X has {d} column(s), and a plane shows two. Say which as columns=(0, 1), "
            f"or by name; the others are held at their medians where a model is asked "
            f"beyond the rows."
        )
    names = list(getattr(X, "columns", range(d)))
    numbers = [names.index(column) if column in names else column for column in columns]
    if len(numbers) != 2 or not all(
        isinstance(c, (int, np.integer)) and -d <= c < d for c in numbers
    ):
        raise ValueError(
            f"columns is {tuple(columns)!r}; two columns of X, by number below {d} or "
            f"by name, are needed."
        )
    return [int(c) % d for c in numbers]


def table_like(X: Any, values: Array) -> Any:
    """Values as a table of the make of X, so that a model finds its column names."""
    if hasattr(X, "iloc"):
        return type(X)(values, columns=X.columns)
    if hasattr(X, "schema"):  # of polars
        return type(X)(values, schema=list(X.columns))
    return values
