"""Cross-validation that also refits the unpenalized features in each fold.

Leave-one-out in closed form keeps the features fixed. That is exact for choosing alpha,
but not for choosing the features: eigenfunctions depend on the held-out rows, and the
layers of a network on their labels. Here a fold is removed from the table, and the
features are fitted without it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from halfmoon._landmarks.sampling import as_indices
from halfmoon._rows import Array, Rows
from halfmoon.bases import Basis, Nystrom, Smoothed
from halfmoon.blocks import Stream
from halfmoon.problem import Fit, Problem
from halfmoon.problem._folds import balanced_folds
from halfmoon.problem._posed import Posed
from halfmoon.unpenalized import HiddenLayer

__all__ = ["refitted_fold_errors"]


def refitted_fold_errors(
    problem: Problem,
    X: Rows,  # (n, d)
    y: Array,  # (n, t)
    w: Array,  # (n,)
    alphas: Callable[[Posed], list[float]],
    solve: Callable[[Posed, float], Fit],
    rng: np.random.Generator,
    stream: Stream,
) -> Array:  # one for each alpha
    """Return the mean loss of each alpha on held-out folds of the labeled rows."""
    if sp.issparse(problem.energy):
        raise ValueError(
            "energy is a graph over these rows, so folds cannot be removed to choose "
            "among unpenalized features. Give one choice of features, or use "
            "energy='graph', which is rebuilt for each fold."
        )
    problem = replace(problem, basis=_with_landmark_rows(problem.basis, X))
    labeled = np.flatnonzero(~np.isnan(y).any(axis=1) & (w > 0))
    seed = int(rng.integers(2**32))  # the same landmarks in every fold, if possible
    total: Any = 0.0
    for fold in balanced_folds(y[labeled]):
        test = labeled[fold]
        train = np.delete(np.arange(X.shape[0]), test)
        X_t, y_t, w_t = X[train], y[train], w[train]
        posed = _with_refitted_features(problem, X_t, y_t, w_t, seed).pose(
            X_t, y_t, sample_weight=w_t, rng=seed, stream=stream
        )
        sums = []
        for alpha in alphas(posed):
            values = solve(posed, alpha).predict(X[test]).reshape(len(test), -1)
            losses = posed.loss.values(y[test], values)
            sums.append((w[test, None] * losses).sum() / losses.shape[1])
        total += np.array(sums)
    return np.asarray(total / w[labeled].sum())


def _with_landmark_rows(basis: Basis, X: Rows) -> Basis:
    """Replace row numbers of landmarks by the rows: each fold changes the numbers."""
    if isinstance(basis, Smoothed):
        return replace(basis, basis=_with_landmark_rows(basis.basis, X))
    if not isinstance(basis, Nystrom) or isinstance(basis.landmarks, str):
        return basis
    if sp.issparse(basis.landmarks) or np.ndim(basis.landmarks) != 1:
        return basis
    return replace(basis, landmarks=X[as_indices(basis.landmarks, X.shape[0])])


def _with_refitted_features(
    problem: Problem, X: Rows, y: Array, w: Array, rng: int
) -> Problem:
    """Refit features that are learned from labels, to the given ones."""
    features: Any = problem.unpenalized
    if not isinstance(features, HiddenLayer) or not features.from_labels:
        return problem
    labeled = ~np.isnan(y).any(axis=1) & (w > 0)
    return replace(problem, unpenalized=features.refit(X[labeled], y[labeled], rng))
