r"""Base class of the regressors: one number, or several, for each row.

A leave-one-out residual is the error of the function plus the noise of the label, which
are independent. So their variances add up, and the variance of the noise is

.. math:: s^2 = \mathrm{mean}_i \; e_i^2 - \mathrm{mean}_i \; \mathrm{std}(x_i)^2

with the leave-one-out residuals e and the posterior standard deviations of the function
at the labeled rows. An error of the function that its deviation does not show counts as
noise, so with few labels and little noise the estimate is too large: 2 to 5 times with
40 labels in 3 columns, noise of deviation 0.1 and a function of deviation 0.8. With 150
labels it was 0.9 to 1.9 of the truth. The restricted likelihood, which gives the
deviations, estimates a fifth to a half of the truth in half of the cases at 40 labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from halfmoon._estimators.base import Estimator
from halfmoon._estimators.explanations import Explanation
from halfmoon._estimators.fit_problem import HeldOut
from halfmoon._estimators.intervals import Intervals
from halfmoon._estimators.output_groups import (
    OutputGroups,
    by_output,
    groups_of_outputs,
)
from halfmoon._labeled_scores import labeled_score
from halfmoon._labels import numeric_targets
from halfmoon._partitions.estimator_methods import answers_by_partition
from halfmoon._rows import Array, Indices, Rows
from halfmoon._sklearn_conventions import is_number
from halfmoon.problem import Fit

__all__ = ["Regressor"]

MAX_ROWS = 500  # for the mean variance of the function


class Regressor(RegressorMixin, Estimator):
    """Base class of the regressors."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _fit_labels(self, X: Rows, labels: NDArray[Any], w: Array) -> None:
        """Fit all outputs at once, or in groups where rows lack some of them."""
        targets = self._as_targets(labels)
        groups = groups_of_outputs(targets)
        self.__dict__.pop("parts_", None)
        if len(groups) == 1:
            self._fit_rows(X, targets, w)
            return
        self.labeled_ = np.flatnonzero(~np.isnan(targets).all(axis=1))
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

    def _parts_at_work(self) -> Iterator[Self]:
        """Yield copies of the parts that do not keep the factorizations they make."""
        for part in map(copy, self._parts()):
            part.solution_ = OutputGroups.at_work(part.solution_)
            yield part

    def _held_out_outputs(self) -> HeldOut:
        """Return `_held_out` of all outputs; NaN where a row lacks one."""
        groups, w = self.solution_, np.ones(self.n_labeled_)
        if not isinstance(groups, OutputGroups):
            return self._held_out()
        ys, values = [], []
        for part, rows in zip(self._parts_at_work(), groups.places, strict=True):
            held = part._held_out()
            pair = np.full((2, len(rows), held.y.shape[1]), np.nan)
            pair[:, held.rows] = held.y, held.values
            w[rows[held.rows]] = held.w
            ys.append(pair[0])
            values.append(pair[1])
        return HeldOut(slice(None), groups.at_rows(ys), groups.at_rows(values), w)

    def _score_and_calibrate(self) -> None:
        self.loo_score_ = _r2(self._held_out_outputs())

    def _quality(self) -> str:
        return f"leave-one-out R² {self.loo_score_:.2f}"

    def _as_targets(self, labels: NDArray[Any]) -> Array:
        return numeric_targets(labels, self.unlabeled)

    @answers_by_partition
    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the predicted values, and their standard deviations if asked for.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (b, d)
        return_std : bool
            Also return the posterior standard deviation of the function.

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
        """Return the ends of prediction intervals for the labels.

        The intervals come from leave-one-out errors, as in conformal prediction; see
        `halfmoon._estimators.intervals`. An interval contains a new label, with its
        noise, about as often as `level` says, on average over rows like the labeled
        ones.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (b, d)
        level : float
            Share of the labels to cover, between 0 and 1.

        Returns
        -------
        low, high : ndarrays of shape (b,) or (b, t)
        """
        check_is_fitted(self)
        if not (is_number(level) and 0 < level < 1):
            raise ValueError(f"level is {level!r}; a share between 0 and 1 is needed.")
        values, held = self.predict(X), self._held_out_outputs()
        ends = [
            Intervals.of(y, predicted, level, held.w)(column)
            for y, predicted, column in zip(
                held.y.T, held.values.T, values.reshape(len(values), -1).T, strict=True
            )
        ]
        low, high = (np.column_stack(each) for each in zip(*ends, strict=True))
        return low.reshape(values.shape), high.reshape(values.shape)

    def leave_one_out_predictions(self) -> Array:
        """Return the predicted values of the labeled rows, by leave-one-out.

        Each row is predicted from all labels but its own, at the alpha of the fit to
        all of them.

        Returns
        -------
        ndarray of shape (n_labeled,) or (n_labeled, t)
            In the order of ``labeled_``. NaN where the other labels do not determine
            the prediction, or where the row lacks the output.
        """
        check_is_fitted(self)
        if isinstance(self.solution_, OutputGroups):
            parts = [part._loo_values() for part in self._parts_at_work()]
            values = self.solution_.at_rows(parts)
        else:
            values = self._loo_values()
        values = np.where(np.isfinite(values), values, np.nan)
        return self.solution_.shaped(values)

    score = labeled_score(RegressorMixin)

    def _explain(self, X: Rows, answers: NDArray[Any], rows: Indices) -> Explanation:
        t = self.solution_.predict(X[:1]).size
        if t > 1:
            raise ValueError(
                f"There are {t} targets, but explain works for one. Fit each target in "
                f"a model of its own, or use smoother_matrix."
            )
        return Explanation.of(self.solution_, X, numeric_targets(answers), None, rows)

    @property
    def noise_variance_(self) -> Any:
        """Estimated variance of the noise in the labels, a float or of shape (t,).

        The mean square of the leave-one-out residuals minus the mean posterior variance
        of the function (`halfmoon._estimators.regression`). A fit by a filter has
        no posterior variance, so that its estimate is too large.
        """
        check_is_fitted(self)
        if isinstance(self.solution_, OutputGroups):
            parts = [part.noise_variance_ for part in self.parts_]
            return by_output(self.solution_.columns, parts)
        variance = noise_variance(self.solution_, self._held_out())
        one = self.solution_.shaped(variance[None])[0]  # a number if y was a vector
        return float(one) if np.ndim(one) == 0 else one


