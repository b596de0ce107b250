"""Checks of the user's rows by scikit-learn, with errors that say what to do.

Estimators need numbers. For text and missing cells, the errors recommend a pipeline or
`halfmoon.fill`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from halfmoon._labels import (
    is_missing,
    label_array,
    labeled_rows,
    labels_of,
    no_labels_to_score,
)
from halfmoon._partitions.partitioned_rows import is_in_partitions
from halfmoon._rows import Rows

__all__ = ["checked_rows", "labeled_part", "take_rows", "text_in_column"]

MAX_CELLS = 10_000  # of a column that are searched for text


def checked_rows(estimator: Any, X: Any, **options: Any) -> Rows:
    """Return rows checked by `validate_data`, with plain errors for text and NaN.

    Parameters
    ----------
    estimator : BaseEstimator
    X : array-like, data frame or sparse matrix of shape (n, d)
    **options
        Of `validate_data`.
    """
    if is_in_partitions(X):
        raise TypeError(
            f"X is a Dask {type(X).__name__}; this method needs rows in memory. Give "
            f"a few rows, such as X.compute() of a part of them."
        )
    for column in _date_columns(X):
        raise ValueError(
            f"X has dates or times in column {column!r}. Use {_remedy(estimator)}."
        )
    if np.ma.is_masked(X):  # validate_data would drop the mask
        X = np.ma.filled(X.astype(np.float64), np.nan)
    try:
        return validate_data(estimator, X, **options)
    except ValueError as error:
        message = _plain_message(estimator, X, str(error))
        if message is None:
            raise
        raise ValueError(message) from None


def labeled_part(
    X: Any, y: Any, sample_weight: Any = None, unlabeled: Any = None
) -> tuple[Any, NDArray[Any], NDArray[Any] | None]:
    """Return the labeled rows of a table, their labels and their weights.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n, d)
    y : array-like of shape (n,) or (n, t)
        Missing outputs of a labeled row become NaN.
    sample_weight : array-like of shape (n,) or None
    unlabeled : object or None
        Another value that counts as missing, such as -1.
    """
    labeled = labeled_rows(y, unlabeled)
    if not labeled.any():
        raise no_labels_to_score(len(labeled))
    w = None if sample_weight is None else np.asarray(sample_weight)[labeled]
    rows = take_rows(X, labeled)
    gaps = is_missing(y, unlabeled)[labeled]
    if gaps.any():
        outputs = np.where(gaps, np.nan, label_array(y)[labeled])
        return rows, outputs.astype(np.float64), w
    return rows, labels_of(y, labeled), w


def take_rows(X: Any, chosen: NDArray[np.bool_]) -> Any:
    """Return the chosen rows of any table; the table itself if all are chosen."""
    if chosen.all():
        return X
    rows = np.flatnonzero(chosen)
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if isinstance(X, (list, tuple)):
        return [X[row] for row in rows]
    if hasattr(X, "tocsr"):
        X = X.tocsr()  # other sparse formats cannot be indexed
    return X[rows]


def text_in_column(estimator: Any, column: Any) -> str:
    """Return the error message for a column of text."""
    return f"X has text in column {column!r}. Use {_remedy(estimator)}."


def _remedy(estimator: Any) -> str:
    name = type(estimator).__name__
    pipeline = f"skrub.tabular_pipeline({name}())"
    if hasattr(estimator, "transform"):
        pipeline = f"make_pipeline(skrub.TableVectorizer(), {name}())"
    return f"halfmoon.fill(df, target), or a pipeline: {pipeline}"


def _plain_message(estimator: Any, X: Any, error: str) -> str | None:
    """Return a message about text or missing cells in X; None for other errors."""
    if sp.issparse(X):
        return None
    remedy = _remedy(estimator)
    if "could not convert string" in error:
        for column, values in _columns(X):
            cells = values[:MAX_CELLS]
            if any(isinstance(v, str) and not _is_number(v) for v in cells):
                return text_in_column(estimator, column)
        return f"X has text in it. Use {remedy}."
    if "contains NaN" in error:
        for column, values in _columns(X):
            missing = int(is_missing(values).sum())
            if missing:
                return (
                    f"Input X contains NaN: {missing:,} missing cell"
                    f"{'s' * (missing != 1)} in column {column!r}. Use {remedy}."
                )
    return None


def _date_columns(X: Any) -> Iterator[Any]:
    """Yield the names (or numbers) of columns of dates or times, in any table."""
    if isinstance(X, np.ndarray):
        yield from range(X.dtype.kind in "mM")
    elif hasattr(X, "dtypes") and hasattr(X, "columns"):  # of pandas or polars
        for name, dtype in zip(X.columns, X.dtypes, strict=True):
            is_temporal = getattr(dtype, "is_temporal", lambda: False)  # of polars
            if getattr(dtype, "kind", "O") in "mM" or is_temporal():
                yield name


def _columns(X: Any) -> Iterator[tuple[Any, NDArray[Any]]]:
    """Yield the names (or numbers) and values of the columns of any table."""
    if hasattr(X, "columns"):  # of pandas or polars
        for place, name in enumerate(X.columns):
            column = X.iloc[:, place] if hasattr(X, "iloc") else X[name]
            yield name, np.asarray(column, dtype=object)
        return
    values = np.asarray(X, dtype=object)
    if values.ndim == 2:
        yield from enumerate(values.T)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
