r"""Conditional kernel ridge: chosen features are not penalized.

.. math:: min \; 1/l \sum_{i \, labeled} |y_i - g(x_i) - f(x_i)'beta|^2 + alpha |g|^2

The features f are what the user knows already; the kernel learns the rest. The fit
equals least squares on f plus kernel ridge on the residuals, with the residual kernel.
Takhanov, Assylbekov, "Conditional KRR", 2026.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from halfmoon._estimators.base import Estimator
from halfmoon._estimators.classification import Classifier
from halfmoon._estimators.fit_problem import Alphas
from halfmoon._estimators.parameter_docs import with_parameter_docs
from halfmoon._estimators.parameters import basis_for
from halfmoon._estimators.regression import Regressor
from halfmoon._labels import as_labels, no_labels_to_score
from halfmoon._memory import MEMORY_LIMIT
from halfmoon._rows import Array, Indices, Rows
from halfmoon._sklearn_conventions import as_numbers
from halfmoon._solvers.elimination import Elimination
from halfmoon._solvers.feature_path import FeaturePath, hard_threshold, nested_features
from halfmoon.kernels import Kernel
from halfmoon.kernels._transformed_rows import Shifted
from halfmoon.problem import Fit, Problem
from halfmoon.problem._posed import Posed
from halfmoon.theory._residual import ResidualKernel
from halfmoon.theory._when_to_condition import Conditioning, compare_risks

__all__ = [
    "ConditionalClassifier",
    "ConditionalRegressor",
    "HardThresholdPath",
    "NestedFeaturesPath",
]

MAX_RISK_LABELS = 500  # in the comparison of risks: a fraction of a second
# Warn of features that are predicted to raise the error by more than this share: then
# 86 % of the warnings are right, and 63 % from 0 on
# (benchmarks/results/conditioning.md).
COSTLY_SHARE = 0.25


@dataclass(frozen=True)
class HardThresholdPath:
    """Test error for each number of unpenalized eigenfunctions and each alpha."""

    k: Indices  # 0, 1, ..., the numerical rank of the kernel at the labeled rows
    alphas: Array  # (a,)
    errors: Array  # (a, rank + 1), mean squared error on the test rows

    @property
    def best(self) -> tuple[int, float]:
        """k and alpha with the least test error."""
        row, column = np.unravel_index(np.argmin(self.errors), self.errors.shape)
        return int(self.k[column]), float(self.alphas[row])


@dataclass(frozen=True)
class NestedFeaturesPath:
    """Test error with the first j unpenalized features, j = 0, ..., k."""

    names: list[str]  # of the features, in order
    errors: Array  # (k + 1,), mean squared error on the test rows
    loo_errors: Array  # (k + 1,), mean squared leave-one-out residual
    solutions: FeaturePath  # the fits: `coef(j)` and `dual_coef(j)`


@dataclass(eq=False, repr=False)
class Conditional(Estimator):
    """Base class of the regressor and the classifier: parameters, problem, paths."""

    kernel: Any = "gaussian"
    unpenalized: Any = "constant"
    alpha: Literal["auto"] | float | Sequence[float] = "auto"
    n_components: int | None = None
    landmarks: Any = "rpcholesky"
    loss: Any = "squared"
    basis: Any = "auto"
    memory_limit: int | str = MEMORY_LIMIT
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0
    unlabeled: Any = None

    def _make_problem(self, X: Rows, l: int, rng: np.random.Generator) -> Problem:
        return Problem(basis_for(self, self.kernel, X, l, rng))

    def residual_kernel(self, X: Any, Z: Any = None) -> Array:
        """Return the residual kernel: the kernel without what the features explain.

        Kernel ridge with this kernel, on the residuals of least squares on the
        features, gives this fit (theorem 3.2 of the paper, with the labeled rows as the
        distribution).

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (b, d)
        Z : the same, of shape (p, d), or None
            None is X.

        Returns
        -------
        ndarray of shape (b, p)
        """
        check_is_fitted(self)
        posed = self._one_fit.posed
        features = posed.unpenalized
        kernel = self._fitted_kernel()
        X = self._table(X, reset=False)
        Z = X if Z is None else self._table(Z, reset=False)
        if features is None:
            return kernel(X, Z)
        return ResidualKernel(kernel, features, posed.X_l)(X, Z)

    def hard_threshold_path(
        self, X: Any, y: Any, alphas: Sequence[float] | Array | None = None
    ) -> HardThresholdPath:
        """Return test errors with the top k eigenfunctions unpenalized, for every k.

        All k and all alphas take one eigendecomposition of the kernel at the labeled
        rows. Only the eigenfunctions are unpenalized on this path, not the constant.

        Parameters
        ----------
        X, y : test rows and their targets
            Unlabeled rows do not count.
        alphas : sequence of float or None
            None is the estimator's alphas.

        Returns
        -------
        HardThresholdPath
        """
        posed, X, targets = self._test_rows(X, y)
        kernel = self._fitted_kernel()
        if alphas is None:
            alphas = Alphas.of(self._alphas()).at(posed)
        alphas = as_numbers(alphas, "alphas")
        path = hard_threshold(kernel(posed.X_l), posed.y)
        errors = path.errors(kernel(X, posed.X_l), targets, alphas)
        return HardThresholdPath(np.arange(errors.shape[1]), np.array(alphas), errors)

    def feature_path(self, X: Any, y: Any) -> NestedFeaturesPath:
        """Return test errors with the first j unpenalized features, for every j.

        All j take one Cholesky factorization, at ``alpha_``. The exact leave-one-out
        errors that come with it hold for features that do not depend on the labels.

        Parameters
        ----------
        X, y : test rows and their targets
            Unlabeled rows do not count.

        Returns
        -------
        NestedFeaturesPath
        """
        posed, X, targets = self._test_rows(X, y)
        kernel = self._fitted_kernel()
        lam = posed.total_weight * cast(float, self.alpha_)
        path = nested_features(kernel(posed.X_l), posed.F, posed.y, lam)
        errors = path.errors(kernel(X, posed.X_l), posed.features(X), targets)
        loo_errors = (path.leave_one_out() ** 2).mean(axis=(1, 2))
        names = [] if posed.unpenalized is None else list(posed.unpenalized.names_)
        return NestedFeaturesPath(names, errors, loo_errors, path)

    def _fitted_kernel(self) -> Kernel:
        sections = self._one_fit.posed.basis.sections
        if sections is None:
            raise ValueError(
                "This needs the kernel, which random features only approximate. Use "
                "basis='auto'."
            )
        kernel = sections.kernel
        return kernel.kernel if isinstance(kernel, Shifted) else kernel

    def _test_rows(self, X: Any, y: Any) -> tuple[Posed, Rows, Array]:
        """Return the posed problem, and the labeled test rows with their targets."""
        check_is_fitted(self)
        fit = self._one_fit
        posed = fit.posed
        if not fit.by_ridge:
            raise ValueError("Paths over features are for loss='squared'.")
        if np.ptp(posed.w) > 0:
            raise ValueError(
                "Paths over features are for labels of equal weight; fit without "
                "sample_weight."
            )
        X = self._table(X, reset=False)
        targets = cast(Any, self)._as_targets(as_labels(y, X.shape[0]))
        targets = targets.reshape(X.shape[0], -1)
        labeled = ~np.isnan(targets).any(axis=1)
        if not labeled.any():
            raise no_labels_to_score(X.shape[0])
        return posed, X[labeled], targets[labeled]


@with_parameter_docs
@dataclass(eq=False, repr=False)
class ConditionalRegressor(Regressor, Conditional):
    """Kernel ridge regression with unpenalized features.

    See `halfmoon._estimators.conditional` for the equation. With a spline kernel and
    polynomials it is thin plate smoothing, with a Gaussian kernel universal kriging.
    O(l^3) time for the exact kernel, O(l p^2) with p landmarks.

    Examples
    --------
    The trend is unpenalized, so it continues where the rows end:

    >>> import numpy as np
    >>> X = np.linspace(0, 1, 20)[:, None]
    >>> y = 5 * X[:, 0] + np.sin(9 * X[:, 0])
    >>> model = ConditionalRegressor(unpenalized="linear", alpha=1e-6).fit(X, y)
    >>> bool(abs(model.predict([[3.0]])[0] - 15) < 2)
    True
    """

    def _score_and_calibrate(self) -> None:
        super()._score_and_calibrate()
        for model in self._parts() or [self]:
            _warn_if_features_hurt(model._one_fit)


def _warn_if_features_hurt(fit: Fit) -> None:
    """Warn if the predicted risk is clearly higher than with the constant alone."""
    found = compared_with_constant(fit)
    if found is not None and found.margin < -COSTLY_SHARE:
        warnings.warn(
            f"{found} Leave them out, use fewer, or label more rows.",
            UserWarning,
            stacklevel=4,
        )


def compared_with_constant(fit: Fit) -> Conditioning | None:
    """Return the predicted effect of unpenalized features; None if it is unknown."""
    posed, alpha = fit.posed, fit.alpha
    l, k = len(posed.labeled), posed.F.shape[1]
    by_kernel = posed.dual and posed.basis.conditional_degree < 0 and fit.by_ridge
    if not by_kernel or not 1 < k <= l // 2 or l > MAX_RISK_LABELS or not alpha:
        return None
    K = posed.basis.gram(posed.labeled)(posed.X_l)
    weighted = posed.root_w * K * posed.root_w.T
    y, constant = posed.root_w * posed.y, Elimination(posed.root_w)
    return compare_risks(weighted, posed.elimination, y, alpha, without=constant)


@with_parameter_docs
@dataclass(eq=False, repr=False)
class ConditionalClassifier(Classifier, Conditional):
    """Kernel ridge classification with unpenalized features.

    See `halfmoon._estimators.conditional` for the equation. O(l^3) time for the exact
    kernel, O(l p^2) with p landmarks.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 1, 20)[:, None]
    >>> y = np.where(X[:, 0] > 0.4, "high", "low")
    >>> model = ConditionalClassifier(unpenalized="linear").fit(X, y)
    >>> model.predict([[0.1], [5.0]])
    array(['low', 'high'], dtype='<U4')
    """
