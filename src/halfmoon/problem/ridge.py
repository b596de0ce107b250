"""The problem solved by ridge: squared loss, every alpha and leave-one-out at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from halfmoon.problem.fit import Fit
from halfmoon.problem.left_out import left_out, telling_rows
from halfmoon.problem.posed import Posed
from halfmoon.rows import Array

__all__ = ["as_numbers", "solve_ridge"]


def solve_ridge(posed: Posed, alpha: float | Sequence[float] | Array) -> Fit:
    """Minimize (1). A sequence of alphas is searched by exact leave-one-out.

    Over all labeled rows, or over 2,000 of them: see `telling_rows`.

    Parameters
    ----------
    posed : Posed
    alpha : float or sequence of float
        Penalty weight, beside the averaged loss.
    """
    alphas = as_numbers(alpha, "alpha")
    best, scores = alphas[0], None
    if len(alphas) > 1:
        some = telling_rows(posed)
        errors = left_out(posed, alphas, some) ** 2  # the weights are in
        scores = errors.sum(axis=(1, 2)) / (posed.w[some].sum() * posed.y.shape[1])
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
    """A number or a sequence of them as a list, at least one."""
    try:
        numbers = np.atleast_1d(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if numbers.ndim != 1 or numbers.size == 0:
        raise ValueError(
            f"{name} is {values!r}; a number, or a sequence of at least one, is needed."
        )
    return [float(number) for number in numbers]
