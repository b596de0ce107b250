r"""The minimizers theta and beta of a posed problem with squared loss, at one alpha.

Where labeled rows outnumber functions, only moments of them are kept. These are
whitened after they were summed, or before if Q is ill-conditioned, which would enlarge
the rounding errors of the sum. A step of refinement follows, with the residuals r of
the rows:

.. math:: (\tilde G + lam I) \, \Delta = R^{-T} Phi'W r - lam \tilde theta

It costs another pass over the labeled rows, O(l p).
"""

from __future__ import annotations

from functools import partial

from halfmoon._rows import Array, Rows
from halfmoon._solvers import ridge_cholesky
from halfmoon.problem._posed import Posed

__all__ = ["ridge_solution"]


def ridge_solution(posed: Posed, alpha: float) -> tuple[Array, Array]:
    """Return theta and beta of (1), from the path or by Cholesky if cheaper."""
    if posed.overdetermined:
        return _from_moments(posed, alpha)
    path = posed.path_at(alpha)
    theta, beta = path.theta(alpha), path.beta(alpha)
    if posed.dual:
        return posed.basis.lift(posed.labeled, posed.root_w * theta), beta
    return posed.with_free(posed.whitening.unwhiten(theta), beta)


def _from_moments(posed: Posed, alpha: float) -> tuple[Array, Array]:
    """Solve from moments, with the digits that the rows themselves have."""
    G, b, cross = posed.whitened_moments
    elimination, whitening = posed.elimination, posed.whitening
    y, lam = posed.root_w * posed.y, posed.total_weight * alpha
    inverse = None
    if lam > 0 and not posed.is_factored:
        inverse = ridge_cholesky(G, cross, lam)
    if inverse is None:
        inverse = partial(posed.path.solve, lam=posed.path.lam(alpha))

    def minimizer(b: Array, target: Array) -> tuple[Array, Array]:
        theta = inverse(b - cross.T @ target)
        return theta, elimination.solve(target - cross @ theta)

    theta, beta = minimizer(b, elimination.Q1.T @ y)
    rest, target = _residual_moments(
        posed, *posed.with_free(whitening.unwhiten(theta), beta)
    )
    step, beta_step = minimizer(whitening.whiten(rest.T).T - lam * theta, target)
    return posed.with_free(whitening.unwhiten(theta + step), beta + beta_step)


def _residual_moments(posed: Posed, theta: Array, beta: Array) -> tuple[Array, Array]:
    """Return Phi'W r and Q1'W^(1/2) r of residuals r, (p, t) and (rank F, t)."""

    def products(
        rows: Rows, F: Array, y: Array, root_w: Array, Q1: Array
    ) -> tuple[Array, Array]:
        Phi = posed.basis.transform(rows)
        residual = root_w * (y - Phi @ theta - F @ beta)
        return Phi.T @ (root_w * residual), Q1.T @ residual

    parts = (posed.X_l, posed.F, posed.y, posed.root_w, posed.elimination.Q1)
    row_bytes = posed.basis.row_bytes + 24 * posed.y.shape[1]  # y, values, products
    return posed.stream.sum(products, *parts, row_bytes=row_bytes)
