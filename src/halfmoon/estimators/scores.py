"""``score`` of an estimator: over the rows that have a label."""

from __future__ import annotations

from typing import Any, cast

from halfmoon.validation import labeled_part

__all__ = ["ScoresLabeledRows"]


class ScoresLabeledRows:
    """Makes ``score`` skip rows without a label; stands before scikit-learn's mixin."""

    unlabeled: Any

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, or R^2, of the predictions for the labeled rows.

        Rows without a label are left out: where y is missing, or is `unlabeled`.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        y : array-like of shape (n,) or (n, t)
        sample_weight : array-like of shape (n,) or None
        """
        rows, labels, w = labeled_part(X, y, sample_weight, self.unlabeled)
        return float(cast(Any, super()).score(rows, labels, w))
