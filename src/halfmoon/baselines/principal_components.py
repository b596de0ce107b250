r"""Principal component regression: the first k components of all rows, unpenalized.

.. math:: min_{b, c} \sum_{i \, labeled} |y_i - b - t(x_i)'c|^2, \quad
          t(x) = V_k'(x - m)

with V_k the top k principal directions of all rows, labeled or not; of all solutions
the one of least ``|c|``. Unlabeled rows enter through V_k and m alone.

**Leave-one-out.** With T the scores of the l labeled rows less their mean and
:math:`U diag(s) V' = T` of rank r, the left-out residual of row i is

.. math:: (y_i - b - t_i'c) / (1 - 1/l - |u_i|^2) \quad if \; r < l - 1, \qquad
          (G y)_i / G_{ii}, \; G = U diag(s^{-2}) U' \quad if \; r = l - 1

where the second, with the labels interpolated, is the limit of ridge regression as its
penalty vanishes. Both are exact for every k, as the components do not come from labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.utils.validation import check_is_fitted

from halfmoon.baselines.base import BaselineRegressor
from halfmoon.estimators.output_groups import by_output, groups_of_outputs
from halfmoon.partitions.methods import answers_by_partition, fits_by_partition
from halfmoon.rows import Array, Rows, as_dense_rows

__all__ = ["PrincipalComponentRegressor"]

EPS = float(np.finfo(np.float64).eps)

MOST = 30  # components that are tried unless told


class LeastSquares(NamedTuple):
    """Coefficients of least norm, and left-out residuals."""

    c: Array  # (k, t)
    b: Array  # (t,)
    left_out: Array  # (l, t), infinite where nothing is known without the label


def least_squares(T: Array, Y: Array) -> LeastSquares:
    """Least squares of Y, (l, t), on scores T, (l, k), and a constant."""
    l, mean, y_mean = len(T), T.mean(axis=0), Y.mean(axis=0)
    T, Y = T - mean, Y - y_mean
    U, s, Vt = sla.svd(T, full_matrices=False, check_finite=False)
    kept = s > EPS * max(T.shape) * s.max(initial=0.0)
    U, s, Vt = U[:, kept], s[kept], Vt[kept]
    c = Vt.T @ ((U.T @ Y) / s[:, None])
    if len(s) < l - 1:
        top, bottom = Y - U @ (U.T @ Y), 1.0 - 1.0 / l - (U**2).sum(axis=1)
        known = bottom > 10 * EPS * l
    else:
        top, bottom = U @ ((U.T @ Y) / s[:, None] ** 2), (U / s) ** 2 @ np.ones(len(s))
        known = bottom > 0
    left_out = np.full(Y.shape, np.inf)
    left_out[known] = top[known] / bottom[known, None]
    return LeastSquares(c, y_mean - mean @ c, left_out)


def _by_groups(T: Array, Y: Array) -> LeastSquares:
    """`least_squares` of outputs that may have gaps, NaN, each by its own rows."""
    groups = groups_of_outputs(Y)
    left_out, fits = np.full(Y.shape, np.nan), []
    for columns in groups:
        rows = np.flatnonzero(~np.isnan(Y[:, columns[0]]))
        fits.append(least_squares(T[rows], Y[np.ix_(rows, columns)]))
        left_out[np.ix_(rows, columns)] = fits[-1].left_out
    c = by_output(groups, [fit.c for fit in fits])
    return LeastSquares(c, by_output(groups, [fit.b for fit in fits]), left_out)


@dataclass(eq=False, repr=False)
class PrincipalComponentRegressor(BaselineRegressor):
    """Least squares on the first k principal components of all rows.

    See `halfmoon.baselines.principal_components` for the equations. Unlabeled rows
    help to find the components; nothing is penalized.

    Parameters
    ----------
    n_components : int, sequence of int or None
        k. Of a sequence the best is taken by exact leave-one-out; None is 1, 2, ...,
        30, as far as there are columns and rows.
    random_state : None, int or RandomState
        For the decomposition of large tables.
    unlabeled : object
        A value of y that means "no label" besides missing ones, such as -1.

    Attributes
    ----------
    n_components_ : int
        k that was used.
    components_ : ndarray of shape (k, d)
        Principal directions.
    mean_ : ndarray of shape (d,)
        Of all rows.
    coef_ : ndarray of shape (d,) or (t, d)
        Weights of the columns of X.
    intercept_ : float or ndarray of shape (t,)
    loo_errors_ : ndarray, one for each number of components
        Mean squared left-out residual.
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

    @fits_by_partition
    def fit(self, X: Any, y: Any) -> Self:
        """Learn from all rows of X and from the labels that y has.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            All rows, labeled or not.
        y : array-like of shape (n,) or (n, t)
            Targets; NaN, None or pd.NA where a row has none. Each output learns from
            the rows that have it.
        """
        X, targets, chosen = self._read(X, y)
        Y = targets.reshape(X.shape[0], -1)
        numbers = self._numbers(min(X.shape[0] - 1, X.shape[1]))
        self.mean_, V = self._directions(X, max(numbers))
        T = np.asarray(X[chosen] @ V.T) - self.mean_ @ V.T  # (l, k)
        fits = [_by_groups(T[:, :k], Y[chosen]) for k in numbers]
        self.loo_errors_ = np.array([np.nanmean(fit.left_out**2) for fit in fits])
        best = int(np.argmin(self.loo_errors_))
        self.n_components_, self.n_labeled_ = numbers[best], len(chosen)
        self.components_ = V[: numbers[best]]
        c, b, left_out = fits[best]
        coef = (self.components_.T @ c).T  # (t, d)
        intercept = b - coef @ self.mean_
        single = targets.ndim == 1
        self.coef_ = coef[0] if single else coef
        self.intercept_ = float(intercept[0]) if single else intercept
        self._left_out = left_out[:, 0] if single else left_out
        return self

    @answers_by_partition
    def predict(self, X: Any) -> Array:
        """Values at any rows, shape (b,) or (b, t)."""
        check_is_fitted(self)
        return np.asarray(self._table(X, reset=False) @ self.coef_.T + self.intercept_)

    def leave_one_out(self) -> Array:
        """Residuals of the labeled rows, each predicted without its own label.

        Exact; the row stays in the table as an unlabeled one. Infinite where nothing
        is known of a row without its label, NaN where the row lacks the output.

        Returns
        -------
        ndarray of shape (n_labeled,) or (n_labeled, t)
        """
        check_is_fitted(self)
        return self._left_out

    def _numbers(self, most: int) -> list[int]:
        """The numbers of components to try, none beyond those that there are."""
        if self.n_components is None:
            return list(range(1, min(most, MOST) + 1))
        numbers = np.atleast_1d(np.asarray(self.n_components))
        if numbers.dtype.kind not in "iu" or numbers.ndim != 1 or numbers.size == 0:
            raise ValueError(
                f"n_components is {self.n_components!r}; 1, 2, 3, ..., or several of "
                f"these, is needed."
            )
        if numbers.min() < 1 or numbers.max() > most:
            raise ValueError(
                f"n_components is {self.n_components!r}; this table has 1 to {most} "
                f"components."
            )
        return [int(k) for k in numbers]

    def _directions(self, X: Rows, k: int) -> tuple[Array, Array]:
        """Mean of all rows, (d,), and their k principal directions, (k, d)."""
        if sp.issparse(X) and k >= min(X.shape):
            X = as_dense_rows(X)
        pca = PCA(k, random_state=self.random_state).fit(X)
        return pca.mean_, pca.components_
