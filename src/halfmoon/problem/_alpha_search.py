r"""Search alpha and mu: by leave-one-out, folds or likelihood.

**Restricted likelihood.** With theta ~ N(0, tau Q^-1), noise of variance tau lam / w_i
and a flat beta, the part N'y of the labels outside the span of F is normal with
covariance tau (N'Phi Q^-1 Phi'N + lam I). At the best tau, which is y'Gy / m for m = l
- rank F,

.. math:: -2 \log p = \sum_{targets} \Bigl( m \log tau + \sum_j \log(s_j^2 + lam)
          + (m - r) \log lam \Bigr) + const,

r being the number of s_j. It compares alphas where leave-one-out cannot: a class with a
single label is unknown once this label is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from halfmoon._rows import EPS, Array
from halfmoon._sklearn_conventions import as_numbers
from halfmoon.problem._convex_loss import search_loss, solve_loss
from halfmoon.problem._fit import Fit, solve_ridge
from halfmoon.problem._folds import out_of_fold
from halfmoon.problem._posed import Posed

__all__ = ["restricted_deviances", "search"]


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
        Choose by restricted likelihood instead. For another loss than squares, this is
        the likelihood of ridge.
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
