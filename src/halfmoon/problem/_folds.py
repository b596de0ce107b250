"""K-fold cross-validation, where leave-one-out has no closed form.

The rows of a held-out fold stay in the table as unlabeled rows, as in leave-one-out.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from halfmoon._rows import Array, Indices
from halfmoon.problem._fit import Fit
from halfmoon.problem._posed import Posed

__all__ = [
    "balanced_folds",
    "dealt_folds",
    "in_order_of_targets",
    "out_of_fold",
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
