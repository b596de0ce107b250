"""Base class of the classifiers: a class for each row, and its probability."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from halfmoon._estimators.base import Estimator
from halfmoon._estimators.calibration import fitted_temperature
from halfmoon._estimators.explanations import Explanation
from halfmoon._estimators.loo_probabilities import (
    probabilities_of_scores,
    scores_by_class,
)
from halfmoon._labeled_scores import labeled_score
from halfmoon._labels import class_codes, is_missing
from halfmoon._partitions.estimator_methods import answers_by_partition
from halfmoon._rows import Array, Indices, Rows
from halfmoon.losses import Hinge, as_loss

__all__ = ["Classifier"]


class Classifier(ClassifierMixin, Estimator):
    """Base class of the classifiers.

    The targets of two classes are -1 and 1 in one column; more classes have a column
    each, with 1 for the class of the row and else 0.
    """

    classes_: NDArray[Any]
    _codes: NDArray[np.intp]  # the class of each labeled row

    def _fit_labels(self, X: Rows, labels: NDArray[Any], w: Array) -> None:
        self.classes_, codes = class_codes(labels, self.unlabeled)
        self._fit_rows(X, self._indicators(codes), w)
        self._codes = codes[self.labeled_]

    def _indicators(self, codes: NDArray[np.intp]) -> Array:
        """Return the targets of class codes, NaN where the code is -1."""
        if len(self.classes_) == 2:
            return np.where(codes < 0, np.nan, np.where(codes == 1, 1.0, -1.0))
        other = -1.0 if isinstance(as_loss(self.loss), Hinge) else 0.0
        targets = np.where(codes[:, None] == np.arange(len(self.classes_)), 1.0, other)
        return np.where(codes[:, None] < 0, np.nan, targets)

    def _as_targets(self, labels: NDArray[Any]) -> Array:
        """Return the targets of labels; refuse classes that were not fitted."""
        known = ~is_missing(labels, self.unlabeled)
        codes = np.full(len(labels), -1, dtype=np.intp)
        unknown = ~np.isin(labels[known], self.classes_)
        if unknown.any():
            raise ValueError(
                f"y has a label {labels[known][unknown][0]!r} that was not fitted; the "
                f"classes are {list(self.classes_)!r}."
            )
        codes[known] = np.searchsorted(self.classes_, labels[known])
        return self._indicators(codes)

    @answers_by_partition
    def decision_function(self, X: Any) -> Array:
        """Return the scores of the classes, or of the second of two classes.

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
        """Return the class of each row, shape (b,)."""
        check_is_fitted(self)
        scores = scores_by_class(self.decision_function(X))
        return self.classes_[scores.argmax(axis=1)]

    @answers_by_partition
    def predict_proba(self, X: Any) -> Array:
        """Return the class probabilities, calibrated on leave-one-out scores.

        Returns
        -------
        ndarray of shape (b, n_classes)
            Each row sums to 1.
        """
        check_is_fitted(self)
        return probabilities_of_scores(self, self.decision_function(X))

    def leave_one_out_predictions(self) -> Array:
        """Return the class probabilities of the labeled rows, by leave-one-out.

        Each row is predicted from all labels but its own, at the alpha and the
        calibration of the fit to all of them.

        Returns
        -------
        ndarray of shape (n_labeled, n_classes)
            In the order of ``labeled_``. NaN where the other labels do not determine
            the prediction.
        """
        check_is_fitted(self)
        p = np.full((self.n_labeled_, len(self.classes_)), np.nan)
        scores = self._loo_values()
        known = np.isfinite(scores).all(axis=1)
        p[known] = probabilities_of_scores(self, scores[known])
        return p

    score = labeled_score(ClassifierMixin)

    def _explain(self, X: Rows, answers: NDArray[Any], rows: Indices) -> Explanation:
        self._as_targets(answers.astype(object))  # refuses other labels
        return Explanation.of(
            *(self.solution_, X, answers, np.searchsorted(self.classes_, answers)),
            rows,
            self.classes_[self._codes],
        )

    def _score_and_calibrate(self) -> None:
        """Set the leave-one-out accuracy and the temperature of the probabilities."""
        rows, _, values, w = self._held_out()
        scores, codes = scores_by_class(values), self._codes[rows]
        self.temperature_ = fitted_temperature(scores, codes, w)
        right = np.isfinite(scores).all(axis=1) & (scores.argmax(axis=1) == codes)
        self.loo_score_ = float(np.average(right, weights=w))

    def _quality(self) -> str:
        return f"leave-one-out accuracy {100 * self.loo_score_:.0f} %"
