r"""Solve by ridge, and search alpha and mu: by leave-one-out, folds or likelihood.

Ridge has squared loss; one factorization gives all alphas and leave-one-out at once.

**Restricted likelihood.** With theta ~ N(0, tau Q^-1), noise of variance tau lam / w_i
and a flat beta, the part N'y of the labels outside the span of F is normal with
covariance tau (N'Phi Q^-1 Phi'N + lam I). At the best tau, which is y'Gy / m for m = l
- rank F,

.. math:: -2 \log p = \sum_{targets} \Bigl( m \log tau + \sum_j \log(s_j^2 + lam)
          + (m - r) \log lam \Bigr) + const,

r being the number of s_j. It compares alphas where leave-one-out cannot: a class with a
single label is unknown once this label is left out.

**Moments.** Where labeled rows outnumber functions, only moments of them are kept.
These are whitened after they were summed, or before if Q is ill-conditioned, because
that enlarges the rounding errors of the sum. A step of refinement follows, with the
residuals r of the rows:

.. math:: (\tilde G + lam I) \, \Delta = R^{-T} Phi'W r - lam \tilde theta

It costs another pass over the labeled rows, O(l p).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np

from halfmoon._rows import EPS, Array, Rows
from halfmoon._solvers.cholesky_ridge import ridge_cholesky
from halfmoon.problem._convex_loss import search_loss, solve_loss
from halfmoon.problem._fit import Fit, loo_residuals, loo_sample
from halfmoon.problem._folds import out_of_fold
from halfmoon.problem._posed import Posed

__all__ = [
    "DUAL_MATRICES",
    "as_numbers",
    "restricted_deviances",
    "ridge_solution",
    "search",
    "solve_ridge",
]

DUAL_MATRICES = 4  # of l by l, held at once in the dual: Gram matrix, factors, copy


def solve_ridge(posed: Posed, alpha: float | Sequence[float] | Array) -> Fit:
    """Solve a posed problem by ridge. Exact leave-one-out chooses among alphas.

    The error is taken over all labeled rows or 2,000 of them: see `loo_sample`.

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
        rows = loo_sample(posed)
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


def search(
    posed: Posed,
    alpha: float | Sequence[float] | Array | Callable[[Posed], Sequence[float]],
    mu: float | Sequence[float] | Array | None = None,
    solve: Callable[[Posed, float], Fit] | None = None,
    *,
    likeliest: bool = False,
) -> Fit:
    """Return the fit with the smallest mean loss on held-out labels.

    Parameters
    ----------
    posed : Posed
    alpha : float, sequence of float or callable
        A function returns the alphas for a posed problem; there is one for each mu.
    mu : float, sequence of float or None
        Weights of the norm next to an energy; None is the mu of `posed`.
    solve : callable or None
        How to solve the posed problem at an alpha. None is ridge, which is searched by
        exact leave-one-out. `solve_loss` is searched by leave-one-out after one Newton
        step, and any other function by the squared errors of five folds.
    likeliest : bool
        Choose by restricted likelihood instead. For
        another loss than squares, this is the likelihood of ridge.
    """
    mus = [posed.mu] if mu is None else as_numbers(mu, "mu")
    problems = [posed] if mus == [posed.mu] else [posed.with_mu(each) for each in mus]
    alphas = [
        as_numbers(alpha(each) if callable(alpha) else alpha, "alpha")
        for each in problems
    ]
    if solve is None and not likeliest:
        fits = [solve_ridge(*each) for each in zip(problems, alphas, strict=True)]
        return fits[0] if len(fits) == 1 else min(fits, key=lambda fit: fit.loo_score)
    if solve is not None and len(alphas[0]) * len(problems) == 1:
        return solve(problems[0], alphas[0][0])
    if solve is solve_loss and not likeliest:
        return search_loss(problems, alphas)
    by_likelihood = solve is None or solve is solve_loss
    losses = np.array(
        [
            restricted_deviances(each, grid)
            if by_likelihood
            else [_fold_error(each, cast(Any, solve), a) for a in grid]
            for each, grid in zip(problems, alphas, strict=True)
        ]
    )
    which, best = np.unravel_index(np.argmin(losses), losses.shape)
    fit = (solve or solve_ridge)(problems[which], alphas[which][best])
    return fit if by_likelihood else replace(fit, loo_scores=losses[which])


def _fold_error(
    posed: Posed, solve: Callable[[Posed, float], Fit], alpha: float
) -> float:
    values = out_of_fold(posed, lambda other: solve(other, alpha))
    losses = posed.w[:, None] * (posed.y - values) ** 2
    return float(losses.sum() / (posed.total_weight * posed.y.shape[1]))


def restricted_deviances(posed: Posed, alphas: Sequence[float]) -> Array:
    """Return -2 log p of the labels at each alpha, up to a constant, shape (a,).

    Each alpha is above 0. Targets that the unpenalized features explain to rounding do
    not count.
    """
    path = posed.path
    m = path.n_labeled - path.elimination.rank
    whole = (posed.w[:, None] * posed.y**2).sum(axis=0)
    unexplained = path.energy > EPS * whole
    out = np.zeros(len(alphas))
    if m < 1 or not unexplained.any():
        return out
    for i, alpha in enumerate(alphas):
        lam = path.lam(alpha)
        _, tau = path.scales(alpha)
        log_det = np.log(path.s2 + lam).sum() + (m - len(path.s2)) * np.log(lam)
        out[i] = (m * np.log(tau[unexplained]) + log_det).sum()
    return out


def as_numbers(values: float | Sequence[float] | Array, name: str) -> list[float]:
    """Return a number, or a sequence of at least one number, as a list."""
    try:
        numbers = np.atleast_1d(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if numbers.ndim != 1 or numbers.size == 0 or values is None:
        raise ValueError(
            f"{name} is {values!r}; a number, or a sequence of at least one, is needed."
        )
    return [float(number) for number in numbers]
