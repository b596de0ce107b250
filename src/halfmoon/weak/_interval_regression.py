r"""Regression with interval labels: each label lies in [low, high].

.. math:: min_g \; 1/W \sum_i w_i \, dist(g(x_i), [a_i + m, b_i - m])^2
          + alpha |g|_Q^2

Either end may be open. Equal ends are a plain label, and a row with both ends open is
unlabeled. The margin m moves each end inwards, at most to the middle: without it, the
penalty pulls the fit across the ends, because there is no loss up to them. The problem
is convex (`halfmoon.weak._interval_newton`): the solution is ridge on the points of
these intervals that are nearest to it.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from halfmoon._estimators.explanations import Explanation
from halfmoon._estimators.parameter_docs import with_parameter_docs
from halfmoon._labeled_scores import take_rows
from halfmoon._labels import as_weights, no_labels_to_score
from halfmoon._partitions.estimator_methods import (
    answers_by_partition,
    scores_by_partition,
)
from halfmoon._rows import Array, Indices, Rows
from halfmoon.problem._folds import balanced_folds
from halfmoon.problem._posed import Posed
from halfmoon.weak._interval_newton import IntervalFit, fit_intervals
from halfmoon.weak._row_smoother import RowCoordinates
from halfmoon.weak._weak_estimator import (
    PARAMETERS,
    SHARED_ATTRIBUTES,
    WeakEstimator,
)
from halfmoon.weak._weak_labels import as_ends, distance, middles, narrowed

__all__ = ["IntervalRegressor"]

MAX_RESIDUAL = 1e-6  # of optimality, before a warning
#: Margins to choose from, relative to the standard deviation of the finite ends.
MARGINS = (0.02, 0.05, 0.1, 0.2, 0.4)
ROUNDING = 1e-8  # of targets that are all equal, relative to their size

ALPHA = """
    "auto", float or sequence of float. Weight of the penalty relative to the averaged
    loss. "auto" is 1e-8 to 10 times the mean prior variance of labeled rows. Of
    several, the one with the least squared distance of held-out predictions to their
    intervals is used, over five folds."""


MARGIN = """
    "auto" or float. How far inside of its interval each value is asked to be, in the
    units of y, at most in the middle. "auto" tries 0 and five others, with the kernel
    and alpha of margin 0: of those without more squared distance on held-out folds, the
    one with most predictions inside is used."""


@partial(
    with_parameter_docs,
    parameters=PARAMETERS | {"alpha": ALPHA, "margin": MARGIN},
    attributes={
        "labels_": """
            ndarray of shape (n,). The point of each row's interval, less the margin,
            that is nearest to the fit.""",
        "optimality_residual_": """
            float. Largest difference between the fit and ridge on the points of the
            intervals nearest to it, as a share of the range of these points; 0 at the
            optimum.""",
        "objective_": "float. The value of the objective at the fit.",
        "margin_": "float. The margin that was used.",
        "n_iter_": "int. Number of Newton steps.",
        "fold_losses_": """
            ndarray or None. Mean squared distance of held-out rows to their intervals,
            for each alpha, or each kernel and alpha, where there were
            several.""",
        **SHARED_ATTRIBUTES,
    },
)
@dataclass(eq=False, repr=False)
class IntervalRegressor(RegressorMixin, WeakEstimator):
    """Kernel regression from intervals that contain the labels.

    See `halfmoon.weak._interval_regression` for the problem, which is convex and solved
    to the optimum. O(l^3) time for l rows with an interval.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 1, 6)[:, None]
    >>> y = [[0, 0], [-np.inf, 0.4], [0.3, 0.5], [0.5, np.inf], [0.7, 0.9], [1, 1]]
    >>> model = IntervalRegressor(kernel="linear", alpha=1e-9).fit(X, y)
    >>> model.predict([[0.5]]).round(3)
    array([0.5])
    """

    margin: str | float = field(default="auto", kw_only=True)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from all rows of X and from the intervals.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            All rows.
        y : array-like of shape (n, 2)
            Low and high end of each row; -inf, inf or NaN where an end is open. A
            vector is plain labels, NaN in unlabeled rows, or intervals of pandas.
        sample_weight : array-like of shape (n,) or None
            Weights of the labels. A row of weight 0 is dropped.
        """
        return super().fit(X, y, sample_weight)

    def _read_labels(self, y: Any, X: Rows) -> Array:
        return as_ends(y, X.shape[0])

    def _label_all(self, X: Rows, labels: Array) -> None:
        low, high = narrowed(labels[:, 0], labels[:, 1], self.margin_)
        self.labels_ = np.clip(self.solution_.predict(X), low, high)

    def _fit_labels(self, X: Rows, labels: Array, w: Array) -> None:
        known = np.asarray(np.isfinite(labels).any(axis=1))
        if not known.any():
            raise ValueError(
                f"None of the {len(labels)} rows has an end: all are (-inf, inf). At "
                f"least one finite low or high end is needed."
            )
        low, high = labels[known].T

        def losses(values: Array) -> tuple[Array, Array]:
            squares = distance(values[:, 0], low, high) ** 2
            return squares, squares

        folds = balanced_folds(middles(low, high)[:, None]) if len(low) > 1 else []
        automatic = isinstance(self.margin, str)
        given = 0.0 if automatic else float(self.margin)
        posed, coordinates, alpha = self._choose_by_folds(
            X,
            known,
            w,
            folds,
            _FoldValues(*narrowed(low, high, given)),
            losses,
        )
        self.margin_ = given
        if automatic and folds and (low < high).any():
            self.margin_ = _best_margin(coordinates, low, high, alpha, folds, posed.w)
        low, high = narrowed(low, high, self.margin_)
        found = fit_intervals(coordinates, low, high, alpha)
        self._store_nearest(posed, found, np.clip(found.g, low, high), alpha)

    def _store_nearest(
        self, posed: Posed, found: IntervalFit, targets: Array, alpha: float
    ) -> None:
        """Store ridge on the nearest points, and how far it is from the optimum."""
        values = self._store_fit(posed, targets[:, None], alpha).predict(posed.X_l)
        size = float(np.abs(targets).max())
        spread = max(float(np.ptp(targets)), ROUNDING * size) or 1.0
        self.optimality_residual_ = float(np.abs(values - found.g).max() / spread)
        if self.optimality_residual_ > MAX_RESIDUAL:
            warnings.warn(
                f"The optimality residual is {self.optimality_residual_:.1g} after "
                f"{found.steps} Newton steps. Rescale the columns, or raise alpha, "
                f"which is {alpha:.1g}.",
                ConvergenceWarning,
                stacklevel=4,
            )
        residual = targets - values
        # The penalty at the optimum is g'(y - g), root weights in.
        self.objective_ = float(posed.w @ (residual * targets) / posed.total_weight)
        self.n_iter_ = found.steps

    @answers_by_partition
    def predict(self, X: Any) -> Array:
        """Return the predicted values, shape (b,).

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (b, d)
        """
        check_is_fitted(self)
        return self.solution_.predict(self._table(X, reset=False))

    def leave_one_out_predictions(self) -> Array:
        """Return the predicted values of the labeled rows, by leave-one-out.

        Each row is predicted without its own interval; the labels found for the other
        rows do not change.

        Returns
        -------
        ndarray of shape (n_labeled,)
            In the order of ``labeled_``. NaN where the other labels do not determine
            the prediction.
        """
        check_is_fitted(self)
        values = self._loo_values()[:, 0]
        return np.where(np.isfinite(values), values, np.nan)

    @scores_by_partition
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R^2 for plain labels; for intervals, the share of predictions inside.

        Unlabeled rows do not count.
        """
        values = self.predict(X)
        w = as_weights(sample_weight, len(values))
        ends = as_ends(y, len(values))
        known = np.isfinite(ends).any(axis=1) & (w > 0)
        if not known.any():
            raise no_labels_to_score(len(values))
        if (ends[known, 0] == ends[known, 1]).all():
            return float(super().score(take_rows(X, known), ends[known, 0], w[known]))
        inside = distance(values[known], *ends[known].T) == 0
        return float(np.average(inside, weights=w[known]))

    def _explain(self, X: Rows, answers: NDArray[Any], rows: Indices) -> Explanation:
        return Explanation.of(self.solution_, X, answers, None, rows)

    def _score_and_calibrate(self) -> None:
        """Do nothing: R^2 has no meaning for intervals."""

    def _quality(self) -> str:
        posed = self._one_fit.posed
        values = self.solution_.predict(posed.X_l)
        error = np.abs(values - posed.y[:, 0])
        return f"{np.mean(error <= 1e-9 * (1 + np.abs(values))):.0%} inside"


def _best_margin(
    coordinates: RowCoordinates,
    low: Array,
    high: Array,
    alpha: float,
    folds: list[Indices],
    w: Array,
) -> float:
    """Return the margin with most held-out values inside, none of them farther out."""
    ends = np.concatenate([low, high])
    spread = float(np.std(ends[np.isfinite(ends)]))
    tried = []
    for margin in (0.0, *(share * spread for share in MARGINS)):
        values = _FoldValues(*narrowed(low, high, margin))(coordinates, alpha, folds)
        out = distance(values[:, 0], low, high)
        tried.append((float(w @ (out > 0)), float(w @ out**2), margin))
    least = tried[0][1]
    return min(each for each in tried if each[1] <= least)[2]


class _FoldValues:
    """Return the values at held-out rows, shape (l, 1).

    Each fit starts at the solution for the alpha before it, with the same kernel.
    """

    def __init__(self, low: Array, high: Array) -> None:
        self.low, self.high = low, high
        self.coordinates: RowCoordinates | None = None
        self.starts: dict[int, Array] = {}

    def __call__(
        self, coordinates: RowCoordinates, alpha: float, folds: list[Indices]
    ) -> Array:
        if self.coordinates is not coordinates:
            self.coordinates, self.starts = coordinates, {}
        out = np.empty((len(self.low), 1))
        for number, fold in enumerate(folds):
            training = np.delete(np.arange(len(out)), fold)
            found = fit_intervals(
                coordinates,
                self.low,
                self.high,
                alpha,
                training,
                self.starts.get(number),
            )
            out[fold, 0] = found.g[fold]
            self.starts[number] = found.v
        return out
