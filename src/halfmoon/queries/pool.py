"""The rows that may be picked, as the estimator sees them.

A table with as many rows as the fitted one is taken for the fitted table, and its
labeled rows are never picked; they still count among the rows that predictions are
wanted for. Any other table is a pool of unlabeled rows. Of a pool that is too large for
the estimator's `memory_limit`, a random part is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from halfmoon.estimators.base import Estimator
from halfmoon.memory import parse_bytes
from halfmoon.problem import Fit
from halfmoon.queries.covariance import Posterior
from halfmoon.queries.posteriors import fit_posterior, surrogate_posterior
from halfmoon.random_state import as_generator
from halfmoon.rows import Array, Indices, as_table

__all__ = ["Pool", "last_step"]

MEMORY = "512MB"  # of an estimator that does not say
SHARE = 4  # the covariance may take one part in so many of the memory


@dataclass(frozen=True)
class Pool:
    """Rows to pick from.

    Attributes
    ----------
    estimator : estimator
        Fitted; the last step of a pipeline.
    X : array or CSR of shape (m, d)
        The rows that are looked at.
    places : ndarray of shape (m,)
        Where they stand in the table that was given.
    free : ndarray of bool of shape (m,)
        Those that may be picked.
    n : int
        How many picks are wanted.
    is_fitted : bool
        The table is the one that was fitted.
    """

    estimator: Any
    X: Any
    places: Indices
    free: NDArray[np.bool_]
    n: int
    is_fitted: bool

    @classmethod
    def of(
        cls,
        estimator: Any,
        X: Any,
        n: int,
        labeled: Any = None,
        random_state: Any = None,
    ) -> Pool:
        """Check what a user gave.

        Parameters
        ----------
        estimator : estimator
            Fitted, or a pipeline that ends with one.
        X : table of shape (m, d)
        n : int
            Picks wanted.
        labeled : array-like or None
            Row numbers, or a mask, of rows that are not to be picked.
        random_state : see `halfmoon.random_state`
            Draws the part of a pool that is too large.
        """
        estimator, X = last_step(estimator, X)
        if isinstance(estimator, Estimator):
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
        n = _picks(n, free)
        most = max(_most_rows(estimator), n)
        places = np.arange(rows)
        if rows > most:
            some = np.concatenate([np.flatnonzero(free), np.flatnonzero(~free)])
            drawn = as_generator(random_state).permutation(int(free.sum()))
            some[: len(drawn)] = some[drawn]
            places = np.sort(some[:most])
            table = table[places]
        return cls(estimator, table, places, free[places], n, is_fitted)

    def posterior(self) -> Posterior:
        """Values and covariance of the fitted function at the rows."""
        solution = getattr(self.estimator, "solution_", None)
        if isinstance(solution, Fit) and solution.by_ridge:
            places = self.places if self.is_fitted else None
            if getattr(self.estimator, "_weighted_rows", None) is not None:
                places = None  # the fit has not seen the rows of weight 0
            return fit_posterior(solution, self.X, places)
        values = self.values()
        try:
            std = solution.std(self.X).reshape(len(values), -1)  # type: ignore[union-attr]
            errors = self.estimator.leave_one_out()
        except (AttributeError, ValueError):  # it has no deviations
            labeled = np.flatnonzero(~self.free)
            return surrogate_posterior(values, self.X, labeled=labeled)
        return surrogate_posterior(values, self.X, _over_targets(std), errors.ravel())

    def values(self) -> Array:
        """Values of the function, shape (m, t)."""
        solution = getattr(self.estimator, "solution_", None)
        if solution is not None:
            values = solution.predict(self.X)
        elif is_classifier(self.estimator):
            values = 2.0 * self.estimator.predict_proba(self.X) - 1.0
            values = values[:, 1] if values.shape[1] == 2 else (values + 1.0) / 2.0
        else:
            values = self.estimator.predict(self.X)
        return np.asarray(values, dtype=np.float64).reshape(self.X.shape[0], -1)

    def of_table(self, picks: Sequence[int] | Indices) -> Indices:
        """Where picks stand in the table that was given."""
        return self.places[np.asarray(picks, dtype=np.intp)]


def last_step(estimator: Any, X: Any = None) -> tuple[Any, Any]:
    """The estimator that was fitted, and the rows as it gets them."""
    if isinstance(estimator, Pipeline):
        if X is not None and len(estimator) > 1:
            X = estimator[:-1].transform(X)
        return last_step(estimator[-1], X)
    check_is_fitted(estimator)
    return estimator, X


def _picks(n: Any, free: NDArray[np.bool_]) -> int:
    if not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 1:
        raise ValueError(f"n is {n!r}; a number of rows, 1 or more, is needed.")
    left = int(free.sum())
    if left == 0:
        raise ValueError(
            f"All {len(free)} rows of X are labeled already, so there is none to "
            f"label next. Give rows without a label."
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
    """Rows whose covariance takes no more than its share of the memory."""
    numbers = parse_bytes(getattr(estimator, "memory_limit", MEMORY)) // (8 * SHARE)
    solution = getattr(estimator, "solution_", None)
    if isinstance(solution, Fit) and solution.by_ridge and not solution.posed.dual:
        p = solution.posed.basis.n_components_ + solution.posed.F.shape[1]
        return max(1, int(numbers // (3 * max(1, p))))
    return max(1, int(np.sqrt(numbers / 3)))


def _over_targets(values: Array) -> Array:
    """Root mean square over targets, shape (m,)."""
    return np.sqrt((values**2).mean(axis=1))
