"""``score`` of an estimator: over what has a label."""

from __future__ import annotations

from typing import Any, cast

from sklearn.base import RegressorMixin

from halfmoon.output_scores import has_gaps, score_of_outputs
from halfmoon.partitions.methods import scores_by_partition
from halfmoon.validation import labeled_part

__all__ = ["ScoresLabeledRows"]


class ScoresLabeledRows:
    """Makes ``score`` skip rows without a label; stands before scikit-learn's mixin."""

    unlabeled: Any

    @scores_by_partition
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, or R^2, of the predictions for the labeled rows.

        Rows without a label are left out: where y is missing, or is `unlabeled`. Where
        rows lack some of their outputs, it is the mean of the R^2 of each output over
        the rows that have it.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        y : array-like of shape (n,) or (n, t)
        sample_weight : array-like of shape (n,) or None
        """
        rows, labels, w = labeled_part(X, y, sample_weight, self.unlabeled)
        score = cast(Any, super()).score
        if has_gaps(labels):
            return score_of_outputs(RegressorMixin.score, self, rows, labels, w)
        return float(score(rows, labels, w))
