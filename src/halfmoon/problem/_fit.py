"""Ridge, and the fitted function: values, uncertainty and leave-one-out residuals."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import Any, cast

import numpy as np
import scipy.linalg as sla

from halfmoon._rows import Array, Indices, Rows, as_table
from halfmoon._sklearn_conventions import as_numbers
from halfmoon._solvers.cholesky_ridge import PathPoint, factor_of_path
from halfmoon._solvers.elimination import Elimination
from halfmoon._solvers.ridge import RidgePath, scaled_variances
from halfmoon.problem._moment_ridge import loo_residuals_of_rows, ridge_from_moments
from halfmoon.problem._offset import constant_of_shift
from halfmoon.problem._posed import Posed

__all__ = [
    "Fit",
    "loo_residuals",
    "loo_residuals_of_set",
    "ridge_solution",
    "solve_ridge",
]


def loo_residuals(
    posed: Posed,
    alphas: Sequence[float],
    rows: Indices | slice = slice(None),
) -> Array:  # (a, l, t)
    """Return leave-one-out residuals of labeled rows, times their root weights.

    If the fit kept only moments of the rows, this is another pass over them.
    """
    path = posed.path
    if path.rows is not None:
        return path.leave_one_out(alphas)[:, rows]
    return loo_residuals_of_rows(posed, alphas, rows)


def loo_residuals_of_set(
    H: Array,  # (l, l)
    residuals: Array,  # (l, t)
    S: Indices,  # (m,)
) -> Array:  # (m, t)
    """Return the residuals of a set S of labeled rows, by a fit without their labels.

    At the same lam, the fit without these labels is the fit to all labels in which
    those of S equal their predictions. So :math:`e_S = r_S + H_{SS} e_S`, with H the
    smoother and r the residuals of the fit to all labels.

    NaN where the other labels do not determine the fit.
    """
    A = np.eye(len(S)) - H[np.ix_(S, S)]
    with warnings.catch_warnings():
        warnings.simplefilter("error", sla.LinAlgWarning)
        try:
            return np.asarray(sla.solve(A, residuals[S]))
        except (np.linalg.LinAlgError, sla.LinAlgWarning):
            return np.full((len(S), residuals.shape[1]), np.nan)


@dataclass(frozen=True)
class Fit:
    """The function g(x) = phi(x)'theta + f(x)'beta that solves a problem.

    Attributes
    ----------
    posed : Posed
        The problem and its data.
    theta : ndarray of shape (p, t)
    beta : ndarray of shape (k, t)
    alpha : float or None
        The penalty weight; of several, the one chosen by leave-one-out.
    by_ridge : bool
        Whether the fit is a point of a `path`, with the closed forms of ridge.
    loo_scores : ndarray or None
        Mean leave-one-out loss of each alpha, if there were several.
    solve : callable or None
        The function that solved the problem, to solve it for other targets; None if
        the fit does not depend linearly on them.
    c : ndarray of shape (l, t) or None
        Dual coefficients of a loss other than squares.
    left_out_values : ndarray of shape (l, t) or None
        Leave-one-out predictions of such a loss, after one Newton step; NaN where the
        other labels do not determine them.
    one_alpha : bool
        Whether no other alpha was asked for, so that a `PathPoint` serves.
    """

    posed: Posed
    theta: Array
    beta: Array
    alpha: float | None = None
    by_ridge: bool = False
    loo_scores: Array | None = None
    solve: Callable[[Posed], Fit] | None = None
    c: Array | None = None
    left_out_values: Array | None = None
    one_alpha: bool = False

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields, without the cached function, which follows from them."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @property
    def coef(self) -> Array:
        """Weights of the features, (k,) or (k, t), beside a linear kernel of all of x.

        They differ from beta where the basis measures rows from their middle.
        """
        posed, beta = self.posed, self.beta
        if posed.basis.any_origin:
            return self.shaped(beta)
        constant = constant_of_shift(posed.basis, self.theta)
        if constant.any():
            features = Elimination(posed.root_w * posed.F, quiet=True)
            beta = beta + features.solve(features.Q1.T @ (posed.root_w * constant))
        return self.shaped(beta)

    @property
    def rank(self) -> int:
        """Number of directions of the basis that the fit could use."""
        if self.by_ridge and self.posed.dual:
            return int((self.path.s2 > 0).sum())
        return self.posed.whitening.rank + self.posed.free.shape[1]

    def predict(self, X: Rows) -> Array:
        """Return the values g(x), shape (b,) or (b, t)."""
        return self.shaped(self._map(self._values, X))

    def _values(self, rows: Rows) -> Array:
        return self._function(rows) + self.posed.features(rows) @ self.beta

    def std(self, X: Rows, noise: float | None = None) -> Array:
        """Return the posterior standard deviation of g(x), shape (b,) or (b, t).

        (1) is the posterior mean for theta ~ N(0, tau Q^-1), a flat beta, and noise of
        variance s2 / w_i, with lam = s2 / tau. If the basis approximates a kernel, the
        prior variance that it misses is added, so that far from all rows the deviation
        grows to that of the prior.

        Parameters
        ----------
        X : array or CSR of shape (b, d)
        noise : float or None
            Variance s2 of the noise; None estimates it by restricted maximum
            likelihood.
        """
        with self.posed.stream.handed_down():
            s2, tau = self._scales(noise)
            dual = self.posed.dual
            parts = self._parts_in_dual() if dual else self._parts_in_primal()

        def variance(rows: Rows) -> Array:
            by_noise, by_prior = parts(rows)
            return scaled_variances(by_noise, s2) + scaled_variances(by_prior, tau)

        return self.shaped(np.sqrt(self._map(variance, X)))

    def leave_one_out(self, some: Indices | slice = slice(None)) -> Array:
        """Return the leave-one-out residuals y_i - g_(-i)(x_i), shape (l,) or (l, t).

        g_(-i) is the fit without the label of row i, which stays in the table as an
        unlabeled row, at the same lam. Infinite where the other labels do not determine
        g_(-i)(x_i). Exact for squares, and but for a few rows for losses with kinks
        (`halfmoon._solvers.left_out_pivots`); for logistic losses after one Newton step
        (`halfmoon._solvers.bordered_system`).

        Parameters
        ----------
        some : indices or slice
            Which of the labeled rows; all of them by default.
        """
        if self.left_out_values is not None:
            values = self.left_out_values[some]
            e = np.where(np.isnan(values), np.inf, self.posed.y[some] - values)
            return self.shaped(e)
        with self.posed.stream.handed_down():
            residuals = self._loo_residuals(some)
        return self.shaped(residuals / self.posed.root_w[some])

    def _loo_residuals(self, some: Indices | slice) -> Array:
        path, alpha = self._ridge()
        if isinstance(path, PathPoint):
            return path.leave_one_out([alpha])[0, some]
        return loo_residuals(self.posed, [alpha], some)[0]

    def leave_sets_out(self, sets: Sequence[Indices]) -> list[Array]:
        """Predict each set of labeled rows by a fit without its labels, (m, t) each.

        At the same lam, as in `leave_one_out`; NaN where the other labels do not
        determine the fit. A label costs O(l^2), and a set of m labels O(m^3).
        """
        y = self.posed.y
        H = self.smoother_matrix(self.posed.X_l)
        r = y - H @ y
        return [y[S] - loo_residuals_of_set(H, r, S) for S in sets]

    @property
    def loo_score(self) -> float:
        """Mean leave-one-out loss; the smallest, if there were several alphas.

        For a filtered fit, the mean loss over folds; NaN if there was one alpha only.
        """
        if self.loo_scores is not None:
            return float(self.loo_scores.min())
        if self.left_out_values is not None:
            with np.errstate(invalid="ignore"):  # logaddexp warns of NaN
                losses = self.posed.loss.values(self.posed.y, self.left_out_values)
            mean = self.posed.w @ losses / self.posed.total_weight
            return float(np.where(np.isnan(mean), np.inf, mean).mean())
        if not self.by_ridge:
            return float("nan")
        rows = self.posed.loo_sample
        squares = self._loo_residuals(rows) ** 2
        weight = self.posed.w[rows].sum() * self.posed.y.shape[1]
        return float(squares.sum() / weight)

    def smoother_matrix(self, X: Rows) -> Array:
        """Return H(x), shape (b, l), with g(x) = H(x) y for any targets y."""
        if self.solve is None:
            raise ValueError(
                f"With the {self.posed.loss.name} loss, predictions are not linear in "
                f"the targets, so there is no smoother matrix. Use loss='squared'."
            )
        if self.by_ridge and self.posed.dual:
            self._ridge()  # factored once, for these targets too
        identity = np.eye(len(self.posed.labeled))
        with self.posed.stream.handed_down():
            return self.solve(self.posed.with_targets(identity)).predict(X)

    def dual_coef(self) -> Array:
        """Return c, shape (l, t), with phi(x)'theta = sum_i k_Q(x, x_i) c_i.

        Here k_Q(x, z) = phi(x)'Q^-1 phi(z) and x_i are the labeled rows. Setting the
        derivative of (1) to 0 gives c = w (y - g) / lam, or -w loss'(g) / (2 lam), in
        any basis.
        """
        if self.c is not None:
            return self.c
        path, alpha = self._ridge()
        posed = self.posed
        if posed.dual:
            return posed.root_w * path.theta(alpha)
        lam = path.lam(alpha)
        if lam == 0:
            raise ValueError(
                "alpha is 0, where the dual coefficients are not unique. Use alpha > 0."
            )
        g = self._map(self._values, posed.X_l)
        return np.asarray(posed.root_w**2 * (posed.y - g) / lam)

    def _scales(self, noise: float | None) -> tuple[Array, Array]:
        """Variances of noise and prior, by restricted likelihood if noise is None."""
        path, alpha = self._ridge()
        if noise is None:
            return path.scales(alpha)
        if not 0 <= noise < np.inf:
            raise ValueError(
                f"noise is {noise}; a variance that is not negative is needed."
            )
        lam, s2 = path.lam(alpha), np.full(self.theta.shape[1], float(noise))
        return s2, s2 / lam if lam > 0 else np.full_like(s2, np.inf)

    def _parts_in_dual(self) -> Callable[[Rows], tuple[Array, Array]]:
        posed, (path, alpha) = self.posed, self._ridge()
        gram, root_w = posed.basis.gram(posed.labeled), posed.root_w[:, 0]
        if isinstance(path, PathPoint):
            factor = path.factor
        else:
            factor = factor_of_path(path, path.lam(alpha))

        def parts(rows: Rows) -> tuple[Array, Array]:
            k_x, k_xx = gram(rows) * root_w, posed.basis.prior_variance(rows)
            return factor.variance_parts(k_x, k_xx, posed.features(rows))

        return parts

    def _parts_in_primal(self) -> Callable[[Rows], tuple[Array, Array]]:
        posed, path, alpha = self.posed, self.path, cast(float, self.alpha)
        # Next to an energy, the norm of the kernel has the weight mu.
        share = 1.0 if posed.energy is None else posed.mu

        def parts(rows: Rows) -> tuple[Array, Array]:
            Phi = posed.basis.transform(rows)
            F = np.hstack([posed.features(rows), Phi @ posed.free])
            whitened = posed.whitening.whiten(Phi)
            by_noise, by_prior = path.variance_parts(whitened, F, alpha)
            if share > 0:
                by_prior += posed.basis.missing_variance(rows) / share
            return by_noise, by_prior

        return parts

    @cached_property
    def _function(self) -> Callable[[Rows], Array]:
        return self.posed.basis.function(self.theta)

    @property
    def path(self) -> RidgePath:
        """The factorization for every alpha."""
        self._require_ridge()
        return self.posed.path

    def _require_ridge(self) -> None:
        if not self.by_ridge:
            raise ValueError(
                "Only a fit by ridge has leave-one-out residuals and a posterior "
                "variance in closed form. Use loss='squared' and no filter."
            )

    def _ridge(self) -> tuple[RidgePath | PathPoint, float]:
        """Return alpha, and the path or its point there."""
        self._require_ridge()
        posed, alpha = self.posed, cast(float, self.alpha)
        return posed.path_at(alpha) if self.one_alpha else posed.path, alpha

    def _map(self, function: Callable[[Rows], Array], X: Rows) -> Array:
        X = as_table(X)
        row_bytes = 2 * self.posed.basis.row_bytes
        return self.posed.stream.map(function, X, row_bytes=row_bytes)

    def shaped(self, values: Array) -> Array:
        """Return one column for each target, or a vector if y was a vector."""
        return values[:, 0] if self.posed.single else values


def solve_ridge(posed: Posed, alpha: float | Sequence[float] | Array) -> Fit:
    """Solve a posed problem by ridge. Exact leave-one-out chooses among alphas.

    The error is taken over all labeled rows or 2,000 of them: see `Posed.loo_sample`.

    Parameters
    ----------
    posed : Posed
    alpha : float or sequence of float
        Penalty weight, relative to the averaged loss.
    """
    alphas = as_numbers(alpha, "alpha")
    best, scores = alphas[0], None
    one_alpha = len(alphas) == 1 and posed.dual and not posed.is_factored
    if len(alphas) > 1:
        rows = posed.loo_sample
        errors = loo_residuals(posed, alphas, rows) ** 2  # times the weights
        scores = errors.sum(axis=(1, 2)) / (posed.w[rows].sum() * posed.y.shape[1])
        best = alphas[int(np.argmin(scores))]
    theta, beta = ridge_solution(posed, best)
    return Fit(
        posed,
        theta,
        beta,
        alpha=best,
        by_ridge=True,
        loo_scores=scores,
        solve=partial(solve_ridge, alpha=best),
        one_alpha=one_alpha,
    )


def ridge_solution(posed: Posed, alpha: float) -> tuple[Array, Array]:
    """Return theta and beta of (1), from the path or by Cholesky if cheaper."""
    if posed.overdetermined:
        return ridge_from_moments(posed, alpha)
    path = posed.path_at(alpha)
    theta, beta = path.theta(alpha), path.beta(alpha)
    if posed.dual:
        return posed.basis.lift(posed.labeled, posed.root_w * theta), beta
    return posed.with_free(posed.whitening.unwhiten(theta), beta)
