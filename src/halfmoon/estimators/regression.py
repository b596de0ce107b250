"""Regressors: numbers, one or several for each row."""

from __future__ import annotations

import time
from copy import copy
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from halfmoon.estimators.base import Estimator, HeldOut
from halfmoon.estimators.explanations import Explanation
from halfmoon.estimators.intervals import Intervals
from halfmoon.estimators.noise import noise_variance
from halfmoon.estimators.output_groups import (
    OutputGroups,
    by_output,
    groups_of_outputs,
)
from halfmoon.estimators.scores import ScoresLabeledRows
from halfmoon.estimators.targets import as_labels, numeric_targets
from halfmoon.partitions.methods import answers_by_partition, fits_by_partition
from halfmoon.rows import Array, Indices, Rows, as_weights

__all__ = ["Regressor"]


class Regressor(ScoresLabeledRows, RegressorMixin, Estimator):
    """An estimator of numbers, one or several for each row."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    @fits_by_partition
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from all rows of X and from the labels that y has.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            All rows, labeled or not; of NumPy, pandas, or Dask, whose rows stay where
            they are.
        y : array-like of shape (n,) or (n, t)
            Targets; NaN, None or pd.NA where a row has none. A row may have some of
            its outputs and lack others: each output learns from the rows that have it.
        sample_weight : array-like of shape (n,) or None
            Weights of the labels. A row of weight 0 is left out altogether.
        """
        start = time.monotonic()
        X = self._table(X, reset=True)
        labels, w = as_labels(y, X.shape[0]), as_weights(sample_weight, X.shape[0])
        X, labels, w = self._with_weight(X, labels, w)
        with self._stream.handed_down():
            self._fit_outputs(X, self._as_targets(labels), w)
            self._score()
        self._tell(start)
        return self

    def _fit_outputs(self, X: Rows, targets: Array, w: Array) -> None:
        """Fit all outputs at once, or in groups where some rows lack some of them."""
        groups = groups_of_outputs(targets)
        self.__dict__.pop("parts_", None)
        if len(groups) == 1:
            self._fit_rows(X, targets, w)
            return
        known = ~np.isnan(targets)
        self.labeled_ = np.flatnonzero(known.any(axis=1))
        self.n_labeled_ = len(self.labeled_)
        self.parts_ = self._fit_parts(X, targets, w, groups)
        self.solution_ = OutputGroups(
            parts=tuple(part.solution_ for part in self.parts_),
            columns=tuple(groups),
            places=tuple(
                np.searchsorted(self.labeled_, part.labeled_) for part in self.parts_
            ),
            n_labeled=self.n_labeled_,
        )
        self._take_over()

    def _held_out_outputs(self) -> HeldOut:
        """`_held_out` of all outputs; NaN where a row lacks one."""
        if not self._parts():
            return self._held_out()
        groups = cast(OutputGroups, self.solution_)
        w = np.ones(self.n_labeled_)
        ys, values = [], []
        for part, rows in zip(self.parts_, groups.places, strict=True):
            part = copy(part)
            part.solution_ = groups.at_work(part.solution_)
            held = part._held_out()
            pair = np.full((2, len(rows), held.y.shape[1]), np.nan)
            pair[:, held.rows] = held.y, held.values
            w[rows[held.rows]] = held.w
            ys.append(pair[0])
            values.append(pair[1])
        return HeldOut(slice(None), groups.at_rows(ys), groups.at_rows(values), w)

    def _score(self) -> None:
        self.loo_score_ = _r2(self._held_out_outputs())

    def _quality(self) -> str:
        return f"leave-one-out R² {self.loo_score_:.2f}"

    def _as_targets(self, labels: NDArray[Any]) -> Array:
        return numeric_targets(labels, self.unlabeled)

    @answers_by_partition
    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Values at any rows, and how sure they are.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (b, d)
        return_std : bool
            Return the posterior standard deviation of the function too.

        Returns
        -------
        values : ndarray of shape (b,) or (b, t)
        std : ndarray of the same shape
            If `return_std`.
        """
        check_is_fitted(self)
        X = self._table(X, reset=False)
        values = self.solution_.predict(X)
        return (values, self.solution_.std(X)) if return_std else values

    @answers_by_partition
    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[Array, Array]:
        """Where the labels of any rows should be: low and high ends.

        By the errors of left-out rows, as in conformal prediction; see
        `halfmoon.estimators.intervals`. An interval holds a new label, noise and all,
        about as often as `level` says, on average over rows like the labeled ones.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (b, d)
        level : float
            Share of the labels to hold, between 0 and 1.

        Returns
        -------
        low, high : ndarrays of shape (b,) or (b, t)
        """
        check_is_fitted(self)
        if not 0 < level < 1:
            raise ValueError(f"level is {level!r}; a share between 0 and 1 is needed.")
        values, held_out = self.predict(X), self._held_out_outputs()
        if values.ndim == 1:
            held = Intervals.of(held_out.y[:, 0], held_out.values[:, 0], level)
            return held(values)
        ends = [
            Intervals.of(y, left_out, level)(column)
            for y, left_out, column in zip(
                held_out.y.T, held_out.values.T, values.T, strict=True
            )
        ]
        low, high = (np.column_stack(each) for each in zip(*ends, strict=True))
        return low, high

    def _explained(self, X: Rows, answers: NDArray[Any], rows: Indices) -> Explanation:
        if answers.ndim > 1:
            raise ValueError(
                f"There are {answers.shape[1]} targets; explain takes apart the "
                f"answers of one. Fit each target by itself, or use smoother_matrix."
            )
        return Explanation.of(self.solution_, X, answers, None, rows)

    @property
    def noise_variance_(self) -> Any:
        """Variance of the noise in the labels, a float or of shape (t,).

        The mean square of the left-out residuals, less the mean posterior variance of
        the function; see `halfmoon.estimators.noise`. Of a filtered fit, which has no
        posterior variance, it is the former alone, and so too large.
        """
        check_is_fitted(self)
        if self._parts():
            groups = cast(OutputGroups, self.solution_)
            return by_output(
                groups.columns, [part.noise_variance_ for part in self.parts_]
            )
        variance = noise_variance(self.solution_, self._held_out())
        one = self.solution_.shaped(variance[None])[0]  # a number if y was a vector
        return float(one) if np.ndim(one) == 0 else one


def _r2(held_out: HeldOut) -> float:
    """R^2 of left-out values, averaged over targets; NaN where it has no meaning."""
    _, y, values, w = held_out
    if len(y) < 2:
        return float("nan")
    w = w[:, None] * ~np.isnan(values)  # an output that a row lacks does not count
    y, values = (np.where(w > 0, each, 0.0) for each in (y, values))
    spread = (w * (y - (w * y).sum(axis=0) / w.sum(axis=0)) ** 2).sum(axis=0)
    lost = (w * (y - values) ** 2).sum(axis=0)
    # Equal targets have no spread to explain: 1 where they are met, else 0.
    r2 = np.where(lost > 0, 0.0, 1.0)
    np.divide(spread - lost, spread, out=r2, where=spread > 0)
    return float(r2.mean())
