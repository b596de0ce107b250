"""Scores over the labeled rows only; also of outputs that some rows lack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin

from halfmoon._labels import (
    is_missing,
    label_array,
    labeled_rows,
    labels_of,
    no_labels_to_score,
)
from halfmoon._partitions.estimator_methods import scores_by_partition

__all__ = [
    "has_gaps",
    "labeled_part",
    "labeled_score",
    "score_of_outputs",
    "take_rows",
]


def labeled_score(mixin: Any) -> Callable[..., float]:
    """Return the ``score`` method of a scikit-learn mixin, for labeled rows only."""

    @scores_by_partition
    def score(self: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy, or R^2, of the predictions for the labeled rows.

        Unlabeled rows, where y is missing or equals `unlabeled`, do not count. Where
        rows lack some of their outputs, the score is the mean over outputs of the R^2
        on the rows that have the output.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        y : array-like of shape (n,) or (n, t)
        sample_weight : array-like of shape (n,) or None
        """
        rows, labels, w = labeled_part(X, y, sample_weight, self.unlabeled)
        if has_gaps(labels):
            return score_of_outputs(RegressorMixin.score, self, rows, labels, w)
        return float(mixin.score(self, rows, labels, w))

    return score


def labeled_part(
    X: Any, y: Any, sample_weight: Any = None, unlabeled: Any = None
) -> tuple[Any, NDArray[Any], NDArray[Any] | None]:
    """Return the labeled rows of a table, their labels and their weights.

    Missing outputs of a labeled row become NaN.
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


def has_gaps(labels: NDArray[Any]) -> bool:
    """Return whether some of several outputs are missing (NaN)."""
    several = labels.ndim == 2 and labels.dtype.kind == "f"
    return several and bool(np.isnan(labels).any())


def score_of_outputs(
    score: Callable[..., float],
    estimator: Any,
    X: Any,
    y: NDArray[np.float64],  # (n, t)
    w: NDArray[Any] | None = None,
) -> float:
    """Return the mean score of the outputs, each over the rows that have it.

    ``score(estimator, X, y, sample_weight=w)`` is the score of one output.
    """
    predicted, scores = estimator.predict(X), []
    for j, column in enumerate(y.T):
        known = ~np.isnan(column)
        if not known.any():
            raise ValueError(
                f"Output {j} has no label among the rows to score; at least one is "
                f"needed. Score more rows, or drop this output."
            )
        weights = {} if w is None else {"sample_weight": w[known]}
        rows = np.flatnonzero(known)[:, None]  # any table with this many rows
        model = _Output(predicted[known, j])
        scores.append(float(score(model, rows, column[known], **weights)))
    return float(np.mean(scores))


class _Output(RegressorMixin, BaseEstimator):
    """A regressor with fixed predictions, for scorers that need a regressor."""

    def __init__(self, predicted: Any = None) -> None:
        self.predicted = predicted

    def fit(self, X: Any, y: Any) -> _Output:
        return self

    def predict(self, X: Any) -> Any:
        return self.predicted
