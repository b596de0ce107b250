"""What every estimator does: validate, state, solve, store.

An estimator is a lever with a public name. It states a `Problem` (`_state`), which is
posed on the rows and solved; everything that follows, predictions, leave-one-out
residuals, uncertainty, is asked of the fit. Regressors and classifiers differ in what
they make of y alone, and in what they make of the values of the fitted function.
"""

from __future__ import annotations

import logging
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from halfmoon.blocks import Stream, blas_for
from halfmoon.estimators.calibration import fitted_temperature, probabilities
from halfmoon.estimators.null_space import null_spaces
from halfmoon.estimators.refitted import refitted_errors
from halfmoon.estimators.targets import as_labels, class_codes, numeric_targets
from halfmoon.kernels import Precomputed
from halfmoon.kernels.given import numbered
from halfmoon.labels import is_missing
from halfmoon.moments import dirichlet
from halfmoon.problem import (
    Fit,
    Posed,
    Problem,
    as_numbers,
    out_of_fold,
    search,
    solve_hinge,
    solve_ridge,
    telling_rows,
)
from halfmoon.progress import LoggedProgress, show_log
from halfmoon.random_state import as_generator
from halfmoon.rows import Array, Rows, as_weights
from halfmoon.unpenalized import Constant, Unpenalized

__all__ = ["ALPHAS", "Classifier", "Estimator", "Regressor"]

logger = logging.getLogger("halfmoon")

#: Searched by leave-one-out unless told: from interpolation to nearly no fit.
ALPHAS = tuple(10.0 ** (e / 2) for e in range(-16, 3))


