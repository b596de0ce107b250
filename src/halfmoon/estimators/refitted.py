"""K-fold in which everything is fitted anew, the unpenalized features above all.

Leave-one-out in closed form holds the features fixed. That is exact for alpha, but not
for what the features themselves depend on: eigenfunctions of many rows, seen with the
left-out row, and layers of a network that has seen its label. There a fold is taken out
of the table altogether, and the features are made without it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from halfmoon.bases import Basis, Nystrom, Smoothed
from halfmoon.blocks import Stream
from halfmoon.estimators.alphas import Alphas
from halfmoon.landmarks.checks import as_indices
from halfmoon.problem import Fit, Posed, Problem, balanced_folds
from halfmoon.rows import Array, Rows
from halfmoon.unpenalized import HiddenLayer

__all__ = ["refitted_errors"]


def refitted_errors(
    problem: Problem,
    X: Rows,  # (n, d)
    y: Array,  # (n, t)
    w: Array,  # (n,)
    alphas: Alphas,
    solve: Callable[[Posed, float], Fit],
    *,
    rng: np.random.Generator,
    stream: Stream,
) -> Array:  # (len(alphas),)
    """Mean loss of each alpha on held-out folds of the labeled rows."""
    if sp.issparse(problem.energy):
        raise ValueError(
            "energy is a graph over just these rows, from which folds cannot be taken "
            "out to choose among unpenalized features. Give one of them, or use "
            "energy='graph', which is built anew for each fold."
        )
    problem = replace(problem, basis=_at_given_rows(problem.basis, X))
    labeled = np.flatnonzero(~np.isnan(y).any(axis=1) & (w > 0))
    seed = int(rng.integers(2**32))  # the same landmarks in every fold, where they can
    total = np.zeros(len(alphas))
    for fold in balanced_folds(y[labeled]):
        out = labeled[fold]
        kept = np.delete(np.arange(X.shape[0]), out)
        posed = _without_fold(problem, X[kept], y[kept], w[kept], seed).pose(
            X[kept], y[kept], sample_weight=w[kept], rng=seed, stream=stream
        )
        for i, alpha in enumerate(alphas.at(posed)):
            values = solve(posed, alpha).predict(X[out]).reshape(len(out), -1)
            losses = posed.loss.values(y[out], values)
            total[i] += (w[out, None] * losses).sum() / losses.shape[1]
    return total / w[labeled].sum()


def _at_given_rows(basis: Basis, X: Rows) -> Basis:
    """The basis with its landmarks as rows: numbers change as folds are taken out."""
    if isinstance(basis, Smoothed):
        return replace(basis, basis=_at_given_rows(basis.basis, X))
    if not isinstance(basis, Nystrom) or isinstance(basis.landmarks, str):
        return basis
    if sp.issparse(basis.landmarks) or np.ndim(basis.landmarks) != 1:
        return basis
    return replace(basis, landmarks=X[as_indices(basis.landmarks, X.shape[0])])


def _without_fold(problem: Problem, X: Rows, y: Array, w: Array, rng: int) -> Problem:
    """The problem with features that were learned from the given labels alone."""
    features: Any = problem.unpenalized
    if not isinstance(features, HiddenLayer) or not features.from_labels:
        return problem
    known = ~np.isnan(y).any(axis=1) & (w > 0)
    return replace(problem, unpenalized=features.refit(X[known], y[known], rng))
