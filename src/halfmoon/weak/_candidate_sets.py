r"""Classification with candidate sets.

.. math:: min_g \; 1/W \sum_i w_i \sum_{y \in S_i} p_{iy} |T_y - g(x_i)|^2
          + alpha |g|_Q^2

over the rows whose set S_i does not contain all classes; the others are unlabeled. T_y
is -1 or 1 for two classes, else a row of the identity. The probabilities p are found
along with g (`halfmoon.weak._soft_labels`). With one class in each set they are 1, so
that this is `ConditionalClassifier`, or `LaplacianClassifier` with an energy.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from halfmoon._estimators.classification import Classifier
from halfmoon._estimators.fit_problem import HeldOut
from halfmoon._estimators.parameter_docs import with_parameter_docs
from halfmoon._labels import as_weights, no_labels_to_score
from halfmoon._partitions.estimator_methods import scores_by_partition
from halfmoon._rows import Array, Rows
from halfmoon.weak._disambiguation import Embedding, best_candidates, fit_sets
from halfmoon.weak._soft_labels import chance_corrected_errors, soft_labels
from halfmoon.weak._weak_estimator import (
    PARAMETERS,
    SHARED_ATTRIBUTES,
    WeakEstimator,
)
from halfmoon.weak._weak_labels import as_candidates, candidates_among

__all__ = ["CandidateSetClassifier"]

SET_PARAMETERS = PARAMETERS | {
    "separator": """
        str. Separates the classes where y is text, as in "a|b".""",
}


@partial(
    with_parameter_docs,
    parameters=SET_PARAMETERS,
    attributes={
        "classes_": "ndarray of shape (n_classes,). The classes.",
        "disambiguated_": """
            ndarray of shape (n,). The class found for each row, one of its
            candidates.""",
        "history_": """
            list of float. The objective after each step of the best start; it never
            increases.""",
        "objectives_": "ndarray of shape (n_starts,). The objective of each start.",
        "fold_losses_": """
            ndarray or None. Share of held-out rows with a prediction outside of their
            set, plus how often the predicted classes are false candidates, for each
            alpha, or each kernel and alpha, where there were several.""",
        **SHARED_ATTRIBUTES,
    },
)
@dataclass(eq=False, repr=False)
class CandidateSetClassifier(Classifier, WeakEstimator):
    """Classification from sets of candidate classes, one of which is the true one.

    See `halfmoon.weak._candidate_sets` for the fit, and `halfmoon.weak._soft_labels`
    for the labels. O(l^3) time for l rows with a set.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]])
    >>> y = ["left", "left|right", "left", "right", "left|right", None]
    >>> model = CandidateSetClassifier(random_state=0).fit(X, y)
    >>> model.disambiguated_.tolist()
    ['left', 'left', 'left', 'right', 'right', 'right']
    """

    separator: str = "|"
    n_starts: int = field(default=5, kw_only=True)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the labels within their sets and fit them.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            All rows.
        y : boolean matrix of shape (n, n_classes), or n sets, texts or classes
            The candidates of each row. With a matrix, `classes_` are the column
            numbers. A row with all classes, or a missing value, is unlabeled.
        sample_weight : array-like of shape (n,) or None
            Weights of the labels. A row of weight 0 is dropped.
        """
        return super().fit(X, y, sample_weight)

    def _read_labels(self, y: Any, X: Rows) -> NDArray[Any]:
        self.classes_, sets = as_candidates(y, X.shape[0], self.separator)
        if len(self.classes_) < 2:
            raise ValueError("All candidates are of one class; two are needed.")
        return sets

    def _fit_labels(self, X: Rows, labels: NDArray[Any], w: Array) -> None:
        within = self._within(labels)
        self._open = within.open
        self._codes = fit_sets(self, X, within, w, soft_labels, chance_corrected_errors)

    def _label_all(self, X: Rows, labels: NDArray[Any]) -> None:
        values = _columns(self.solution_.predict(X))
        codes = best_candidates(values, self._within(labels))
        codes[self._labeled_places] = self._codes
        self.disambiguated_ = self.classes_[codes]

    def _within(self, sets: NDArray[Any]) -> Embedding:
        T = self._indicators(np.arange(len(self.classes_)))
        return Embedding(_columns(T), sets)  # (C, t)

    @scores_by_partition
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy for plain labels; for sets, the share that holds them.

        Unlabeled rows do not count.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        y : as in `fit`
        sample_weight : array-like of shape (n,) or None
        """
        found = self.predict(X)
        sets = candidates_among(y, len(found), self.classes_, self.separator)
        if sets is None:
            return super().score(X, y, sample_weight)
        w = as_weights(sample_weight, len(found))
        known = ~sets.all(axis=1) & (w > 0)
        if not known.any():
            raise no_labels_to_score(len(found))
        inside = sets[np.arange(len(found)), np.searchsorted(self.classes_, found)]
        return float(np.average(inside[known], weights=w[known]))

    def _held_out(self) -> HeldOut:
        """Return held-out values; by folds where a label was found from its own row."""
        held_out = super()._held_out()
        if self._unseen is None or not self._open:
            return held_out
        return held_out._replace(values=self._unseen[held_out.rows])


def _columns(values: Array) -> Array:
    return values.reshape(len(values), -1)
