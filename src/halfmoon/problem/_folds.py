"""K-fold cross-validation, where leave-one-out has no closed form.

The rows of a held-out fold stay in the table as unlabeled rows, as in leave-one-out.
That keeps the unpenalized features fixed, which is exact for choosing alpha, but not
for choosing the features: eigenfunctions depend on the held-out rows, and the layers of
a network on their labels. So `refitted_fold_errors` removes a fold from the table, and
fits the features without it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from halfmoon._landmarks.sampling import as_indices
from halfmoon._rows import Array, Indices, Rows
from halfmoon.bases import Basis, Nystrom, Smoothed
from halfmoon.blocks import Stream
from halfmoon.problem._fit import Fit
from halfmoon.problem._posed import Posed
from halfmoon.unpenalized import HiddenLayer

if TYPE_CHECKING:
    from halfmoon.problem._problem import Problem

__all__ = [
    "balanced_folds",
    "dealt_folds",
    "in_order_of_targets",
    "out_of_fold",
    "refitted_fold_errors",
    "some_labels",
]

N_FOLDS = 5


def balanced_folds(
    y: Array,  # (l, t)
    n_splits: int = N_FOLDS,
    rng: np.random.Generator | int | None = 0,
) -> list[Indices]:
    """Return folds of the labeled rows with about the same targets in each.

    Rows are sorted by their targets and dealt out in turn, so that every fold has its
    share of each class, or of small and large values.

    Examples
    --------
    >>> y = np.array([[0.0], [1.0], [0.0], [1.0]])
    >>> [sorted(y[fold, 0].tolist()) for fold in balanced_folds(y, 2)]
    [[0.0, 1.0], [0.0, 1.0]]
    """
    l = len(y)
    if l < 2:
        raise ValueError(
            f"{l} row is labeled; folds need at least two. Give single numbers for "
            f"alpha and mu, or label more rows."
        )
    return dealt_folds(in_order_of_targets(y, rng), min(n_splits, l))


def dealt_folds(order: Indices, n_splits: int) -> list[Indices]:
    """Deal rows out to folds in turn, like cards; each fold is sorted.

    Examples
    --------
    >>> dealt_folds(np.array([4, 0, 1, 2, 3]), 2)
    [array([1, 3, 4]), array([0, 2])]
    """
    return [np.sort(order[start::n_splits]) for start in range(n_splits)]


def in_order_of_targets(y: Array, rng: np.random.Generator | int | None) -> Indices:
    """Return the indices that sort the rows by target, equal targets shuffled.

    Targets with several columns, or with two values, are classes. They are sorted by
    the first row of each class, so that the names of the classes do not matter.

    Examples
    --------
    >>> y = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    >>> in_order_of_targets(y, 0)[-1], in_order_of_targets(y[:, ::-1], 0)[-1]
    (np.int64(1), np.int64(1))
    """
    shuffled = np.random.default_rng(rng).permutation(len(y))
    if y.shape[1] > 1:
        y = y[:, np.argsort(y.argmax(axis=0), kind="stable")]
    elif np.unique(y).size == 2:
        y = y != y[0]
    return shuffled[np.lexsort(y[shuffled].T)]


def some_labels(y: Array, size: int, rng: np.random.Generator) -> Indices:
    """Draw a sample of labeled rows of at most `size`, stratified by the targets.

    Each class keeps at least one label.
    """
    if len(y) <= size:
        return np.arange(len(y))
    order = in_order_of_targets(y, rng)
    differ = (np.diff(y[order], axis=0) != 0).any(axis=1)
    first = np.flatnonzero(np.concatenate([[True], differ]))  # one row of each class
    if len(first) > size:  # the targets are numbers rather than classes
        first = first[:0]
    rest = np.delete(order, first)
    more = np.linspace(0, len(rest) - 1, size - len(first)).astype(int)
    return np.sort(np.concatenate([order[first], rest[more]]))


def out_of_fold(
    posed: Posed, solve: Callable[[Posed], Fit], n_splits: int = N_FOLDS
) -> Array:
    """Return the predictions for the labeled rows of each held-out fold, (l, t)."""
    values = np.empty_like(posed.y)
    for fold in balanced_folds(posed.y, n_splits):
        fit = solve(posed.without(fold))
        values[fold] = fit.predict(posed.X_l[fold]).reshape(len(fold), -1)
    return values


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
    features: Any = problem.unpenalized
    from_labels = isinstance(features, HiddenLayer) and features.from_labels
    learned = features if from_labels else None
    labeled = np.flatnonzero(~np.isnan(y).any(axis=1) & (w > 0))
    seed = int(rng.integers(2**32))  # the same landmarks in every fold, if possible
    total: Any = 0.0
    for fold in balanced_folds(y[labeled]):
        test = labeled[fold]
        train = np.delete(np.arange(X.shape[0]), test)
        X_t, y_t, w_t = X[train], y[train], w[train]
        known = ~np.isnan(y_t).any(axis=1) & (w_t > 0)
        if learned is not None:
            features = learned.refit(X_t[known], y_t[known], seed)
            problem = replace(problem, unpenalized=features)
        rng = np.random.default_rng(seed)
        posed = Posed.of(problem, X_t, y_t, w_t, rng, stream)
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
