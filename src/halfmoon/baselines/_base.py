"""Base classes of the baselines that are not special cases of `Problem`.

The other baselines are estimators of `halfmoon._estimators` with some parameters fixed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin

from halfmoon._estimators.base import labeled_places
from halfmoon._estimators.classification import ByScores
from halfmoon._estimators.output_groups import groups_of_outputs
from halfmoon._estimators.parameters import RULES
from halfmoon._labeled_scores import labeled_score
from halfmoon._labels import (
    as_labels,
    class_codes,
    labeled_rows,
    no_labels,
    numeric_targets,
)
from halfmoon._partitions.estimator_methods import (
    fit_by_partition,
)
from halfmoon._rows import (
    Array,
    Indices,
    Rows,
    checked_rows,
    is_in_partitions,
    refuse_extreme,
)
from halfmoon._sklearn_conventions import Rule, check_parameters

__all__ = ["Baseline", "BaselineClassifier", "BaselineRegressor"]


class Baseline(BaseEstimator, ABC):
    """Base class of estimators that take dense or CSR rows."""

    unlabeled: Any

    _parameter_rules: ClassVar[dict[str, Rule]] = RULES

    labeled_: Indices
    _weighted_rows: Indices | None = None  # of a Dask table, the rows that were used
    _n_rows: int | None = None
    _labeled_places = property(labeled_places)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to all rows of X and the labels in y.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            All rows, labeled and unlabeled.
        y : array-like of shape (n,) or (n, t)
            Labels; NaN, None or pd.NA for an unlabeled row. A regressor may have
            several outputs; each learns from the rows that have it.
        """
        if is_in_partitions(X):
            fit_by_partition(Baseline.fit, self, X, y)
            return self
        X = self._table(X, reset=True)
        self._n_rows, self._weighted_rows = X.shape[0], None
        self._fit_labels(X, as_labels(y, X.shape[0]))
        return self

    @abstractmethod
    def _fit_labels(self, X: Rows, labels: NDArray[Any]) -> None:
        """Fit to checked rows and their labels."""

    def _table(self, X: Any, *, reset: bool) -> Rows:
        """Return the rows as a float64 array or CSR; `reset` also checks parameters."""
        if reset:
            check_parameters(self, self._parameter_rules)
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


class BaselineRegressor(RegressorMixin, Baseline):
    """Base class of regressors with one or several targets."""

    score = labeled_score(RegressorMixin)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _fit_labels(self, X: Rows, labels: NDArray[Any]) -> None:
        targets = numeric_targets(labels, self.unlabeled)
        groups_of_outputs(targets)  # raises if an output has no label
        labeled = np.flatnonzero(labeled_rows(targets))
        if labeled.size == 0:
            raise no_labels(X.shape[0])
        self.labeled_ = labeled
        self._fit_targets(X, targets, labeled)

    @abstractmethod
    def _fit_targets(self, X: Rows, targets: Array, labeled: Indices) -> None:
        """Fit to checked rows and targets of the shape of y, and the labeled rows."""


class BaselineClassifier(ByScores, Baseline):
    """Base class of classifiers."""

    def _fit_labels(self, X: Rows, labels: NDArray[Any]) -> None:
        self.classes_, codes = class_codes(labels, self.unlabeled)
        self.labeled_ = np.flatnonzero(codes >= 0)
        self._fit_classes(X, codes)

    @abstractmethod
    def _fit_classes(self, X: Rows, codes: Indices) -> None:
        """Fit to checked rows and class codes, -1 for unlabeled rows."""
