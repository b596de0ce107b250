"""Regressors: numbers, one or several for each row."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from halfmoon.estimators.base import Estimator, HeldOut
from halfmoon.estimators.scores import ScoresLabeledRows
from halfmoon.estimators.targets import as_labels, numeric_targets
from halfmoon.rows import Array, as_weights

__all__ = ["Regressor"]


class Regressor(ScoresLabeledRows, RegressorMixin, Estimator):
    """An estimator of numbers, one or several for each row."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from all rows of X and from the labels that y has.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            All rows, labeled or not.
        y : array-like of shape (n,) or (n, t)
            Targets; NaN, None or pd.NA where a row has none.
        sample_weight : array-like of shape (n,) or None
            Weights of the labels. A row of weight 0 is left out altogether.
        """
        X = self._table(X, reset=True)
        labels, w = as_labels(y, X.shape[0]), as_weights(sample_weight, X.shape[0])
        X, labels, w = self._with_weight(X, labels, w)
        if getattr(self, "loss", "squared") == "hinge":
            raise ValueError("The hinge loss is for classes; use a classifier.")
        self._fit_rows(X, self._as_targets(labels), w)
        self._score()
        return self

    def _score(self) -> None:
        self.loo_score_ = _r2(self._held_out())

    def _as_targets(self, labels: NDArray[Any]) -> Array:
        return numeric_targets(labels, self.unlabeled)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Values at any rows, and how sure they are.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (b, d)
        return_std : bool
            Return the posterior standard deviation of the function too.

        Returns
        -------
        values : ndarray of shape (b,) or (b, t)
        std : ndarray of the same shape
            If `return_std`.
        """
        check_is_fitted(self)
        X = self._table(X, reset=False)
        values = self.solution_.predict(X)
        return (values, self.solution_.std(X)) if return_std else values


def _r2(held_out: HeldOut) -> float:
    """R^2 of left-out values, averaged over targets; NaN where it has no meaning."""
    _, y, values, w = held_out
    if len(y) < 2:
        return float("nan")
    w = w[:, None]
    spread = (w * (y - (w * y).sum(axis=0) / w.sum()) ** 2).sum(axis=0)
    lost = (w * (y - values) ** 2).sum(axis=0)
    # Equal targets have no spread to explain: 1 where they are met, else 0.
    r2 = np.where(lost > 0, 0.0, 1.0)
    np.divide(spread - lost, spread, out=r2, where=spread > 0)
    return float(r2.mean())
