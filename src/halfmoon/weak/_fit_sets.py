"""Fit an estimator to sets of candidates: choose, disambiguate, solve."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from halfmoon._rows import Array, Indices, Rows
from halfmoon._sklearn_conventions import as_generator
from halfmoon.problem._folds import balanced_folds
from halfmoon.weak._disambiguation import (
    Embedding,
    best_candidates,
    disambiguate,
    starts,
)
from halfmoon.weak._row_smoother import RowCoordinates
from halfmoon.weak._weak_estimator import WeakEstimator

__all__ = ["fit_sets", "fold_values"]

#: Least loss over the sets, of values and the sets of the same rows.
Infimum = Callable[[Array, NDArray[np.bool_]], Array]


def fit_sets(
    model: WeakEstimator,
    X: Rows,  # (n, d)
    within: Embedding,  # of all rows
    w: Array,  # (n,)
    infimum: Infimum,
    n_starts: int,
) -> Indices:  # (l,)
    """Choose kernel and alpha, find the labels, fit. Returns the labels as codes."""
    known = np.asarray(~within.sets.all(axis=1))
    within = within.of(np.flatnonzero(known))
    mean = within.mean()

    def losses(values: Array) -> tuple[Array, Array]:
        nearest = within.T[best_candidates(values, within)]
        return infimum(values, within.sets), ((values - nearest) ** 2).sum(axis=1)

    posed, coordinates, alpha = model._choose_by_folds(
        *(X, known, w),
        balanced_folds(mean) if len(mean) > 1 else [],
        partial(fold_values, within),
        losses,
        size=within.T.shape[1],
        always=within.open,
    )
    smoother = coordinates.smoother(alpha)
    rng = as_generator(model.random_state)
    found = [
        disambiguate(smoother, within, start, coordinates.root_w)
        for start in starts(within, n_starts, rng)
    ]
    model.objectives_ = np.array([each.history[-1] for each in found])
    best = found[int(model.objectives_.argmin())]
    model.history_ = best.history
    model._store_fit(posed, within.T[best.codes], alpha)
    return best.codes


def fold_values(
    within: Embedding, coordinates: RowCoordinates, alpha: float, folds: list[Indices]
) -> Array:  # (l, t)
    """Return the values at the labeled rows, each by a fit to the other folds."""
    out, root_w = np.empty((len(within.sets), within.T.shape[1])), coordinates.root_w
    for fold, smoother in zip(folds, coordinates.without(alpha, folds), strict=True):
        rows = smoother.rows
        training = within.of(rows)
        found = disambiguate(smoother, training, training.mean(), root_w[rows])
        values = smoother.values(root_w[rows] * within.T[found.codes])
        out[fold] = values[fold] / root_w[fold]
    return out
