r"""Principal component regression: the first k components of all rows, unpenalized.

.. math:: min_{b, c} \sum_{i \, labeled} |y_i - b - t(x_i)'c|^2, \quad
          t(x) = V_k'(x - m)

with V_k the top k principal directions of all rows, labeled or not. Unlabeled rows
enter through V_k and m alone. It is ridge regression on the scores t at lam = 0, with a
free constant: among several solutions the one of least ``|c|``. Its leave-one-out
residuals are those of `halfmoon._solvers.ridge`, the limit as the penalty
vanishes. They are exact for every k, because the components do not come from labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.utils.validation import check_is_fitted

from halfmoon._estimators.output_groups import by_output, groups_of_outputs
from halfmoon._partitions.estimator_methods import answers_by_partition
from halfmoon._rows import EPS, Array, Indices, Rows, as_dense_rows
from halfmoon._sklearn_conventions import Rule
from halfmoon._solvers.elimination import Elimination
from halfmoon._solvers.ridge import RowFactor, ridge_svd
from halfmoon.baselines._base import BaselineRegressor
from halfmoon.kernels._length_scales import large_offset
from halfmoon.kernels._transformed_rows import from_origin

__all__ = ["PrincipalComponentRegressor"]

MAX_COMPONENTS = 30  # tried by default


def least_squares(
    T: Array,  # (l, k)
    Y: Array,  # (l, t)
) -> tuple[Array, Array, Array]:  # (k, t), (1, t), (l, t)
    """Return coefficients of the scores, intercepts and leave-one-out residuals."""
    l = len(T)
    path = ridge_svd(T, Y, Elimination(np.ones((l, 1))), 1.0)
    c, b = path.theta(0.0), path.beta(0.0)
    used = path.s2 > 0
    if used.sum() == l - 1:  # the fit interpolates
        return c, b, path.leave_one_out([0.0])[0]
    U = np.hstack([path.elimination.Q1, cast(RowFactor, path.rows).U[:, used]])
    left = 1.0 - (U**2).sum(axis=1)  # 1 - H_ii
    residuals = np.full(Y.shape, np.inf)
    known = left > 10 * EPS * l
    residuals[known] = (Y - U @ (U.T @ Y))[known] / left[known, None]
    return c, b, residuals


def _by_groups(T: Array, Y: Array) -> tuple[Array, Array, Array]:
    """`least_squares` of outputs with missing labels (NaN), each by its own rows."""
    groups, fits = groups_of_outputs(Y), []
    all_residuals = np.full(Y.shape, np.nan)
    for columns in groups:
        rows = np.flatnonzero(~np.isnan(Y[:, columns[0]]))
        c, b, residuals = least_squares(T[rows], Y[np.ix_(rows, columns)])
        all_residuals[np.ix_(rows, columns)] = residuals
        fits.append((c, b))
    c, b = (by_output(groups, each) for each in zip(*fits, strict=True))
    return c, b, all_residuals


@dataclass(eq=False, repr=False)
class PrincipalComponentRegressor(BaselineRegressor):
    """Least squares on the first k principal components of all rows.

    See `halfmoon.baselines._principal_components` for the equations. Unlabeled rows
    help to find the components; nothing is penalized.

    Parameters
    ----------
    n_components : int, sequence of int or None
        k. The best of a sequence is chosen by exact leave-one-out; None tries 1, 2,
        ..., 30, as far as the columns and rows allow.
    random_state : None, int or RandomState
        For the decomposition of large tables.
    unlabeled : object
        A value of y that counts as missing, such as -1.

    Attributes
    ----------
    n_components_ : int
        The k that was used.
    components_ : ndarray of shape (k, d)
        Principal directions.
    mean_ : ndarray of shape (d,)
        Mean of all rows.
    coef_ : ndarray of shape (d,) or (t, d)
        Weights of the columns of X.
    intercept_ : float or ndarray of shape (t,)
    loo_errors_ : ndarray, one for each number of components
        Mean squared leave-one-out residual.
    n_labeled_ : int

    References
    ----------
    I. T. Jolliffe, "Principal component analysis", second edition, 2002, chapter 8.

    Examples
    --------
    >>> import numpy as np
    >>> from halfmoon.baselines import PrincipalComponentRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 20)) * np.r_[5, np.ones(19)]
    >>> y = np.where(np.arange(500) < 10, X[:, 0], np.nan)  # ten labels
    >>> model = PrincipalComponentRegressor(1).fit(X, y)
    >>> bool(model.score(X, X[:, 0]) > 0.98)
    True
    """

    n_components: int | Sequence[int] | None = None
    random_state: Any = None
    unlabeled: Any = None

    _parameter_rules: ClassVar[dict[str, Rule]] = {}  # several numbers are allowed

    def _fit_targets(self, X: Rows, targets: Array, labeled: Indices) -> None:
        Y = targets.reshape(X.shape[0], -1)
        numbers = self._numbers(min(X.shape[0] - 1, X.shape[1]))
        self._origin = large_offset(X)
        X = from_origin(X, self._origin)
        mean, V = self._directions(X, max(numbers))
        T = np.asarray(X[labeled] @ V.T) - mean @ V.T  # (l, k)
        fits = [_by_groups(T[:, :k], Y[labeled]) for k in numbers]
        self.loo_errors_ = np.array([np.nanmean(fit[2] ** 2) for fit in fits])
        best = int(np.argmin(self.loo_errors_))
        self.n_components_, self.n_labeled_ = numbers[best], len(labeled)
        self.components_ = V[: numbers[best]]
        c, b, residuals = fits[best]
        coef = (self.components_.T @ c).T  # (t, d)
        intercept = b[0] - coef @ mean
        self._at_origin = intercept
        self.mean_ = mean
        if self._origin is not None:
            self.mean_ = mean + self._origin
            intercept = intercept - coef @ self._origin
        single = targets.ndim == 1
        self.coef_ = coef[0] if single else coef
        self.intercept_ = float(intercept[0]) if single else intercept
        self._loo_residuals = residuals[:, 0] if single else residuals

    @answers_by_partition
    def predict(self, X: Any) -> Array:
        """Return predictions, shape (b,) or (b, t)."""
        check_is_fitted(self)
        U = from_origin(self._table(X, reset=False), self._origin)
        at_origin = self._at_origin if np.ndim(self.intercept_) else self._at_origin[0]
        return np.asarray(U @ self.coef_.T + at_origin)

    def leave_one_out(self) -> Array:
        """Return the exact leave-one-out residuals of the labeled rows.

        The row stays in the table as an unlabeled one. Infinite where the other labels
        do not determine its prediction, NaN where the row lacks the output.

        Returns
        -------
        ndarray of shape (n_labeled,) or (n_labeled, t)
        """
        check_is_fitted(self)
        return self._loo_residuals

    def _numbers(self, most: int) -> list[int]:
        """The numbers of components to try, none above `most`."""
        if self.n_components is None:
            return list(range(1, min(most, MAX_COMPONENTS) + 1))
        numbers = np.atleast_1d(np.asarray(self.n_components))
        if numbers.dtype.kind not in "iu" or numbers.ndim != 1 or numbers.size == 0:
            raise ValueError(
                f"n_components is {self.n_components!r}; a whole number from 1 on, or "
                f"a sequence of such numbers, is needed."
            )
        if numbers.min() < 1 or numbers.max() > most:
            raise ValueError(
                f"n_components is {self.n_components!r}; this table has {most} "
                f"components. Choose from 1 to {most}."
            )
        return [int(k) for k in numbers]

    def _directions(self, X: Rows, k: int) -> tuple[Array, Array]:
        """Mean of all rows, (d,), and their k principal directions, (k, d)."""
        if sp.issparse(X) and k >= min(X.shape):
            X = as_dense_rows(X)
        with np.errstate(invalid="ignore"):  # shares of no variance: all rows equal
            pca = PCA(k, random_state=self.random_state).fit(X)
        return pca.mean_, pca.components_