class Estimator(BaseEstimator, ABC):
    """The part that regressors and classifiers share; see the module's docstring.

    A subclass has the parameters named below and writes `_state`.
    """

    alpha: float | Sequence[float]
    unpenalized: Any
    loss: str
    memory_limit: int | str
    random_state: Any
    n_jobs: int | None
    verbose: int
    unlabeled: Any

    solution_: Fit

    @abstractmethod
    def _state(self, X: Rows, l: int, rng: np.random.Generator) -> Problem:
        """The problem that the lever poses to a table with l labeled rows."""

    # ---- fitting ---------------------------------------------------------------------

    def _solver(self) -> Callable[[Posed, float], Fit] | None:
        """How a posed problem is solved at an alpha; None is by ridge."""
        if self.loss == "squared":
            return None
        if self.loss == "hinge":
            return solve_hinge
        raise ValueError(f"loss is {self.loss!r}; 'squared' or 'hinge' is needed.")

    def _mu(self) -> Any:
        """The weights of the norm beside an energy, where the lever has some."""
        return None

    def _alphas(self) -> Any:
        """The alphas to search."""
        return self.alpha

    def _fit_rows(self, X: Rows, targets: Array, w: Array) -> Self:
        """State the problem, pose it, solve it, and store what came out."""
        rng = as_generator(self.random_state)
        progress = None
        if self.verbose:
            show_log()
            progress = LoggedProgress()
        stream = Stream(self.memory_limit, self.n_jobs, progress)
        labeled = ~np.isnan(targets.reshape(len(targets), -1)).any(axis=1)
        problem, alpha = self._chosen(
            self._state(X, int(labeled.sum()), rng), X, targets, w, rng, stream
        )
        posed = problem.pose(X, targets, sample_weight=w, rng=rng, stream=stream)
        logger.info(
            "%s: %d of %d rows are labeled; %d functions.",
            *(type(self).__name__, len(posed.chosen), X.shape[0]),
            posed.basis.n_components_,
        )
        k, l = posed.F.shape[1], len(posed.chosen)
        if k > max(1, l // 2):
            warnings.warn(
                f"There are {k} unpenalized features for {l} labeled rows; beyond half "
                f"as many as labels they mostly fit noise. Use fewer, or label more.",
                UserWarning,
                stacklevel=3,
            )
        with blas_for(X.shape[0] * posed.basis.n_components_**2):
            loss = {} if self.loss == "squared" else {"loss": _hinge}
            self.solution_ = search(posed, alpha, self._mu(), self._solver(), **loss)
        self.n_labeled_ = len(posed.chosen)
        self.labeled_ = posed.chosen
        self.alpha_, self.mu_ = self.solution_.alpha, self.solution_.posed.mu
        self.loo_errors_ = self.solution_.loo_scores
        self.coef_ = self.solution_.shaped(self.solution_.beta)
        return self

    def _chosen(
        self,
        problem: Problem,
        X: Rows,
        targets: Array,
        w: Array,
        rng: np.random.Generator,
        stream: Stream,
    ) -> tuple[Problem, Any]:
        """The problem with one choice of unpenalized features, and the alphas left."""
        inner = getattr(problem.basis, "basis", problem.basis)  # of a smoothed one
        options = null_spaces(
            self.unpenalized,
            getattr(inner, "kernel", None),
            getattr(self, "feature_names_in_", None),
        )
        if self._is_precomputed():
            _refuse_columns(options)
        problems = [
            Problem(problem.basis, problem.energy, problem.mu, features)
            for features in options
        ]
        alphas = as_numbers(self._alphas(), "alpha")
        learned = [each is not None and each.from_labels for each in options]
        if len(problems) == 1 and not (learned[0] and len(alphas) > 1):
            return problems[0], self._alphas()
        solve = self._solver() or solve_ridge
        y = targets.reshape(X.shape[0], -1)
        errors = np.array(
            [
                refitted_errors(each, X, y, w, alphas, solve, rng=rng, stream=stream)
                for each in problems
            ]
        )
        self.fold_errors_ = errors
        which, best = np.unravel_index(np.argmin(errors), errors.shape)
        # Alpha may still be tuned to all labels, unless the features have seen them.
        return problems[which], alphas[best] if learned[which] else self._alphas()

    # ---- what follows from the fit ---------------------------------------------------

    @property
    def dual_coef_(self) -> Array:
        """Weights of the labeled rows, of shape (n_labeled,) or (n_labeled, t)."""
        check_is_fitted(self)
        return self.solution_.shaped(self.solution_.dual_coef())

    @property
    def rank_(self) -> int:
        """Number of directions that the fit could use of its basis."""
        check_is_fitted(self)
        return self.solution_.rank

    def leave_one_out(self) -> Array:
        """Residuals of the labeled rows, each predicted without its own label.

        Exact; the row stays in the table as an unlabeled one. Infinite where nothing
        is known of a row without its label.

        Returns
        -------
        ndarray of shape (n_labeled,) or (n_labeled, t)
        """
        check_is_fitted(self)
        return self.solution_.leave_one_out()

    def smoother_matrix(self, X: Any) -> Array:
        """The matrix that turns the labels into values at any rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (b, d)

        Returns
        -------
        ndarray of shape (b, n_labeled)
        """
        check_is_fitted(self)
        return self.solution_.smoother_matrix(self._table(X, reset=False))

    def dirichlet_energy(self) -> Any:
        """Mean squared gradient, over all rows, of the penalized part of the fit.

        With energy="graph" it is the energy along the edges of the graph instead.

        Returns
        -------
        float or ndarray of shape (t,)
        """
        check_is_fitted(self)
        posed, theta = self.solution_.posed, self.solution_.theta
        if posed.energy is None:
            E = dirichlet(posed.basis, posed.X, stream=posed.stream)
        else:
            E = posed.energy_matrix
        energies = np.einsum("pt,pq,qt->t", theta, E, theta)
        return float(energies[0]) if posed.single else energies

    # ---- tables ----------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed()
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags

    def _kernels(self) -> list[Any]:
        """The parameters of the lever that are kernels."""
        return [getattr(self, "kernel", None)]

    def _is_precomputed(self) -> bool:
        given = [
            isinstance(kernel, Precomputed)
            or (isinstance(kernel, str) and kernel == "precomputed")
            for kernel in self._kernels()
        ]
        if any(given) and not all(given):
            raise ValueError(
                "One kernel is precomputed and the other is not, but X is either a "
                "kernel matrix or a table. Make both precomputed, or neither."
            )
        return all(given)

    def _table(self, X: Any, *, reset: bool) -> Rows:
        """The rows as an array or CSR, checked; of a kernel matrix, numbered."""
        precomputed = self._is_precomputed()
        X = validate_data(
            self,
            X,
            accept_sparse=False if precomputed else "csr",
            dtype=[np.float64, np.float32],
            reset=reset,
        )
        if precomputed and reset and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"X has shape {X.shape}; a precomputed kernel needs a square matrix, "
                f"the values between all rows."
            )
        return numbered(X, new=not reset) if precomputed else X

    def _with_weight(
        self, X: Rows, labels: NDArray[Any], w: Array
    ) -> tuple[Any, Any, Array]:
        """The rows with a weight above 0."""
        used = w > 0
        if used.all():
            return X, labels, w
        if not used.any():
            raise ValueError(
                "sample_weight is zero in every row; some must be positive."
            )
        landmarks = getattr(self, "landmarks", "")
        if not isinstance(landmarks, str) and np.ndim(landmarks) == 1:
            raise ValueError(
                f"landmarks are numbers of rows, but {int((~used).sum())} row(s) of "
                f"weight 0 are left out, which changes the numbers of the others. Give "
                f"the landmarks themselves, or a small weight above 0."
            )
        return X[used], labels[used], w[used]


