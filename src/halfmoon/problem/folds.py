"""K-fold in place of leave-one-out, where there is no closed form for it.

A row of a held-out fold stays in the table as an unlabeled row, as in leave-one-out.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from halfmoon.problem.fit import Fit
from halfmoon.problem.posed import Posed
from halfmoon.rows import Array, Indices

__all__ = ["balanced_folds", "in_order_of_targets", "out_of_fold", "some_labels"]

FOLDS = 5


def balanced_folds(
    y: Array,  # (l, t)
    n_splits: int = FOLDS,
    rng: np.random.Generator | int | None = 0,
) -> list[Indices]:
    """Numbers of the labeled rows of each fold, such that all folds are alike.

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
    n_splits = min(n_splits, l)
    order = in_order_of_targets(y, rng)
    return [np.sort(order[start::n_splits]) for start in range(n_splits)]


def in_order_of_targets(y: Array, rng: np.random.Generator | int | None) -> Indices:
    """Numbers of the rows from the least target to the largest, equal ones shuffled.

    Targets of several columns, or of two values, are classes, which have no order of
    their own: they come in the order in which the rows first have them, so that their
    names do not matter.

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
    """At most so many of the labeled rows, drawn so that all targets have their share.

    One label of each class stays: of equal targets some, in turn.
    """
    if len(y) <= size:
        return np.arange(len(y))
    order = in_order_of_targets(y, rng)
    differ = (np.diff(y[order], axis=0) != 0).any(axis=1)
    first = np.flatnonzero(np.concatenate([[True], differ]))  # of each class
    if len(first) > size:  # numbers rather than classes
        first = first[:0]
    rest = np.delete(order, first)
    more = np.linspace(0, len(rest) - 1, size - len(first)).astype(int)
    return np.sort(np.concatenate([order[first], rest[more]]))


def out_of_fold(
    posed: Posed, solve: Callable[[Posed], Fit], n_splits: int = FOLDS
) -> Array:
    """Values at the labeled rows by fits that have not seen their labels, (l, t)."""
    values = np.empty_like(posed.y)
    for fold in balanced_folds(posed.y, n_splits):
        fit = solve(posed.without(fold))
        values[fold] = fit.predict(posed.X_l[fold]).reshape(len(fold), -1)
    return values
