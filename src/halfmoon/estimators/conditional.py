r"""Conditional kernel ridge: chosen features are not penalized.

.. math:: min \; 1/l \sum_{i \, labeled} |y_i - g(x_i) - f(x_i)'beta|^2 + alpha |g|^2

What the user knows, f, is trusted freely; the kernel learns the rest. It equals least
squares on f and kernel ridge on the residuals with the residual kernel. Takhanov,
Assylbekov, "Conditional KRR", 2026.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from halfmoon.estimators.alphas import Alphas
from halfmoon.estimators.classification import Classifier
from halfmoon.estimators.lever import Lever
from halfmoon.estimators.parameters import documented
from halfmoon.estimators.paths import HardThresholdPath, NestedFeaturesPath
from halfmoon.estimators.regression import Regressor
from halfmoon.estimators.targets import as_labels
from halfmoon.kernels import Kernel
from halfmoon.labels import no_labels_to_score
from halfmoon.memory import MEMORY_LIMIT
from halfmoon.problem import Fit, Posed, Problem, as_numbers
from halfmoon.rows import Array, Rows
from halfmoon.solvers import Elimination, hard_threshold, nested_features
from halfmoon.theory import ResidualKernel
from halfmoon.theory.decision import compare_risks

__all__ = ["ConditionalClassifier", "ConditionalRegressor"]

JUDGED = 500  # labels, whose modes are found in a fraction of a second
HURTS = 0.25  # of the error: features that are predicted to cost more are warned of


@dataclass(eq=False, repr=False)
class Conditional(Lever):
    """The lever, without what y is."""

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

    def _state(self, X: Rows, l: int, rng: np.random.Generator) -> Problem:
        return Problem(self._kernel_basis(self.kernel, X, l, rng))

    def residual_kernel(self, X: Any, Z: Any = None) -> Array:
        """Values of the residual kernel: what the features leave of the kernel.

        Kernel ridge with it, on the residuals of least squares on the features, is this
        fit (theorem 3.2 of the paper, with the labeled rows as the distribution).

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (b, d)
        Z : the same, of shape (p, d), or None
            None is X itself.

        Returns
        -------
        ndarray of shape (b, p)
        """
        check_is_fitted(self)
        posed = self.solution_.posed
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
        """Test errors with the top k eigenfunctions unpenalized, for every k and alpha.

        From one eigendecomposition of the kernel at the labeled rows; nothing but the
        eigenfunctions is unpenalized on this path, not even the constant.

        Parameters
        ----------
        X, y : test rows and their targets
            Those that `y` leaves unlabeled do not count.
        alphas : sequence of float or None
            None is the estimator's own.

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
        """Test errors with the first j unpenalized features, for every j.

        From one Cholesky factorization at ``alpha_``; also the exact leave-one-out
        error of each j, which holds for features that do not come from the labels.

        Parameters
        ----------
        X, y : test rows and their targets
            Those that `y` leaves unlabeled do not count.

        Returns
        -------
        NestedFeaturesPath
        """
        posed, X, targets = self._test_rows(X, y)
        kernel = self._fitted_kernel()
        lam = posed.total_weight * cast(float, self.alpha_)
        path = nested_features(kernel(posed.X_l), posed.F, posed.y, lam)
        errors = path.errors(kernel(X, posed.X_l), posed.features(X), targets)
        left_out = (path.leave_one_out() ** 2).mean(axis=(1, 2))
        names = [] if posed.unpenalized is None else list(posed.unpenalized.names_)
        return NestedFeaturesPath(names, errors, left_out, path)

    def _fitted_kernel(self) -> Kernel:
        sections = self.solution_.posed.basis.sections
        if sections is None:
            raise ValueError(
                "This needs the kernel itself, which random features only stand in "
                "for. Use basis='auto'."
            )
        return sections.kernel

    def _test_rows(self, X: Any, y: Any) -> tuple[Posed, Rows, Array]:
        """The posed problem, and test rows with the targets they are compared with."""
        check_is_fitted(self)
        fit = cast(Fit, self.solution_)
        posed = fit.posed
        if not fit.by_ridge:
            raise ValueError("Paths over features are for loss='squared'.")
        if np.ptp(posed.w) > 0:
            raise ValueError(
                "Paths over features are for labels of equal weight; fit without "
                "sample_weight."
            )
        X = self._table(X, reset=False)
        targets = self._as_targets(as_labels(y, X.shape[0])).reshape(X.shape[0], -1)
        known = ~np.isnan(targets).any(axis=1)
        if not known.any():
            raise no_labels_to_score(X.shape[0])
        return posed, X[known], targets[known]


@documented
@dataclass(eq=False, repr=False)
class ConditionalRegressor(Regressor, Conditional):
    """Kernel ridge regression with features that no penalty touches.

    See `halfmoon.estimators.conditional` for the equation. With a spline kernel and
    polynomials it is thin plate smoothing, with a Gaussian kernel universal kriging.
    O(l^3) time for the exact kernel, O(l p^2) with p landmarks.

    Examples
    --------
    A trend that continues where the rows end, because no penalty holds it down:

    >>> import numpy as np
    >>> X = np.linspace(0, 1, 20)[:, None]
    >>> y = 5 * X[:, 0] + np.sin(9 * X[:, 0])
    >>> model = ConditionalRegressor(unpenalized="linear", alpha=1e-6).fit(X, y)
    >>> bool(abs(model.predict([[3.0]])[0] - 15) < 2)
    True
    """

    def _fit_posed(
        self, posed: Posed, alphas: Alphas, rng: np.random.Generator
    ) -> None:
        super()._fit_posed(posed, alphas, rng)
        self._warn_if_it_hurts()

    def _warn_if_it_hurts(self) -> None:
        """Compare the risk with the features to that with the constant alone."""
        fit = cast(Fit, self.solution_)
        posed, alpha = fit.posed, fit.alpha
        l, k = len(posed.chosen), posed.F.shape[1]
        by_kernel = posed.dual and posed.basis.conditional_degree < 0
        by_kernel &= fit.by_ridge
        if not by_kernel or not 1 < k <= l // 2 or l > JUDGED or not alpha:
            return
        K = posed.basis.gram(posed.chosen)(posed.X_l)
        weighted = posed.root_w * K * posed.root_w.T
        y, constant = posed.root_w * posed.y, Elimination(posed.root_w)
        found = compare_risks(weighted, posed.elimination, y, alpha, without=constant)
        if found.margin < -HURTS:
            warnings.warn(
                f"{found} Leave them out, use fewer, or label more rows.",
                UserWarning,
                stacklevel=4,
            )


@documented
@dataclass(eq=False, repr=False)
class ConditionalClassifier(Classifier, Conditional):
    """Kernel ridge classification with features that no penalty touches.

    See `halfmoon.estimators.conditional` for the equation. O(l^3) time for the exact
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
