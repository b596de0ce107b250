"""The pool: the rows to pick from, and the posterior of the estimator at them.

A table with as many rows as the fitted one is assumed to be the fitted table. Its
labeled rows are not picked, but they count as rows to predict. Any other table is a
pool of unlabeled rows. A pool that is too large for the estimator's `memory_limit` is
replaced by a random sample.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from halfmoon._estimators.classification import probabilities, scores_by_class
from halfmoon._memory import MEMORY_LIMIT, parse_bytes
from halfmoon._rows import Array, Indices, as_table
from halfmoon._selection.average import Average
from halfmoon._sklearn_conventions import as_generator
from halfmoon.kernels._length_scales import median_distance, squared_distances
from halfmoon.problem import Fit
from halfmoon.queries._pool_posterior import (
    Posterior,
    average_posterior,
    fit_posterior,
    scaled,
    surrogate_posterior,
)

__all__ = ["Pool", "last_step"]

COVARIANCE_SHARE = 1 / 4  # of the memory limit
COPY = 1e-3  # largest distance of nearly equal rows, relative to the median one


@dataclass(frozen=True)
class Pool:
    """Rows to pick from."""

    estimator: Any  # fitted; the last step of a pipeline
    X: Any  # (m, d), the rows of the pool
    places: Indices  # (m,), their row numbers in the given table
    free: NDArray[np.bool_]  # (m,), which of them may be picked
    n: int  # number of picks
    is_fitted: bool  # whether the table is the fitted one
    rng: np.random.Generator

    @classmethod
    def of(
        cls,
        estimator: Any,
        X: Any,
        n: int,
        labeled: Any = None,
        random_state: Any = None,
    ) -> Pool:
        """Check the arguments of a strategy; see `halfmoon.queries.maximin`."""
        estimator, X = last_step(estimator, X)
        if hasattr(estimator, "_labeled_places"):
            table = estimator._table(X, reset=False)
            is_fitted = estimator._n_rows == table.shape[0]
        else:
            table, is_fitted = as_table(X), False
        rows = table.shape[0]
        free = np.ones(rows, dtype=bool)
        if labeled is not None:
            free[_row_numbers(labeled, rows)] = False
        elif is_fitted:
            free[estimator._labeled_places] = False
        n, rng = _picks(n, free), as_generator(random_state)
        most = max(_most_rows(estimator), n)
        places = np.arange(rows)
        if rows > most:
            # Rows that may be picked come first, in random order.
            shuffled = rng.permutation(np.flatnonzero(free))
            places = np.sort(np.append(shuffled, np.flatnonzero(~free))[:most])
            table = table[places]
        return cls(estimator, table, places, free[places], n, is_fitted, rng)

    def posterior(self) -> Posterior:
        """Return the values and the covariance of the fitted function at the rows."""
        solution = getattr(self.estimator, "solution_", None)
        if isinstance(solution, Fit) and solution.by_ridge:
            places = self.places if self.is_fitted else None
            if getattr(self.estimator, "_weighted_rows", None) is not None:
                places = None  # the fit does not contain the rows of weight 0
            return fit_posterior(solution, self.X, places)
        if isinstance(solution, Average):
            posterior = average_posterior(solution, self.X)
            if posterior is not None:
                return posterior
        values = self.values()
        try:
            std = solution.std(self.X).reshape(len(values), -1)  # type: ignore[union-attr]
            errors = self.estimator.leave_one_out()
        except (AttributeError, ValueError):  # there are no deviations
            labeled = np.flatnonzero(~self.free)
            return surrogate_posterior(values, self.X, labeled=labeled)
        std = np.sqrt((std**2).mean(axis=1))  # over the targets
        return surrogate_posterior(values, self.X, std, errors.ravel())

    def values(self) -> Array:
        """Return the values of the function, shape (m, t)."""
        solution = getattr(self.estimator, "solution_", None)
        if solution is not None:
            values = solution.predict(self.X)
        elif is_classifier(self.estimator):
            p = self.probabilities()
            values = 2.0 * p[:, 1] - 1.0 if p.shape[1] == 2 else p
        else:
            values = self.estimator.predict(self.X)
        return np.asarray(values, dtype=np.float64).reshape(self.X.shape[0], -1)

    def probabilities(self) -> Array:
        """Return the class probabilities, shape (m, C); of scores, their softmax."""
        if hasattr(self.estimator, "predict_proba"):
            return np.asarray(self.estimator.predict_proba(self.X))
        scores = np.asarray(self.estimator.decision_function(self.X))
        return probabilities(scores_by_class(scores), 1.0)

    def copies(self) -> Callable[[int], NDArray[np.bool_]]:
        """Return a function from a row to which rows have nearly the same values.

        Their distance is at most a thousandth of the median distance between rows, in
        columns scaled to deviation 1. Rows of a kernel matrix have no such values.
        """
        if get_tags(self.estimator).input_tags.pairwise:
            return lambda u: np.arange(self.X.shape[0]) == u
        X = scaled(self.X)
        try:
            limit = (COPY * median_distance(X, np.random.default_rng(0))) ** 2
        except ValueError:  # all rows are equal
            limit = 0.0
        return lambda u: squared_distances(X, X[[u]])[:, 0] <= limit

    def in_table(self, picks: Sequence[int] | Indices) -> Indices:
        """Return the row numbers of picks in the given table."""
        return self.places[np.asarray(picks, dtype=np.intp)]


def last_step(estimator: Any, X: Any = None) -> tuple[Any, Any]:
    """Return the fitted estimator of a pipeline or search, and the rows it gets."""
    if isinstance(estimator, Pipeline):
        if X is not None and len(estimator) > 1:
            X = estimator[:-1].transform(X)
        return last_step(estimator[-1], X)
    check_is_fitted(estimator)
    if hasattr(estimator, "best_estimator_"):  # of a search over parameters
        return last_step(estimator.best_estimator_, X)
    return estimator, X


def _picks(n: Any, free: NDArray[np.bool_]) -> int:
    if not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 1:
        raise ValueError(f"n is {n!r}; a number of rows, 1 or more, is needed.")
    left = int(free.sum())
    if left == 0:
        raise ValueError(
            f"All {len(free)} rows of X are labeled already, so none is left to label. "
            f"Give unlabeled rows."
        )
    if n > left:
        raise ValueError(
            f"n is {n}, but only {left} of the {len(free)} rows of X are unlabeled. "
            f"Ask for {left} rows or fewer, or give more rows."
        )
    return int(n)


def _row_numbers(labeled: Any, rows: int) -> NDArray[Any]:
    labeled = np.asarray(labeled)
    if labeled.size == 0:
        return np.empty(0, dtype=np.intp)
    is_mask = labeled.dtype == bool
    wrong = labeled.ndim != 1 or not (is_mask or labeled.dtype.kind in "iu")
    if wrong or (is_mask and len(labeled) != rows):
        raise ValueError(
            f"labeled has shape {labeled.shape} and dtype {labeled.dtype}; row numbers "
            f"or a mask of the {rows} rows of X is needed."
        )
    if not is_mask and (labeled.min() < -rows or labeled.max() >= rows):
        raise ValueError(
            f"labeled has row numbers from {labeled.min()} to {labeled.max()}, but X "
            f"has {rows} rows."
        )
    return labeled


def _most_rows(estimator: Any) -> int:
    """Return how many rows have a covariance within its share of the memory."""
    limit = parse_bytes(getattr(estimator, "memory_limit", MEMORY_LIMIT))
    numbers = COVARIANCE_SHARE * limit // 8
    solution = getattr(estimator, "solution_", None)
    if isinstance(solution, Fit) and solution.by_ridge and not solution.posed.dual:
        p = solution.posed.basis.n_components_ + solution.posed.F.shape[1]
        return max(1, int(numbers // (3 * max(1, p))))
    return max(1, int(np.sqrt(numbers / 3)))
