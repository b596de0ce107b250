"""A fitted function: values, uncertainty and leave-one-out residuals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, cast

import numpy as np

from halfmoon.problem.left_out import left_out, left_out_together, telling_rows
from halfmoon.problem.posed import Posed
from halfmoon.rows import Array, Indices, Rows, as_table
from halfmoon.solvers import RidgePath, kriging_variance, scaled_variances

__all__ = ["Fit"]


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
        The penalty weight, chosen by leave-one-out where there were several.
    by_ridge : bool
        The fit is a point of a `path`, and has what follows from that.
    loo_scores : ndarray or None
        Mean loss of left-out rows of each alpha, where there were several.
    solve : callable or None
        What solved the problem and solves it again for other targets; None where the
        fit does not depend linearly on them.
    c : ndarray of shape (l, t) or None
        Dual coefficients of a loss other than squares.
    left_out_values : ndarray of shape (l, t) or None
        Of such a loss: values at the labeled rows without their own labels, after one
        Newton step; NaN where nothing is known without them.
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

    def __getstate__(self) -> dict[str, Any]:
        """What is stored: not the function, which is made from the rest."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @property
    def rank(self) -> int:
        """Number of directions that the fit could use of the basis."""
        if self.by_ridge and self.posed.dual:
            return int((self.path.s2 > 0).sum())
        return self.posed.whitening.rank + self.posed.free.shape[1]

    def predict(self, X: Rows) -> Array:
        """Values g(x), shape (b,) or (b, t)."""
        return self.shaped(self._map(self._values, X))

    def _values(self, rows: Rows) -> Array:
        return self._function(rows) + self.posed.features(rows) @ self.beta

    def std(self, X: Rows, noise: float | None = None) -> Array:
        """Posterior standard deviation of g(x), shape (b,) or (b, t).

        (1) is the posterior mean for theta ~ N(0, tau Q^-1), a flat beta, and noise of
        variance s2 / w_i, with lam = s2 / tau. Of a kernel that the basis only stands
        in for, the rest of the prior is added, so that far from all rows the deviation
        grows to the prior's.

        Parameters
        ----------
        X : array or CSR of shape (b, d)
        noise : float or None
            Variance s2 of the noise; None is by restricted maximum likelihood.
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
        """Residuals y_i - g_(-i)(x_i) of the labeled rows, shape (l,) or (l, t).

        g_(-i) is the fit without the label of row i, which stays in the table as an
        unlabeled row, at the same lam. Infinite where nothing is known without it.
        Exact for squares; for other losses after one Newton step, see
        `halfmoon.solvers.bordered`.

        Parameters
        ----------
        some : indices or slice
            Of the labeled rows; all of them unless told.
        """
        if self.left_out_values is not None:
            values = self.left_out_values[some]
            e = np.where(np.isnan(values), np.inf, self.posed.y[some] - values)
            return self.shaped(e)
        with self.posed.stream.handed_down():
            _, alpha = self._ridge()
            residuals = left_out(self.posed, [alpha], some)[0]
        return self.shaped(residuals / self.posed.root_w[some])

    def leave_sets_out(self, sets: Sequence[Indices]) -> list[Array]:
        """Values at sets of labeled rows by fits without the labels of a set, (m, t).

        At the same lam, as in `leave_one_out`; NaN where the others do not determine
        the fit. A label costs O(l^2), and a set of m labels O(m^3).
        """
        y = self.posed.y
        H = self.smoother_matrix(self.posed.X_l)
        r = y - H @ y
        return [y[some] - left_out_together(H, r, some) for some in sets]

    @property
    def loo_score(self) -> float:
        """Mean loss of left-out rows; the least of all alphas if there were some.

        Of a filtered fit the rows are those of folds; NaN where no fold was asked for.
        """
        if self.loo_scores is not None:
            return float(self.loo_scores.min())
        if self.left_out_values is not None:
            losses = self.posed.loss.values(self.posed.y, self.left_out_values)
            mean = self.posed.w @ losses / self.posed.total_weight
            return float(np.where(np.isnan(mean), np.inf, mean).mean())
        if not self.by_ridge:
            return float("nan")
        some = telling_rows(self.posed)
        squares = left_out(self.posed, [self._ridge()[1]], some) ** 2
        weight = self.posed.w[some].sum() * self.posed.y.shape[1]
        return float(squares.sum() / weight)

    def smoother_matrix(self, X: Rows) -> Array:
        """H(x), shape (b, l), with g(x) = H(x) y for any targets y of these rows."""
        if self.solve is None:
            raise ValueError(
                f"With the {self.posed.loss.name} loss values do not depend on the "
                f"targets linearly, so there is no smoother matrix. Use loss='squared'."
            )
        identity = np.eye(len(self.posed.chosen))
        with self.posed.stream.handed_down():
            return self.solve(self.posed.with_targets(identity)).predict(X)

    def dual_coef(self) -> Array:
        """c, shape (l, t), with phi(x)'theta = sum_i k_Q(x, x_i) c_i over labeled rows.

        There k_Q(x, z) = phi(x)'Q^-1 phi(z). Setting the derivative of (1) to 0 gives
        c = w (y - g) / lam, or -w loss'(g) / (2 lam), whatever the basis.
        """
        if self.c is not None:
            return self.c
        path, alpha = self._ridge()
        posed = self.posed
        if posed.dual:
            return posed.root_w * path.theta(alpha)
        lam = path.lam(alpha)
        if lam == 0:
            raise ValueError("At alpha = 0 the dual coefficients are not unique.")
        g = self._map(self._values, posed.X_l)
        return np.asarray(posed.root_w**2 * (posed.y - g) / lam)

    def _scales(self, noise: float | None) -> tuple[Array, Array]:
        """Variances of noise and prior: by restricted likelihood, or as told."""
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
        gram, root_w = posed.basis.gram(posed.chosen), posed.root_w[:, 0]

        def parts(rows: Rows) -> tuple[Array, Array]:
            k_x, k_xx = gram(rows) * root_w, posed.basis.prior_variance(rows)
            return kriging_variance(path, k_x, k_xx, posed.features(rows), alpha)

        return parts

    def _parts_in_primal(self) -> Callable[[Rows], tuple[Array, Array]]:
        posed, (path, alpha) = self.posed, self._ridge()
        # Of the norm of the kernel, an energy leaves mu in the penalty.
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
        """The factorization that serves every alpha."""
        if not self.by_ridge:
            raise ValueError(
                "Only a fit by ridge has leave-one-out residuals and a posterior "
                "variance in closed form."
            )
        return self.posed.path

    def _ridge(self) -> tuple[RidgePath, float]:
        return self.path, cast(float, self.alpha)

    def _map(self, function: Callable[[Rows], Array], X: Rows) -> Array:
        X = as_table(X)
        row_bytes = 2 * self.posed.basis.row_bytes
        return self.posed.stream.map(function, X, row_bytes=row_bytes)

    def shaped(self, values: Array) -> Array:
        """One column for each target, or a vector where the targets came as one."""
        return values[:, 0] if self.posed.single else values
