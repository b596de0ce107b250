"""Labels spread over a graph: what the harmonic function and its kin share."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from halfmoon.baselines.base import Baseline, BaselineClassifier
from halfmoon.baselines.row_graph import (
    AllPairs,
    NearestRows,
    RowGraph,
    resolved_scale,
)
from halfmoon.blocks import Stream, blas_for
from halfmoon.estimators.output_groups import groups_of_outputs
from halfmoon.partitions.methods import answers_by_partition, fits_by_partition
from halfmoon.random_state import as_generator
from halfmoon.rows import Array, Rows

__all__ = ["GraphClassifier", "GraphLabels"]


class GraphLabels(Baseline):
    """Values at all rows from those at labeled ones, by a graph; a subclass says how.

    It has the parameters named below and writes `_spread`.
    """

    n_neighbors: int | None
    length_scale: float | str | None
    memory_limit: int | str
    random_state: Any

    graph_: RowGraph
    unreached_: NDArray[np.bool_]

    @abstractmethod
    def _spread(
        self,
        graph: RowGraph,
        Y: Array,  # (n, t)
        labeled: NDArray[np.bool_],  # (n,)
        reached: NDArray[np.bool_],  # (n,)
    ) -> Array:  # (n, t)
        """Values at all rows; those of rows that are not reached do not matter."""

    def _fit_graph(
        self,
        X: Rows,
        Y: Array,  # (n, t)
        labeled: NDArray[np.bool_],  # (n,) or (n, t)
    ) -> Array:  # (n, t)
        """Build the graph and spread; rows that no label reaches get the mean label."""
        rng = as_generator(self.random_state)
        scale = resolved_scale(self.length_scale, X, rng)
        with blas_for(X.shape[0] ** 2):
            graph: RowGraph
            if self.n_neighbors is None:
                graph = AllPairs(X, scale, self.memory_limit)
            else:
                graph = NearestRows(X, self.n_neighbors, scale)
            known = np.broadcast_to(labeled.reshape(len(Y), -1), Y.shape)
            F, all_reached = np.empty_like(Y), np.ones(len(Y), dtype=bool)
            for columns in groups_of_outputs(np.where(known, Y, np.nan)):
                some, rows = Y[:, columns], known[:, columns[0]]
                reached = graph.reached(rows)
                spread = self._spread(graph, some, rows, reached)
                spread[~reached] = some[rows].mean(axis=0)
                F[:, columns] = spread
                all_reached &= reached
        reached = all_reached
        self.graph_, self.unreached_ = graph, ~reached
        self.n_labeled_ = int(known.any(axis=1).sum())
        lost = int((~reached).sum())
        if lost:
            warnings.warn(
                f"{lost} of the {len(reached)} rows are tied to no labeled row, and "
                f"get the mean of all labels: see unreached_. Raise n_neighbors or "
                f"length_scale, or label a row in each part of the graph.",
                UserWarning,
                stacklevel=3,
            )
        return F

    def _step(self, X: Rows, F: Array) -> Array:
        """Weighted means of values F at the rows of the table, for any rows."""
        return Stream(self.memory_limit).map(
            lambda rows: self.graph_.step(rows) @ F, X, row_bytes=self.graph_.row_bytes
        )


class GraphClassifier(GraphLabels, BaselineClassifier):
    """A classifier by values of each class on a graph."""

    @fits_by_partition
    def fit(self, X: Any, y: Any) -> Self:
        """Spread the labels that y has over all rows of X.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            All rows, labeled or not.
        y : array-like of shape (n,)
            Classes; NaN, None or pd.NA where a row has none.
        """
        X, codes = self._read(X, y)
        Y = (codes[:, None] == np.arange(len(self.classes_))).astype(np.float64)
        F = np.maximum(self._fit_graph(X, Y, codes >= 0), 0.0)
        total = F.sum(axis=1, keepdims=True)
        prior = Y.sum(axis=0) / Y.sum()
        # Reached, but by less than the least number: as good as not.
        F = np.where(total > 0, F / np.where(total > 0, total, 1.0), prior)
        self.label_distributions_ = F
        self.transduction_ = self.classes_[F.argmax(axis=1)]
        return self

    @answers_by_partition
    def predict_proba(self, X: Any) -> Array:
        """Shares of the classes, (b, n_classes): of a row of the table, or a step off.

        Not calibrated. Each row sums to 1.
        """
        check_is_fitted(self)
        P = self._step(self._table(X, reset=False), self.label_distributions_)
        return np.asarray(P / P.sum(axis=1, keepdims=True))

    def _scores(self, X: Rows) -> Array:
        P = self._step(X, self.label_distributions_)
        return P[:, 1:] - P[:, :1] if P.shape[1] == 2 else P
