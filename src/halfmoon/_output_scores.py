"""Scores of several outputs with missing values: the mean of the outputs' scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin

__all__ = ["has_gaps", "score_of_outputs"]


def has_gaps(labels: NDArray[Any]) -> bool:
    """Return whether some of several outputs are missing (NaN)."""
    several = labels.ndim == 2 and labels.dtype.kind == "f"
    return several and bool(np.isnan(labels).any())


class _Output(RegressorMixin, BaseEstimator):
    """A regressor with fixed predictions, for scorers that need a regressor."""

    def __init__(self, predicted: Any = None) -> None:
        self.predicted = predicted

    def fit(self, X: Any, y: Any) -> _Output:
        return self

    def predict(self, X: Any) -> Any:
        return self.predicted


def score_of_outputs(
    score: Callable[..., float],
    estimator: Any,
    X: Any,
    y: NDArray[np.float64],  # (n, t)
    w: NDArray[Any] | None = None,
) -> float:
    """Return the mean score of the outputs, each over the rows that have it.

    Parameters
    ----------
    score : callable
        ``score(estimator, X, y, sample_weight=w)`` of one output.
    estimator : regressor
    X : table of n rows
    y : ndarray of shape (n, t)
        NaN where a row lacks an output.
    w : ndarray of shape (n,) or None
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
