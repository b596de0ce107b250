"""Errors of an estimator on labels that are hidden from it.

Fits by ridge, and averages of such, predict hidden labels in closed form, with the lam
and the weights of the fit to all labels. Other estimators are refitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from halfmoon._estimators.base import Estimator
from halfmoon._estimators.classification import scores_by_class
from halfmoon._labels import as_labels, is_missing
from halfmoon._rows import Array, Indices
from halfmoon._selection.average import Average
from halfmoon.queries._pool import last_step

__all__ = ["HiddenLabels"]


@dataclass(frozen=True)
class HiddenLabels:
    """The labels of a table, and the estimator that predicts them."""

    estimator: Any  # an estimator of halfmoon, fitted to the table; or any other
    X: Any  # the rows that reach the estimator
    labels: NDArray[Any]  # (n,), missing in unlabeled rows
    places: Indices  # (l,), row numbers of the labeled rows

    @classmethod
    def of(cls, estimator: Any, X: Any, y: Any) -> HiddenLabels:
        """Check the arguments; fit a clone unless the estimator is fitted to y."""
        labels = as_labels(y, X.shape[0] if hasattr(X, "shape") else len(X))
        if labels.ndim > 1 and labels.shape[1] > 1:
            raise ValueError(
                f"There are {labels.shape[1]} targets; one is needed. Give one column "
                f"of y."
            )
        labels = labels.ravel()
        last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
        places = np.flatnonzero(~is_missing(labels, getattr(last, "unlabeled", None)))
        if not isinstance(last, Estimator):
            return cls(estimator, X, labels, places)
        try:
            model, table = last_step(estimator, X)
        except NotFittedError:
            model, table = None, None
        if model is None or not _fitted_to(model, labels, places):
            model, table = last_step(clone(estimator).fit(X, y), X)
        return replace(cls.of_fitted(model), X=table)

    @classmethod
    def of_fitted(cls, estimator: Any) -> HiddenLabels:
        """Return the labels that an estimator of halfmoon was fitted to."""
        places = estimator._labeled_places
        labels = np.full(estimator._n_rows, np.nan, dtype=object)
        if is_classifier(estimator):
            labels[places] = estimator.classes_[estimator._codes]
        else:
            labels[places] = _learned(estimator)[:, 0]
        return cls(estimator, None, labels, places)

    @property
    def of_classes(self) -> bool:
        """Whether the labels are classes."""
        return bool(is_classifier(self.estimator))

    @property
    def given(self) -> NDArray[Any]:
        """The labels, shape (l,); classes as codes."""
        given = self.labels[self.places]
        if not self.of_classes:
            return given.astype(np.float64)
        return np.unique(given.astype(str), return_inverse=True)[1]

    @property
    def tested(self) -> NDArray[np.bool_]:
        """Mask of the labels that can be tested: not the only one of a class."""
        given = self.given
        if not self.of_classes:
            return np.ones(len(given), dtype=bool)
        return np.bincount(given)[given] > 1

    @property
    def in_closed_form(self) -> bool:
        """Whether hidden labels are predicted without a refit."""
        solution = getattr(self.estimator, "solution_", None)
        linear = getattr(solution, "solve", True) is not None
        return hasattr(solution, "leave_sets_out") and linear

    def loo_errors(self) -> Array | None:
        """Return leave-one-out errors that include the choices of the fit.

        Of the labels that the estimator has held out; None if there are none.
        """
        if not isinstance(self.estimator, Estimator):
            return None
        held = self.estimator._held_out()
        rows = np.arange(len(self.places))[held.rows]
        errors = self._errors(held.values, rows)
        return errors[self.tested[rows] & np.isfinite(errors)]

    def errors_of(self, sets: Sequence[Indices]) -> list[Array]:
        """Return the errors of sets of labels, each predicted from all others.

        1 or 0 for classes, the absolute error for numbers; NaN if it is unknown.
        """
        if not self.in_closed_form:
            return [self._refitted(some) for some in sets]
        values = self.estimator.solution_.leave_sets_out(sets)
        pairs = zip(values, sets, strict=True)
        return [self._errors(each, some) for each, some in pairs]

    def _errors(self, values: Array, some: Indices) -> Array:
        """Return the errors of values of the fitted function."""
        if not self.of_classes:
            return np.abs(self.given[some] - values[:, 0])
        scores = scores_by_class(values)
        wrong = (scores.argmax(axis=1) != self.estimator._codes[some]).astype(float)
        return np.where(np.isfinite(scores).all(axis=1), wrong, np.nan)

    def _refitted(self, some: Indices) -> Array:
        shown = np.delete(self.places, some)
        hidden = self.places[some]
        X = self.X
        if isinstance(self.estimator, Estimator):
            labels = self.labels.astype(object)
            labels[hidden] = None
        else:
            labels, X = self.labels[shown], _safe_indexing(X, shown)
        try:
            model = clone(self.estimator).fit(X, labels)
        except ValueError:  # for example, only one class is left
            return np.full(len(some), np.nan)
        predicted = model.predict(_safe_indexing(self.X, hidden))
        if self.of_classes:
            wrong = predicted.astype(str) != self.labels[hidden].astype(str)
            return wrong.astype(float)
        return np.abs(predicted.astype(np.float64).ravel() - self.given[some])


def _fitted_to(model: Any, labels: NDArray[Any], places: Indices) -> bool:
    """Return whether the model was fitted to these labels, and to no fewer."""
    if model._weighted_rows is not None:  # labels of weight 0 do not count
        places = places[np.isin(places, model._weighted_rows)]
    if model._n_rows != len(labels) or not np.array_equal(
        np.sort(model._labeled_places), places
    ):
        return False
    given = labels[model._labeled_places]
    if is_classifier(model):
        fitted = model.classes_[model._codes]
        return bool((fitted.astype(str) == given.astype(str)).all())
    y = _learned(model)
    if hasattr(model, "_given_targets"):  # the search moves outlying labels
        y = model._given_targets()
    return bool(np.array_equal(y[:, 0], given.astype(np.float64)))


def _learned(model: Any) -> Array:  # (l, t)
    """Return the targets that a regressor learned from."""
    solution = model.solution_
    return solution.y if isinstance(solution, Average) else solution.posed.y
