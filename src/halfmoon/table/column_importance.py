r"""What a model went by: how much worse it predicts when a column is shuffled.

Labeled rows are predicted without their own labels, once as they are and some times
with one column taken from other rows, drawn at random from all of them. The importance
of the column is what is lost: accuracy for classes, mean absolute error for numbers.

Nothing is fitted again. With :math:`H(x)` the weights of the labels at x, a fit without
the label of row i is at any x

.. math:: g_{-i}(x) = g(x) - H_i(x) (y_i - g_{-i}(x_i)) ,

so that rows with shuffled cells are predicted without their own labels too, of which
the columns that were not shuffled would tell. At landmarks, where labels are thousands
and each has little weight, the own label stays in, in both predictions.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from halfmoon.rows import Indices, Rows
from halfmoon.selection import by_correlation, class_scores
from halfmoon.table.model import TableModel

__all__ = ["column_importance"]

ROWS = 200  # labeled rows that are predicted, at most
WALKED = 2_000_000  # rows of the table times labeled rows, at most
POOL = 2_000  # rows that cells are taken from, at most
COLUMNS = 60  # above it, only those most correlated with the labels are measured
CORRELATED = 30
REPEATS = 5
SECONDS = 6.0  # after which each column is measured once, and no more


def column_importance(
    model: TableModel, rows: pa.Table, seed: int = 0
) -> dict[str, float]:
    """The importance of the columns that a model learned from.

    Parameters
    ----------
    model : TableModel
    rows : pyarrow.Table
        The rows that it was fitted on.
    seed : int
        Of the shuffles.

    Returns
    -------
    dict
        Of each column that was measured: the loss of accuracy, from 0 to 1, or the
        growth of the mean absolute error. About 0, and by chance a little less, where
        a column tells nothing.
    """
    rng = np.random.default_rng(seed)
    labeled = model.estimator_.labeled_
    most = max(20, min(ROWS, WALKED // max(1, rows.num_rows)))
    some = np.sort(rng.permutation(len(labeled))[:most])
    X = model.transform(rows.take(pa.array(labeled[some])))
    other = np.sort(rng.permutation(rows.num_rows)[:POOL])
    pool = model.transform(rows.take(pa.array(other)))
    errors = _errors(model, some)
    groups = {
        use.name: model.vectors_.outputs_of(use.name) for use in model.table_.used
    }
    groups = {name: outputs for name, outputs in groups.items() if len(outputs)}
    if len(groups) > COLUMNS:
        groups = _most_correlated(groups, X, model, some)
    start, base = time.monotonic(), errors(X)
    lost: dict[str, list[float]] = {name: [] for name in groups}
    for repeat, name in product(range(REPEATS), groups):
        if repeat and time.monotonic() - start > SECONDS:
            break
        shuffled, outputs = X.copy(), groups[name]
        drawn = rng.integers(len(pool), size=len(X))
        shuffled[:, outputs] = pool[np.ix_(drawn, outputs)]
        lost[name].append(errors(shuffled) - base)
    return {name: float(np.mean(values)) for name, values in lost.items()}


def _errors(model: TableModel, some: Indices) -> Callable[[Rows], float]:
    """Of rows in place of some labeled ones: the share that is wrong, or mean error."""
    estimator = model.estimator_
    values, y = estimator.solution_.without_own(some), estimator.solution_.y[some]
    if model.kind == "numbers":
        return lambda X: float(np.abs(values(X) - y).mean())
    codes = estimator._codes[some]
    return lambda X: float((class_scores(values(X)).argmax(axis=1) != codes).mean())


def _most_correlated(
    groups: dict[str, Indices], X: NDArray[Any], model: TableModel, some: Indices
) -> dict[str, Indices]:
    y = model.estimator_.solution_.y[some]
    factors = by_correlation(X, X, y, np.ones(len(y)))
    strength = {name: factors[outputs].max() for name, outputs in groups.items()}
    kept = sorted(strength, key=lambda name: -strength[name])[:CORRELATED]
    return {name: groups[name] for name in groups if name in kept}
