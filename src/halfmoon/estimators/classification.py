"""Classifiers: one class for each row, and how likely each is."""

from __future__ import annotations

import time
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from halfmoon.estimators.base import Estimator
from halfmoon.estimators.calibration import fitted_temperature, probabilities
from halfmoon.estimators.explanations import Explanation
from halfmoon.estimators.scores import ScoresLabeledRows
from halfmoon.estimators.targets import as_labels, class_codes
from halfmoon.labels import is_missing
from halfmoon.losses import Hinge
from halfmoon.partitions.methods import answers_by_partition, fits_by_partition
from halfmoon.rows import Array, Indices, Rows, as_weights

__all__ = ["Classifier"]


class Classifier(ScoresLabeledRows, ClassifierMixin, Estimator):
    """An estimator of classes: a value for each class, or one for two of them.

    Two classes are -1 and 1; more are 0 or 1 in a column for each.
    """

    classes_: NDArray[Any]

    @fits_by_partition
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from all rows of X and from the labels that y has.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            All rows, labeled or not; of NumPy, pandas, or Dask, whose rows stay where
            they are.
        y : array-like of shape (n,)
            Classes: numbers, strings or booleans; NaN, None or pd.NA where a row has
            none.
        sample_weight : array-like of shape (n,) or None
            Weights of the labels. A row of weight 0 is left out altogether.
        """
        start = time.monotonic()
        X = self._table(X, reset=True)
        labels, w = as_labels(y, X.shape[0]), as_weights(sample_weight, X.shape[0])
        X, labels, w = self._with_weight(X, labels, w)
        self.classes_, codes = class_codes(labels, self.unlabeled)
        with self._stream.handed_down():
            self._fit_rows(X, self._indicators(codes), w)
            self._codes = codes[self.labeled_]
            self._calibrate(self._codes)
        self._tell(start)
        return self

    def _indicators(self, codes: NDArray[np.intp]) -> Array:
        """Targets of the classes, NaN where the code is -1."""
        if len(self.classes_) == 2:
            return np.where(codes < 0, np.nan, np.where(codes == 1, 1.0, -1.0))
        by_sign = isinstance(getattr(self, "loss", None), Hinge) or (
            getattr(self, "loss", None) == "hinge"
        )
        low = -1.0 if by_sign else 0.0
        targets = np.where(codes[:, None] == np.arange(len(self.classes_)), 1.0, low)
        return np.where(codes[:, None] < 0, np.nan, targets)

    def _as_targets(self, labels: NDArray[Any]) -> Array:
        """Targets of labels of the classes that were fitted."""
        known = ~is_missing(labels, self.unlabeled)
        codes = np.full(len(labels), -1, dtype=np.intp)
        strange = ~np.isin(labels[known], self.classes_)
        if strange.any():
            raise ValueError(
                f"y has a label {labels[known][strange][0]!r} that was not fitted; the "
                f"classes are {list(self.classes_)!r}."
            )
        codes[known] = np.searchsorted(self.classes_, labels[known])
        return self._indicators(codes)

    @answers_by_partition
    def decision_function(self, X: Any) -> Array:
        """Values of the fitted function: of each class, or of the second of two.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (b, d)

        Returns
        -------
        ndarray of shape (b,) or (b, n_classes)
        """
        check_is_fitted(self)
        return self.solution_.predict(self._table(X, reset=False))

    @answers_by_partition
    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row, shape (b,)."""
        check_is_fitted(self)
        scores = _by_class(self.decision_function(X))
        return self.classes_[scores.argmax(axis=1)]

    @answers_by_partition
    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes, calibrated on left-out rows.

        Returns
        -------
        ndarray of shape (b, n_classes)
            Each row sums to 1.
        """
        check_is_fitted(self)
        return probabilities(_by_class(self.decision_function(X)), self.temperature_)

    def _explained(self, X: Rows, answers: NDArray[Any], rows: Indices) -> Explanation:
        self._as_targets(answers.astype(object))  # refuses what is no class
        codes, labels = np.searchsorted(self.classes_, answers), self._codes
        return Explanation.of(
            self.solution_, X, answers, codes, rows, self.classes_[labels]
        )

    def _calibrate(self, codes: NDArray[np.intp]) -> None:
        """Temperature and accuracy of left-out scores."""
        rows, _, values, w = self._held_out()
        scores, codes = _by_class(values), codes[rows]
        self.temperature_ = fitted_temperature(scores, codes, w)
        right = np.isfinite(scores).all(axis=1) & (scores.argmax(axis=1) == codes)
        self.loo_score_ = float(np.average(right, weights=w))

    def _quality(self) -> str:
        return f"leave-one-out accuracy {100 * self.loo_score_:.0f} %"


def _by_class(scores: Array) -> Array:
    """Scores with a column for each class, shape (b, n_classes)."""
    scores = scores.reshape(len(scores), -1)
    return np.hstack([-scores, scores]) if scores.shape[1] == 1 else scores
