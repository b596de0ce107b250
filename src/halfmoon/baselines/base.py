"""What the baselines share that are not points of the one problem: reading tables.

The others are the estimators of `halfmoon.estimators` with some of their parameters
fixed, and read tables as these do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from halfmoon.estimators.output_groups import groups_of_outputs
from halfmoon.estimators.scores import ScoresLabeledRows
from halfmoon.estimators.targets import as_labels, class_codes, numeric_targets
from halfmoon.labels import labeled_rows, no_labels
from halfmoon.partitions.methods import answers_by_partition
from halfmoon.rows import Array, Indices, Rows, refuse_extreme
from halfmoon.validation import checked_rows

__all__ = ["Baseline", "BaselineClassifier", "BaselineRegressor"]


class Baseline(BaseEstimator):
    """An estimator of dense or CSR rows."""

    unlabeled: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _table(self, X: Any, *, reset: bool) -> Rows:
        """The rows as a float64 array or CSR, checked."""
        X = checked_rows(
            self,
            X,
            accept_sparse="csr",
            dtype=np.float64,
            ensure_min_samples=2 if reset else 1,
            reset=reset,
        )
        refuse_extreme(X)
        return X


class BaselineRegressor(ScoresLabeledRows, RegressorMixin, Baseline):
    """A regressor of one target or of several."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _read(self, X: Any, y: Any) -> tuple[Rows, Array, Indices]:
        """The rows, their targets as y has them, and which rows have any of them."""
        X = self._table(X, reset=True)
        targets = numeric_targets(as_labels(y, X.shape[0]), self.unlabeled)
        groups_of_outputs(targets)  # refuses an output without a label
        chosen = np.flatnonzero(labeled_rows(targets))
        if chosen.size == 0:
            raise no_labels(X.shape[0])
        return X, targets, chosen


class BaselineClassifier(ScoresLabeledRows, ClassifierMixin, Baseline, ABC):
    """A classifier with a score for each class, or one for the second of two."""

    classes_: NDArray[Any]

    def _read(self, X: Any, y: Any) -> tuple[Rows, NDArray[np.intp]]:
        """The rows and the code of each row's class, -1 where it has none."""
        X = self._table(X, reset=True)
        labels = as_labels(y, X.shape[0])
        self.classes_, codes = class_codes(labels, self.unlabeled)
        return X, codes

    @abstractmethod
    def _scores(self, X: Rows) -> Array:
        """Scores at rows, shape (b, 1) for two classes, else (b, n_classes)."""

    @answers_by_partition
    def decision_function(self, X: Any) -> Array:
        """Scores of each class, or of the second of two, whose border is at 0.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (b, d)

        Returns
        -------
        ndarray of shape (b,) or (b, n_classes)
        """
        check_is_fitted(self)
        scores = self._scores(self._table(X, reset=False))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @answers_by_partition
    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row, shape (b,)."""
        scores = self.decision_function(X)
        best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[best]
