"""Rows from the user, checked by scikit-learn, with errors that name the way on.

An estimator takes numbers only. Text and missing cells are for a pipeline, or for
`halfmoon.fill`, and the errors say so in one line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from halfmoon.labels import (
    is_missing,
    known_labels,
    label_array,
    labeled_rows,
    no_labels_to_score,
)
from halfmoon.partitions.table import is_in_partitions
from halfmoon.rows import Rows

__all__ = ["checked_rows", "labeled_part", "take_rows", "text_in_column"]

SEEN = 10_000  # cells of a column that are looked at to find text in it


def checked_rows(estimator: Any, X: Any, **options: Any) -> Rows:
    """Rows as `validate_data` gives them; text and missing cells refused in a line.

    Parameters
    ----------
    estimator : BaseEstimator
    X : array-like, data frame or sparse matrix of shape (n, d)
    **options
        Of `validate_data`.
    """
    if is_in_partitions(X):
        raise TypeError(
            f"X is a {type(X).__name__} of Dask, and this needs the rows themselves. "
            f"Give a few rows, such as X.compute() of some of them."
        )
    try:
        return validate_data(estimator, X, **options)
    except ValueError as error:
        said = _plainer(estimator, X, str(error))
        if said is None:
            raise
        raise ValueError(said) from None


def labeled_part(
    X: Any, y: Any, sample_weight: Any = None, unlabeled: Any = None
) -> tuple[Any, NDArray[Any], NDArray[Any] | None]:
    """The labeled rows of a table, their labels and their weights.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n, d)
    y : array-like of shape (n,) or (n, t)
        Where a labeled row lacks some of its outputs, these are NaN in the answer.
    sample_weight : array-like of shape (n,) or None
    unlabeled : object or None
        A value that counts as missing beside None, NaN and ``pd.NA``.
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
    return rows, known_labels(y, labeled), w


def take_rows(X: Any, chosen: NDArray[np.bool_]) -> Any:
    """The chosen rows of a table of any make; the table itself if it is all of them."""
    if chosen.all():
        return X
    rows = np.flatnonzero(chosen)
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if isinstance(X, (list, tuple)):
        return [X[row] for row in rows]
    if hasattr(X, "tocsr"):
        X = X.tocsr()  # other sparse formats may have no rows
    return X[rows]


def text_in_column(estimator: Any, column: Any) -> str:
    """What to do about a column of text."""
    return f"X has text in column {column!r}. Use {_way(estimator)}."


def _way(estimator: Any) -> str:
    name = type(estimator).__name__
    way = f"skrub.tabular_pipeline({name}())"
    if hasattr(estimator, "transform"):
        way = f"make_pipeline(skrub.TableVectorizer(), {name}())"
    return f"halfmoon.fill(df, target), or a pipeline: {way}"


def _plainer(estimator: Any, X: Any, error: str) -> str | None:
    """What is wrong with X and what to do, if it is text or missing cells."""
    if sp.issparse(X):
        return None
    way = _way(estimator)
    if "could not convert string" in error:
        for column, values in _columns(X):
            if any(isinstance(v, str) and not _is_number(v) for v in values[:SEEN]):
                return text_in_column(estimator, column)
        return f"X has text in it. Use {way}."
    if "contains NaN" in error:
        for column, values in _columns(X):
            missing = int(is_missing(values).sum())
            if missing:
                return (
                    f"Input X contains NaN: {missing:,} missing cell"
                    f"{'s' * (missing != 1)} in column {column!r}. Use {way}."
                )
    return None


def _columns(X: Any) -> Iterator[tuple[Any, NDArray[Any]]]:
    """Names, or numbers, and values of the columns of a table of any make."""
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