class Regressor(RegressorMixin, Estimator):
    """An estimator of numbers, one or several for each row."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from all rows of X and from the labels that y has.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            All rows, labeled or not.
        y : array-like of shape (n,) or (n, t)
            Targets; NaN, None or pd.NA where a row has none.
        sample_weight : array-like of shape (n,) or None
            Weights of the labels. A row of weight 0 is left out altogether.
        """
        X = self._table(X, reset=True)
        labels, w = as_labels(y, X.shape[0]), as_weights(sample_weight, X.shape[0])
        X, labels, w = self._with_weight(X, labels, w)
        if self.loss == "hinge":
            raise ValueError("The hinge loss is for classes; use a classifier.")
        self._fit_rows(X, self._as_targets(labels), w)
        self.loo_score_ = _r2(self.solution_)
        return self

    def _as_targets(self, labels: NDArray[Any]) -> Array:
        return numeric_targets(labels, self.unlabeled)

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


class Classifier(ClassifierMixin, Estimator):
    """An estimator of classes: a value for each class, or one for two of them.

    Two classes are -1 and 1; more are 0 or 1 in a column for each.
    """

    classes_: NDArray[Any]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from all rows of X and from the labels that y has.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            All rows, labeled or not.
        y : array-like of shape (n,)
            Classes: numbers, strings or booleans; NaN, None or pd.NA where a row has
            none.
        sample_weight : array-like of shape (n,) or None
            Weights of the labels. A row of weight 0 is left out altogether.
        """
        X = self._table(X, reset=True)
        labels, w = as_labels(y, X.shape[0]), as_weights(sample_weight, X.shape[0])
        X, labels, w = self._with_weight(X, labels, w)
        self.classes_, codes = class_codes(labels, self.unlabeled)
        self._fit_rows(X, self._indicators(codes), w)
        self._calibrate(codes[self.labeled_])
        return self

    def _indicators(self, codes: NDArray[np.intp]) -> Array:
        """Targets of the classes, NaN where the code is -1."""
        if len(self.classes_) == 2:
            return np.where(codes < 0, np.nan, np.where(codes == 1, 1.0, -1.0))
        low = -1.0 if self.loss == "hinge" else 0.0
        targets = np.where(codes[:, None] == np.arange(len(self.classes_)), 1.0, low)
        return np.where(codes[:, None] < 0, np.nan, targets)

    def _as_targets(self, labels: NDArray[Any]) -> Array:
        """Targets of labels of the classes that were fitted."""
        known = ~is_missing(labels, self.unlabeled)
        codes = np.full(len(labels), -1, dtype=np.intp)
        strange = ~np.isin(labels[known], self.classes_)
        if strange.any():
            raise ValueError(
                f"y has a label {labels[known][strange][0]!r} that was not fitted; the "
                f"classes are {list(self.classes_)!r}."
            )
        codes[known] = np.searchsorted(self.classes_, labels[known])
        return self._indicators(codes)

    def decision_function(self, X: Any) -> Array:
        """Values of the fitted function: of each class, or of the second of two.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (b, d)

        Returns
        -------
        ndarray of shape (b,) or (b, n_classes)
        """
        check_is_fitted(self)
        return self.solution_.predict(self._table(X, reset=False))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row, shape (b,)."""
        check_is_fitted(self)
        scores = _by_class(self.decision_function(X))
        return self.classes_[scores.argmax(axis=1)]

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes, calibrated on left-out rows.

        Returns
        -------
        ndarray of shape (b, n_classes)
            Each row sums to 1.
        """
        check_is_fitted(self)
        return probabilities(_by_class(self.decision_function(X)), self.temperature_)

    def _calibrate(self, codes: NDArray[np.intp]) -> None:
        """Temperature and accuracy of left-out scores."""
        fit = self.solution_
        some = telling_rows(fit.posed)
        if fit.by_ridge:
            scores = fit.shaped(fit.posed.y[some]) - fit.leave_one_out(some)
        else:  # by folds, of which each must be left with every class
            solve = fit.solve or partial(solve_hinge, alpha=cast(float, fit.alpha))
            several = np.bincount(codes).min() > 1
            scores = fit.shaped(
                out_of_fold(fit.posed, solve)
                if several
                else np.full_like(fit.posed.y, np.nan)
            )[some]
        scores, codes, w = _by_class(scores), codes[some], fit.posed.w[some]
        self.temperature_ = fitted_temperature(scores, codes, w)
        right = np.isfinite(scores).all(axis=1) & (scores.argmax(axis=1) == codes)
        self.loo_score_ = float(np.average(right, weights=w))


def _refuse_columns(options: list[Unpenalized | None]) -> None:
    """Of a kernel matrix only the constant, or the kernel itself, makes features."""
    for features in options:
        by_kernel = isinstance(getattr(features, "kernel", None), Precomputed)
        if features is not None and not (isinstance(features, Constant) or by_kernel):
            raise ValueError(
                f"X is a kernel matrix, which has no columns to make unpenalized "
                f"features of, such as {features!r}. Use 'constant' or "
                f"Eigenfunctions(k), or give the table and the kernel as an object."
            )


def _by_class(scores: Array) -> Array:
    """Scores with a column for each class, shape (b, n_classes)."""
    return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores


def _hinge(y: Array, values: Array) -> Array:
    return np.maximum(0.0, 1.0 - y * values)


def _r2(fit: Fit) -> float:
    """R^2 of left-out values, averaged over targets; NaN where it has no meaning."""
    if not fit.by_ridge or len(fit.posed.chosen) < 2:
        return float("nan")
    some = telling_rows(fit.posed)
    y, w = fit.posed.y[some], fit.posed.w[some, None]
    residuals = fit.leave_one_out(some).reshape(y.shape)
    spread = (w * (y - (w * y).sum(axis=0) / w.sum()) ** 2).sum(axis=0)
    lost = (w * residuals**2).sum(axis=0)
    # Equal targets have no spread to explain: 1 where they are met, else 0.
    r2 = np.where(lost > 0, 0.0, 1.0)
    np.divide(spread - lost, spread, out=r2, where=spread > 0)
    return float(r2.mean())
