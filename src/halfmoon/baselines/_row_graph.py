r"""Graphs over all rows: of nearest neighbors (sparse) or of all pairs (dense).

.. math:: W_{ij} = exp(-d_{ij}^2 / (2 e^2)) \quad or \quad exp(-d_{ij}^2 / (s_i s_j))

as in `halfmoon._graphs`. A new row is connected to its neighbors by the same weights,
which are then scaled to sum to 1. A row of the table puts all weight on itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.special import softmax

from halfmoon._graphs import (
    NeighborIndex,
    inverse_roots,
    normalized_adjacency,
    sparse_weights,
    weighted_graph,
)
from halfmoon._rows import EPS, Array, Rows
from halfmoon._sklearn_conventions import is_name
from halfmoon.blocks import Stream
from halfmoon.kernels._length_scales import median_distance, squared_distances

__all__ = ["AllPairs", "Mask", "NearestRows", "RowGraph", "resolved_scale"]

Mask: TypeAlias = NDArray[np.bool_]  # of rows

SELF_TUNING_NEIGHBOR = 10  # its distance is the scale of a row in a graph of all pairs
GRAPH_MATRICES = 5  # n-by-n matrices that a graph of all pairs holds at its peak


def resolved_scale(
    length_scale: Any, X: Rows, rng: np.random.Generator
) -> float | None:
    """Return the length scale as a number, or None for self-tuned weights."""
    if is_name(length_scale, "median"):
        return median_distance(X, rng)
    return None if length_scale is None else float(length_scale)


class RowGraph(ABC):
    """Weights between all rows of a table, and from any row to them.

    An edge that weighs less than eps of the degree at both of its ends is dropped:
    rounding would lose it.
    """

    W: Any  # (n, n), dense or CSR, symmetric, without loops
    row_bytes: int  # of temporaries for `step` of one row

    @property
    def degree(self) -> Array:
        """Sum of the weights of each row, shape (n,)."""
        return np.asarray(self.W.sum(axis=1)).ravel()

    def inverse_root_degree(self) -> Array:
        """D^-1/2, shape (n,); 0 for a row without edges."""
        return inverse_roots(self.degree)

    def normalized(self) -> Any:
        """S = D^-1/2 W D^-1/2, shape (n, n); 0 for a row without edges."""
        if sp.issparse(self.W):
            return normalized_adjacency(self.W)
        root = self.inverse_root_degree()
        return root[:, None] * self.W * root

    def reached(self, labeled: Mask) -> Mask:
        """Which rows are connected to a labeled row by some path, shape (n,)."""
        edges = self.W if sp.issparse(self.W) else sp.csr_array(self.W > 0)
        _, component = connected_components(edges, directed=False)
        return np.isin(component, component[labeled])

    @abstractmethod
    def step(self, X: Rows) -> Any:
        """Weights from each row of X to the table, (b, n); each row sums to 1."""


class NearestRows(RowGraph):
    """The sparse graph of nearest neighbors; self-tuned if `length_scale` is None."""

    def __init__(self, X: Rows, n_neighbors: int, length_scale: float | None) -> None:
        self.index, self.length_scale = NeighborIndex(X, n_neighbors), length_scale
        self.row_bytes = 64 * (self.index.n_neighbors + 1)
        self.W = weighted_graph(self.index, length_scale)
        W, degree = self.W.tocoo(), self.degree
        kept = W.data > EPS * np.minimum(degree[W.row], degree[W.col])
        entries = W.data[kept], (W.row[kept], W.col[kept])
        self.W = sp.csr_array(entries, shape=W.shape)

    def step(self, X: Rows) -> Any:
        """CSR, k + 1 entries in a row."""
        distances, columns = self.index.nearest(X)
        if self.length_scale is None:
            s = self.index.new_scales(distances, columns)
            w = _step_weights(distances**2, s * self.index.scales[columns])
        else:
            w = _step_weights(distances**2, 2.0 * self.length_scale**2)
        return sparse_weights(w, columns, self.W.shape[0])


class AllPairs(RowGraph):
    """The dense graph of all pairs; None is self-tuned, by the tenth neighbor."""

    def __init__(
        self, X: Rows, length_scale: float | None, memory_limit: int | str
    ) -> None:
        n = X.shape[0]
        Stream(memory_limit).require(
            GRAPH_MATRICES * 8 * n * n,
            f"The graph of all pairs of {n:,} rows needs",
            "Raise memory_limit, or give n_neighbors.",
        )
        self.rows, self.row_bytes, self.length_scale = X, 8 * 4 * n, length_scale
        self.index: Any = None
        q = squared_distances(X, X)
        if length_scale is None:
            self.index = NeighborIndex(X, SELF_TUNING_NEIGHBOR)
            q /= -self.index.scales[:, None] * self.index.scales
        else:
            q /= -2.0 * length_scale**2
        self.W = np.exp(q, out=q)
        np.fill_diagonal(self.W, 0.0)
        degree = self.degree
        self.W[np.minimum(degree[:, None], degree) * EPS > self.W] = 0.0

    def step(self, X: Rows) -> Any:
        """Dense."""
        q = squared_distances(X, self.rows)
        if self.length_scale is None:
            s = self.index.new_scales(*self.index.nearest(X))
            return _step_weights(q, s * self.index.scales)
        return _step_weights(q, 2.0 * self.length_scale**2)


def _step_weights(
    q: Array,  # (b, m), squared distances
    divisor: Array | float,
) -> Array:
    """exp(-q / divisor), scaled to sum to 1; a copy of a row puts all weight on it."""
    logs, copies = -q / divisor, q == 0
    known = copies.any(axis=1)
    logs[known] = np.where(copies[known], 0.0, -np.inf)
    return np.asarray(softmax(logs, axis=1))