def _r2(held_out: HeldOut) -> float:
    """Return the R^2 of held-out values, averaged over targets; NaN for one row.

    Minus infinity if the other labels determine no value of a target.
    """
    _, y, values, w = held_out
    if len(y) < 2:
        return float("nan")
    w = w[:, None] * ~np.isnan(values)  # an output that a row lacks does not count
    if not w.any(axis=0).all():
        return -np.inf
    y, values = (np.where(w > 0, each, 0.0) for each in (y, values))
    total = (w * (y - (w * y).sum(axis=0) / w.sum(axis=0)) ** 2).sum(axis=0)
    squares = (w * (y - values) ** 2).sum(axis=0)
    # Equal targets have no variance: 1 if they are predicted exactly, else 0.
    r2 = np.where(squares > 0, 0.0, 1.0)
    np.divide(total - squares, total, out=r2, where=total > 0)
    return float(r2.mean())


def noise_variance(solution: Any, held_out: HeldOut) -> Array:  # (t,)
    """Return the noise variance of each target; NaN if no row could be predicted."""
    rows, y, values, w = held_out
    known = np.isfinite(values).all(axis=1)
    if not known.any():
        return np.full(y.shape[1], np.nan)
    square = np.average((y - values)[known] ** 2, axis=0, weights=w[known])
    X_l = solution.posed.X_l if isinstance(solution, Fit) else solution.X_l
    if isinstance(solution, Fit) and not solution.by_ridge:  # no posterior
        return np.asarray(square)
    chosen = np.arange(X_l.shape[0])[rows][known][:MAX_ROWS]
    std = solution.std(X_l[chosen]).reshape(len(chosen), -1)
    function = np.average(std**2, axis=0, weights=w[known][:MAX_ROWS])
    return np.maximum(square - function, 0.0)
