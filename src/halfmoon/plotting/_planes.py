"""Two columns of a table as the plane of a plot; predictions and labels on one scale.

A class is its number among the sorted classes. For two classes, the prediction is the
probability of the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier

from halfmoon._labels import label_array, labeled_rows
from halfmoon._rows import Array

__all__ = [
    "as_numbers_table",
    "column_names",
    "column_numbers",
    "label_values",
    "model_values",
    "table_like",
]


def as_numbers_table(X: Any) -> Array:  # (n, d)
    """Return a table as an array of floats, or raise an error that says why not."""
    if sp.issparse(X):
        raise ValueError(
            f"X is a sparse matrix of shape {X.shape}; a plot needs a dense table. "
            f"Pass X.toarray()."
        )
    try:
        values = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"X cannot be converted to numbers ({error}); a plot needs columns of "
            f"numbers. Pass the encoded table, and the model that was fitted to it."
        ) from error
    if values.ndim != 2:
        raise ValueError(f"X has shape {values.shape}; a table (n, d) is needed.")
    return values


def column_names(X: Any, d: int) -> list[str]:
    """Return the names of the columns, or their numbers if they have none."""
    return [str(name) for name in getattr(X, "columns", range(d))]


def column_numbers(X: Any, columns: Sequence[Any] | None, d: int) -> list[int]:
    """Return the numbers of the two columns to show.

    Parameters
    ----------
    X : table of d columns
    columns : two of int or str, or None
        None is both columns of a table with two.
    """
    if columns is None:
        if d == 2:
            return [0, 1]
        raise ValueError(
            f"X has {d} column(s), but a plane shows two. Choose them by number, such "
            f"as columns=(0, 1), or by name; a model's predictions over the plane have "
            f"the other columns at their medians."
        )
    names = list(getattr(X, "columns", range(d)))
    numbers = [names.index(column) if column in names else column for column in columns]
    if len(numbers) != 2 or not all(
        isinstance(c, (int, np.integer)) and -d <= c < d for c in numbers
    ):
        raise ValueError(
            f"columns is {tuple(columns)!r}; two columns of X are needed, by name or "
            f"by a number below {d}."
        )
    return [int(c) % d for c in numbers]


def table_like(X: Any, values: Array) -> Any:
    """Return values as a table of the type of X, with the column names of X."""
    if hasattr(X, "iloc"):
        return type(X)(values, columns=X.columns)
    if hasattr(X, "schema"):  # polars
        return type(X)(values, schema=list(X.columns))
    return values


def model_values(model: Any, X: Any) -> tuple[Array, float | None]:
    """Return the predictions for rows, and the border between two classes."""
    if not is_classifier(model):
        values = np.asarray(model.predict(X), dtype=np.float64)
        if values.ndim == 2 and values.shape[1] > 1:
            raise ValueError(
                f"The model predicts {values.shape[1]} targets, but a surface shows "
                f"one. Fit a model to one target."
            )
        return values.ravel(), None
    if len(model.classes_) == 2:
        if hasattr(model, "predict_proba"):
            return np.asarray(model.predict_proba(X))[:, 1], 0.5
        if hasattr(model, "decision_function"):
            return np.asarray(model.decision_function(X)), 0.0
    number, predicted = _class_numbers(model), np.asarray(model.predict(X))
    return np.array([number[value] for value in predicted.tolist()]), None


def label_values(model: Any, y: Any, n: int, unlabeled: Any = None) -> Array:
    """Return the targets or class numbers of n rows; NaN for unlabeled rows."""
    values = np.full(n, np.nan)
    if y is None:
        return values
    labeled, labels = labeled_rows(y, unlabeled), label_array(y)
    if len(labels) != n:
        raise ValueError(
            f"y has {len(labels)} labels and X has {n} rows; one label, or a missing "
            f"value, is needed for each row."
        )
    if not is_classifier(model):
        values[labeled] = labels[labeled].astype(np.float64)
        return values
    known, number = labels[labeled].tolist(), _class_numbers(model)
    unknown = [value for value in known if value not in number]
    if unknown:
        raise ValueError(
            f"y has the label {unknown[0]!r}, which is not a class of the model; its "
            f"classes are {list(number)!r}."
        )
    values[labeled] = [number[value] for value in known]
    return values


def _class_numbers(model: Any) -> dict[Any, float]:
    return {value: float(i) for i, value in enumerate(model.classes_.tolist())}
