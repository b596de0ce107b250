r"""Base class of the classifiers: a class for each row, and its probability.

Probabilities follow from scores by one temperature T:

.. math:: p_c(x) = exp(T s_c(x)) / \sum_b exp(T s_b(x))

T maximizes the likelihood of the labels given the leave-one-out scores. One number
keeps the order of the classes, and is all that a few labels can support. The weight of
one more row is spread over all classes, so that T stays finite where every
leave-one-out prediction is right. The only row of a class does not count: without its
label the class is unknown, which says nothing about other rows. If the rows that count
are of one class, they cannot show how well classes are told apart. Then T is at most
that at which scores 1 and 0 have the probabilities of a right row with this doubt.

Where scores do not suit a softmax, the likelihood may leave the mean confidence m far
from the leave-one-out accuracy a. So the likelihood of that accuracy,

.. math:: l / 50 \cdot l \, (a \log m + (1 - a) \log(1 - m))

is added. The accuracy is known to about 1 / sqrt(l), so that the first term decides
with few labels, and with many the mean confidence is the accuracy. Labels of unequal
weight count as l = (sum of w)^2 / (sum of w^2) labels of equal weight.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from halfmoon._estimators.base import Estimator
from halfmoon._estimators.explanations import Explanation
from halfmoon._labeled_scores import labeled_score
from halfmoon._labels import class_codes, is_missing
from halfmoon._partitions.estimator_methods import answers_by_partition
from halfmoon._rows import Array, Indices, Rows
from halfmoon.losses import Hinge

__all__ = [
    "ByScores",
    "Classifier",
    "fitted_temperature",
    "loo_class_probabilities",
    "probabilities",
    "probabilities_of_scores",
    "scores_by_class",
]

LOG_TEMPERATURES = (-7.0, 7.0)  # from certainly uniform to certainly one class
MATCHED_LABELS = 50  # with so many labels, both terms count about the same


class ByScores(ClassifierMixin):
    """Predictions of a classifier: the class of the largest score."""

    classes_: NDArray[Any]

    score = labeled_score(ClassifierMixin)

    @abstractmethod
    def _scores(self, X: Rows) -> Array:
        """Scores at rows, (b,) or (b, 1) for two classes, else (b, n_classes)."""

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
        scores = self._scores(cast(Any, self)._table(X, reset=False))
        return scores[:, 0] if scores.shape[1:] == (1,) else scores

    @answers_by_partition
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row, shape (b,)."""
        check_is_fitted(self)
        scores = scores_by_class(self.decision_function(X))
        return self.classes_[scores.argmax(axis=1)]


class Classifier(ByScores, Estimator):
    """Base class of the classifiers.

    The targets of two classes are -1 and 1 in one column; more classes have a column
    each, with 1 for the class of the row and else 0.
    """

    _codes: NDArray[np.intp]  # the class of each labeled row

    def _fit_labels(self, X: Rows, labels: NDArray[Any], w: Array) -> None:
        self.classes_, codes = class_codes(labels, self.unlabeled)
        self._fit_rows(X, self._indicators(codes), w)
        self._codes = codes[self.labeled_]

    def _indicators(self, codes: NDArray[np.intp]) -> Array:
        """Return the targets of class codes, NaN where the code is -1."""
        if len(self.classes_) == 2:
            return np.where(codes < 0, np.nan, np.where(codes == 1, 1.0, -1.0))
        other = -1.0 if isinstance(self._loss, Hinge) else 0.0
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
    def predict_proba(self, X: Any) -> Array:
        """Return the class probabilities, calibrated on leave-one-out scores.

        Returns
        -------
        ndarray of shape (b, n_classes)
            Each row sums to 1.
        """
        check_is_fitted(self)
        return probabilities_of_scores(self, self.decision_function(X))

    @answers_by_partition
    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of the class probabilities, (b, n_classes)."""
        return np.log(self.predict_proba(X))

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

    def _scores(self, X: Rows) -> Array:
        return self.solution_.predict(X)

    def _explain(self, X: Rows, answers: NDArray[Any], rows: Indices) -> Explanation:
        self._as_targets(answers.astype(object))  # refuses other labels
        return Explanation.of(
            self.solution_,
            X,
            answers,
            np.searchsorted(self.classes_, answers),
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


def loo_class_probabilities(
    classifier: Any,
) -> tuple[NDArray[np.intp], Array, NDArray[np.intp]]:
    """Return the held-out class probabilities of the labeled rows that have some.

    They are positions among the labeled rows, (m,), p, (m, C), and class codes, (m,).
    """
    held = classifier._held_out()
    known = np.isfinite(held.values).all(axis=1)
    rows = np.arange(len(classifier.labeled_))[held.rows][known]
    p = probabilities_of_scores(classifier, held.values[known])
    return rows, p, classifier._codes[rows]


def probabilities_of_scores(classifier: Any, scores: Array) -> Array:
    """Return the class probabilities of scores, shape (b, C)."""
    return probabilities(scores_by_class(scores), classifier.temperature_)


def scores_by_class(scores: Array) -> Array:
    """Return scores (b, C), also from (b,) or (b, 1) for the second of two classes."""
    scores = scores[:, None] if scores.ndim == 1 else scores  # there may be no rows
    return np.hstack([-scores, scores]) if scores.shape[1] == 1 else scores


def probabilities(
    scores: Array,  # (b, C)
    temperature: float,
) -> Array:
    """Return the softmax of temperature times scores; each row sums to 1.

    Examples
    --------
    >>> probabilities(np.array([[0.0, 0.0], [1e300, -1e300]]), 2.0).round(3)
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    with np.errstate(over="ignore"):  # -inf gives the same as -700
        below = temperature * (scores - scores.max(axis=1, keepdims=True))
    return np.asarray(softmax(np.maximum(below, -700.0), axis=1))


def fitted_temperature(
    scores: Array,  # (l, C)
    codes: NDArray[np.intp],  # (l,)
    w: Array,  # (l,)
) -> float:
    """Return the temperature that suits the labels and the accuracy.

    Rows with a leave-one-out score that is not finite do not count, nor does the only
    row of a class. Without any other row, T is 1.
    """
    several = np.bincount(codes, minlength=scores.shape[1]) > 1
    known = np.isfinite(scores).all(axis=1) & several[codes]
    if not known.any():
        return 1.0
    scores, codes = scores[known], codes[known]
    w = w[known] * (w[known].sum() / (w[known] @ w[known]))
    l = w.sum()  # so many labels of equal weight tell as much
    scores = scores - scores.max(axis=1, keepdims=True)
    doubt = 1.0 / (l + 1.0)
    target = np.full(scores.shape, doubt / scores.shape[1])
    target[np.arange(len(codes)), codes] += 1.0 - doubt
    best = scores.argmax(axis=1)
    accuracy = float(np.average(target[np.arange(len(codes)), best], weights=w))
    strength = l**2 / MATCHED_LABELS

    def loss(log_temperature: float) -> float:
        log_p = log_softmax(np.exp(log_temperature) * scores, axis=1)
        m = float(np.average(np.exp(log_p.max(axis=1)), weights=w))
        match = accuracy * np.log(m) + (1 - accuracy) * np.log(max(1 - m, 1e-300))
        return -float(np.einsum("i,ic,ic->", w, target, log_p)) - strength * match

    found = minimize_scalar(loss, bounds=LOG_TEMPERATURES, method="bounded")
    temperature = float(np.exp(found.x))
    if (codes == codes[0]).all():
        temperature = min(temperature, float(np.log(target.max() / target.min())))
    return temperature
