"""``score`` of an estimator, over the labeled rows only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.base import RegressorMixin

from halfmoon._output_scores import has_gaps, score_of_outputs
from halfmoon._partitions.estimator_methods import scores_by_partition
from halfmoon._validation import labeled_part

__all__ = ["labeled_score"]


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
