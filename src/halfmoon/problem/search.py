"""The best of several alphas and mus: by leave-one-out, by folds, or by likelihood."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from halfmoon.problem.fit import Fit
from halfmoon.problem.folds import out_of_fold
from halfmoon.problem.likelihood import restricted_deviances
from halfmoon.problem.posed import Posed
from halfmoon.problem.ridge import as_numbers, solve_ridge
from halfmoon.rows import Array

__all__ = ["search"]


def _squared(y: Array, values: Array) -> Array:
    return (y - values) ** 2


def search(
    posed: Posed,
    alpha: float | Sequence[float] | Array | Callable[[Posed], Sequence[float]],
    mu: float | Sequence[float] | Array | None = None,
    solve: Callable[[Posed, float], Fit] | None = None,
    loss: Callable[[Array, Array], Array] = _squared,
    *,
    likeliest: bool = False,
) -> Fit:
    """The fit with the least mean loss on rows whose label it has not seen.

    Parameters
    ----------
    posed : Posed
    alpha : float, sequence of float or callable
        A function gives the alphas of each posed problem, one for each mu.
    mu : float, sequence of float or None
        Weights of the norm beside an energy; None is the one that was posed.
    solve : callable or None
        How to solve the posed problem at an alpha. None is by ridge, where the search
        is by exact leave-one-out; else it is by five folds.
    loss : callable
        Of targets and values, entry by entry; squares, and by ridge always these.
    likeliest : bool
        By ridge, take what the labels are likeliest with instead; see `likelihood.py`.
    """
    mus = [posed.mu] if mu is None else as_numbers(mu, "mu")
    problems = [posed] if mus == [posed.mu] else [posed.with_mu(each) for each in mus]
    given = [alpha(each) if callable(alpha) else alpha for each in problems]
    alphas = [as_numbers(each, "alpha") for each in given]
    if solve is None and not likeliest:
        fits = [solve_ridge(*each) for each in zip(problems, alphas, strict=True)]
        return fits[0] if len(fits) == 1 else min(fits, key=lambda fit: fit.loo_score)
    if solve is not None and len(alphas[0]) * len(problems) == 1:
        return solve(problems[0], alphas[0][0])
    losses = np.array(
        [
            restricted_deviances(each, some)
            if solve is None
            else [_fold_error(each, solve, a, loss) for a in some]
            for each, some in zip(problems, alphas, strict=True)
        ]
    )
    which, best = np.unravel_index(np.argmin(losses), losses.shape)
    if solve is None:
        return solve_ridge(problems[which], alphas[which][best])
    fit = solve(problems[which], alphas[which][best])
    return replace(fit, loo_scores=losses[which])


def _fold_error(
    posed: Posed,
    solve: Callable[[Posed, float], Fit],
    alpha: float,
    loss: Callable[[Array, Array], Array],
) -> float:
    values = out_of_fold(posed, lambda other: solve(other, alpha))
    losses = posed.w[:, None] * loss(posed.y, values)
    return float(losses.sum() / (posed.total_weight * posed.y.shape[1]))
