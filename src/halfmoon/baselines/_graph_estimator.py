"""Base classes of the methods that propagate labels over a graph of all rows."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from halfmoon._estimators.output_groups import groups_of_outputs
from halfmoon._memory import MEMORY_LIMIT
from halfmoon._partitions.estimator_methods import answers_by_partition
from halfmoon._random_state import as_generator
from halfmoon._rows import Array, Indices, Rows
from halfmoon.baselines._base import Baseline, BaselineClassifier
from halfmoon.baselines._row_graph import (
    AllPairs,
    NearestRows,
    RowGraph,
    resolved_scale,
)
from halfmoon.blocks import Stream, blas_for

__all__ = [
    "ATTRIBUTES",
    "CLASS_ATTRIBUTES",
    "PARAMETERS",
    "GraphClassifier",
    "GraphEstimator",
]

PARAMETERS = {
    "n_neighbors": """
        int or None. k of the graph of nearest neighbors; None connects all pairs of
        rows.""",
    "length_scale": """
        float, "median" or None. e of the weights; None is self-tuned,
        :math:`exp(-d_{ij}^2 / (s_i s_j))` with s the distance to the k-th neighbor, or
        to the tenth in a graph of all pairs.""",
    "memory_limit": "int or str. Memory that the graph of all pairs may take.",
    "random_state": """
        None, int, RandomState or Generator. For the sample of rows whose median
        distance is taken.""",
}
ATTRIBUTES = {
    "unreached_": """
        ndarray of shape (n,), bool. Rows that are connected to no labeled row.""",
    "n_labeled_": "int. Number of labeled rows.",
    "graph_": "RowGraph. The graph; its weights are ``graph_.W``.",
}
CLASS_ATTRIBUTES = {
    "classes_": "ndarray of shape (n_classes,). The classes.",
    "transduction_": "ndarray of shape (n,). The class of each row of the table.",
    "label_distributions_": """
        ndarray of shape (n, n_classes). Share of each class at the rows of the
        table.""",
    **ATTRIBUTES,
}


@dataclass(eq=False, repr=False)
class GraphEstimator(Baseline):
    """Base class: values at all rows from those at labeled rows, by a graph."""

    n_neighbors: int | None = 10
    length_scale: float | str | None = None
    memory_limit: int | str = MEMORY_LIMIT
    random_state: Any = None
    unlabeled: Any = None

    @abstractmethod
    def _propagate(
        self,
        graph: RowGraph,
        Y: Array,  # (n, t)
        labeled: NDArray[np.bool_],  # (n,)
        reached: NDArray[np.bool_],  # (n,)
    ) -> Array:  # (n, t)
        """Values at all rows; those of rows that are not reached are ignored."""

    def _fit_graph(
        self,
        X: Rows,
        Y: Array,  # (n, t)
        labeled: NDArray[np.bool_],  # (n,) or (n, t)
    ) -> Array:  # (n, t)
        """Build the graph and propagate; unreached rows get the mean label."""
        rng = as_generator(self.random_state)
        scale = resolved_scale(self.length_scale, X, rng)
        with blas_for(X.shape[0] ** 2):
            if self.n_neighbors is None:
                graph: RowGraph = AllPairs(X, scale, self.memory_limit)
            else:
                graph = NearestRows(X, self.n_neighbors, scale)
            known = np.broadcast_to(labeled.reshape(len(Y), -1), Y.shape)
            F, all_reached = np.empty_like(Y), np.ones(len(Y), dtype=bool)
            for columns in groups_of_outputs(np.where(known, Y, np.nan)):
                targets, rows = Y[:, columns], known[:, columns[0]]
                reached = graph.reached(rows)
                values = self._propagate(graph, targets, rows, reached)
                values[~reached] = targets[rows].mean(axis=0)
                F[:, columns] = values
                all_reached &= reached
        self.graph_, self.unreached_ = graph, ~all_reached
        self.n_labeled_ = int(known.any(axis=1).sum())
        n_unreached = int(self.unreached_.sum())
        if n_unreached:
            warnings.warn(
                f"{n_unreached} of the {len(Y)} rows are connected to no labeled row, "
                f"and get the mean of all labels: see unreached_. Raise n_neighbors or "
                f"length_scale, or label a row in each part of the graph.",
                UserWarning,
                stacklevel=5,
            )
        return F

    def _step(self, X: Rows, F: Array) -> Array:
        """Weighted means of values F at the rows of the table, for any rows."""
        return Stream(self.memory_limit).map(
            lambda rows: self.graph_.step(rows) @ F, X, row_bytes=self.graph_.row_bytes
        )


class GraphClassifier(GraphEstimator, BaselineClassifier):
    """Base class of the classifiers: one column of values for each class."""

    def _fit_classes(self, X: Rows, codes: Indices) -> None:
        Y = (codes[:, None] == np.arange(len(self.classes_))).astype(np.float64)
        F = np.maximum(self._fit_graph(X, Y, codes >= 0), 0.0)
        total = F.sum(axis=1, keepdims=True)
        prior = Y.sum(axis=0) / Y.sum()
        # The values of a row that is reached may underflow to 0.
        F = np.where(total > 0, F / np.where(total > 0, total, 1.0), prior)
        self.label_distributions_ = F
        self.transduction_ = self.classes_[F.argmax(axis=1)]

    @answers_by_partition
    def predict_proba(self, X: Any) -> Array:
        """Return the share of each class, shape (b, n_classes).

        A row of the table has its entry of ``label_distributions_``, a new row the
        weighted mean of its neighbors. Not calibrated. Each row sums to 1.
        """
        check_is_fitted(self)
        P = self._step(self._table(X, reset=False), self.label_distributions_)
        return np.asarray(P / P.sum(axis=1, keepdims=True))

    def _scores(self, X: Rows) -> Array:
        P = self._step(X, self.label_distributions_)
        return P[:, 1:] - P[:, :1] if P.shape[1] == 2 else P
