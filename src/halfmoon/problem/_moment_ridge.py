r"""Ridge where labeled rows outnumber functions: only sums over the rows are kept.

The moments of the labeled rows are whitened after they were summed, or before if Q is
ill-conditioned, because that enlarges the rounding errors of the sum. A step of
refinement follows, with the residuals r of the rows:

.. math:: (\tilde G + lam I) \, \Delta = R^{-T} Phi'W r - lam \tilde theta

It costs another pass over the labeled rows, O(l p), as do leave-one-out residuals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from halfmoon._moments import label_moments
from halfmoon._rows import Array, Indices, Rows
from halfmoon._solvers.cholesky_ridge import ridge_cholesky

if TYPE_CHECKING:
    from halfmoon.problem._posed import Posed

__all__ = [
    "Moments",
    "loo_residuals_of_rows",
    "ridge_from_moments",
    "row_moments",
    "whitened_moments",
]


class Moments(NamedTuple):
    """Sums over the labeled rows, in coordinates in which Q is the identity."""

    G: Array  # (r, r), Phi'W Phi
    b: Array  # (r, t), Phi'W y
    cross: Array  # (rank F, r), Q1'W^(1/2) Phi


def row_moments(
    posed: Posed, functions: Callable[[Rows], Array]
) -> tuple[Array, Array, Array]:
    """Return Phi'W Phi, Q1'W^(1/2) Phi and y'W Phi of any functions of the rows."""
    Q1 = posed.elimination.Q1
    G, columns = label_moments(
        functions,
        posed.X_l,
        posed.root_w,
        np.hstack([Q1, posed.root_w * posed.y]),
        row_bytes=posed.basis.row_bytes + 8 * posed.basis.n_components_,
        stream=posed.stream,
    )
    return G, columns[:, : Q1.shape[1]].T, columns[:, Q1.shape[1] :].T


def whitened_moments(posed: Posed) -> Moments:
    """Sum the moments of the labeled rows."""
    whitening, of_rows = posed.whitening, posed.basis.transform
    if whitening.ill_conditioned:  # rounding errors of a sum would be enlarged
        G, cross, b = row_moments(posed, lambda rows: whitening.whiten(of_rows(rows)))
        return Moments(G, b.T, cross)
    G, cross, b = row_moments(posed, of_rows)
    return Moments(
        whitening.congruence(G), whitening.whiten(b).T, whitening.whiten(cross)
    )


def ridge_from_moments(posed: Posed, alpha: float) -> tuple[Array, Array]:
    """Solve from moments, with the digits that the rows themselves have."""
    G, b, cross = posed.moments
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


def loo_residuals_of_rows(
    posed: Posed, alphas: Sequence[float], rows: Indices | slice
) -> Array:  # (a, l, t)
    """Return leave-one-out residuals times root weights, by a pass over the rows."""
    path = posed.path
    M = posed.whitening.unwhiten(path.V)  # Phi~ V = Phi R^-1 V

    def residuals(X: Rows, root_w: Array, Q1: Array, y: Array) -> Array:
        PhiV = posed.basis.transform(X) @ M
        PhiV *= root_w
        return path.leave_one_out_block(PhiV, Q1, root_w * y, alphas)

    by_rows = posed.stream.map(
        residuals,
        posed.X_l[rows],
        posed.root_w[rows],
        posed.elimination.Q1[rows],
        posed.y[rows],
        row_bytes=2 * posed.basis.row_bytes,
    )
    return by_rows.transpose(1, 0, 2)
