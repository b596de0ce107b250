"""Solve the problem by ridge: squared loss, all alphas and leave-one-out at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from halfmoon._rows import Array
from halfmoon.problem._fit import Fit, loo_residuals, loo_sample
from halfmoon.problem._posed import Posed

__all__ = ["DUAL_MATRICES", "as_numbers", "solve_ridge"]

DUAL_MATRICES = 4  # of l by l, held at once in the dual: Gram matrix, factors, copy


def solve_ridge(posed: Posed, alpha: float | Sequence[float] | Array) -> Fit:
    """Minimize (1). A sequence of alphas is searched by exact leave-one-out.

    The error is taken over all labeled rows or 2,000 of them: see `loo_sample`.

    Parameters
    ----------
    posed : Posed
    alpha : float or sequence of float
        Penalty weight, relative to the averaged loss.
    """
    alphas = as_numbers(alpha, "alpha")
    best, scores = alphas[0], None
    if len(alphas) > 1:
        rows = loo_sample(posed)
        errors = loo_residuals(posed, alphas, rows) ** 2  # times the weights
        scores = errors.sum(axis=(1, 2)) / (posed.w[rows].sum() * posed.y.shape[1])
        best = alphas[int(np.argmin(scores))]
    theta, beta = posed.solve(best)
    return Fit(
        posed,
        theta,
        beta,
        alpha=best,
        by_ridge=True,
        loo_scores=scores,
        solve=partial(solve_ridge, alpha=best),
    )


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
