"""Labels: which rows are labeled. An unlabeled row has a missing value.

None, NaN, ``pd.NA`` and NaT are missing values for labels of any type: numbers,
strings, booleans, categories and nullable columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "is_missing",
    "label_array",
    "labeled_rows",
    "labels_of",
    "no_labels",
    "no_labels_to_score",
]

MISSING_TYPES = ("NAType", "NaTType")  # of pandas, without importing pandas


def label_array(y: Any) -> NDArray[Any]:
    """Return labels of any type as an array, with their missing values.

    Strings with missing values become an array of objects, because NumPy would turn
    None into the text 'None'.
    """
    if np.ma.is_masked(y):  # a masked label is a missing one
        labels: NDArray[Any] = np.ma.getdata(y).astype(object)
        labels[np.ma.getmaskarray(y)] = None
        return labels
    as_list = _column_as_list(y)
    if as_list is not None:
        column = np.empty(len(as_list), dtype=object)
        column[:] = as_list
        return column
    if isinstance(y, (list, tuple)):
        kinds = {type(value) for value in y}
        if str in kinds and len(kinds) > 1:
            return np.array(y, dtype=object)
    return np.asarray(y)


def is_missing(y: Any, unlabeled: Any = None) -> NDArray[np.bool_]:
    """Return where labels are missing, in the shape of y.

    Parameters
    ----------
    y : array-like
    unlabeled : object or None
        Another value that counts as missing, such as -1.

    Examples
    --------
    >>> is_missing(["a", None, float("nan")])
    array([False,  True,  True])
    >>> is_missing([0, 1, -1], unlabeled=-1)
    array([False, False,  True])
    """
    y = label_array(y)
    if y.dtype.kind == "f":
        missing = np.isnan(y)
    elif y.dtype.kind in "mM":
        missing = np.isnat(y)
    elif y.dtype.kind == "O":
        missing = _each(y, _is_missing_value)
    else:
        missing = np.zeros(y.shape, dtype=bool)
    if unlabeled is not None:
        # One by one, because NumPy does not compare text with numbers elementwise.
        missing = missing | _each(y, lambda v: _same(v, unlabeled))
    return missing


def labeled_rows(y: Any, unlabeled: Any = None) -> NDArray[np.bool_]:
    """Return which rows are labeled, shape (n,): those with at least one output.

    Examples
    --------
    >>> labeled_rows([[1.0, None], [None, None], [2.0, 3.0]])
    array([ True, False,  True])
    """
    missing = is_missing(y, unlabeled)
    if missing.ndim == 0:
        raise ValueError(f"y is {y!r}; one label for each row is needed.")
    return np.asarray(~missing.reshape(len(missing), -1).all(axis=1))


def labels_of(y: Any, labeled: NDArray[np.bool_]) -> NDArray[Any]:
    """Return the labels of the labeled rows; objects become numbers where possible.

    Strings stay objects, which sort and compare, and are never truncated.
    """
    labels = label_array(y)[labeled]
    if labels.dtype == object and not all(isinstance(v, str) for v in labels.ravel()):
        return np.array(labels.tolist())
    return labels


def _column_as_list(y: Any) -> list[Any] | None:
    """Return the values of a pandas, polars or pyarrow column; None for others."""
    if hasattr(y, "to_list"):
        return list(y.to_list())
    if hasattr(y, "to_pylist"):
        return list(y.to_pylist())
    if hasattr(y, "isna") and hasattr(y, "tolist"):  # a pandas array
        return list(y.tolist())
    return None


def _each(y: NDArray[Any], test: Any) -> NDArray[np.bool_]:
    return np.array([test(v) for v in y.ravel()], dtype=bool).reshape(y.shape)


def _is_missing_value(value: Any) -> bool:
    if value is None or type(value).__name__ in MISSING_TYPES:
        return True
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def _same(value: Any, other: Any) -> bool:
    return not _is_missing_value(value) and bool(value == other)


def no_labels(n: int, needed: str = "one label") -> ValueError:
    """Return the error for n rows without any label."""
    return ValueError(
        f"None of the {n:,} rows is labeled; at least {needed} is needed."
    )


def no_labels_to_score(n: int) -> ValueError:
    """Return the error for n rows to score without any label."""
    return ValueError(
        f"None of the {n:,} rows to score is labeled. Use LabeledKFold, which tests "
        f"labeled rows only, or score labeled rows."
    )
