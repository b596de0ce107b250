r"""A graph over all rows, of nearest neighbors or of all pairs, and steps onto it.

.. math:: W_{ij} = exp(-d_{ij}^2 / (2 e^2)) \quad or \quad exp(-d_{ij}^2 / (s_i s_j))

as in `halfmoon.graphs`; of all pairs W is dense. A new row steps to its neighbors by
the same weights, which then sum to 1; a row that is in the table stays where it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from halfmoon.graphs import NeighborIndex, weighted_graph
from halfmoon.kernels import median_distance
from halfmoon.kernels.distances import squared_distances
from halfmoon.memory import format_bytes, parse_bytes
from halfmoon.rows import Array, Rows

__all__ = ["AllPairs", "NearestRows", "RowGraph", "resolved_scale"]

EPS = float(np.finfo(np.float64).eps)

SELF_TUNING = 10  # the neighbor whose distance is the scale, in a graph of all pairs
MATRICES = 5  # n-by-n, that a graph of all pairs holds at its peak


def resolved_scale(
    length_scale: Any, X: Rows, rng: np.random.Generator
) -> float | None:
    """The length scale as a number, or None for self-tuned weights."""
    if length_scale is None:
        return None
    if isinstance(length_scale, str) and length_scale == "median":
        return median_distance(X, rng)
    if not isinstance(length_scale, str) and 0 < length_scale < np.inf:
        return float(length_scale)
    raise ValueError(
        f"length_scale is {length_scale!r}; a positive number, 'median', or None for "
        f"self-tuned weights, is needed."
    )


class RowGraph(ABC):
    """Weights between all rows, and from any row to them.

    Attributes
    ----------
    W : csr_array or ndarray of shape (n, n)
        Symmetric, without loops, and without what rounding loses: an edge that weighs
        less than eps of the degree at both of its ends.
    row_bytes : int
        Bytes of temporaries for the step of one row.
    """

    W: Any
    row_bytes: int

    @property
    def degree(self) -> Array:
        """Sum of the weights of each row, shape (n,)."""
        return np.asarray(self.W.sum(axis=1)).ravel()

    @abstractmethod
    def normalized(self) -> Any:
        """S = D^-1/2 W D^-1/2, shape (n, n); 0 for a row without edges."""

    @abstractmethod
    def reached(self, labeled: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which rows are tied to a labeled one by some path, shape (n,)."""

    @abstractmethod
    def step(self, X: Rows) -> Any:
        """Weights on the rows, (b, n), dense or CSR; each row of them sums to 1."""

    def inverse_root_degree(self) -> Array:
        """D^-1/2, shape (n,); 0 for a row without edges."""
        degree = self.degree
        root = np.zeros_like(degree)
        return np.divide(1.0, np.sqrt(degree), out=root, where=degree > 0)


class NearestRows(RowGraph):
    """The graph of nearest neighbors, sparse.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
    n_neighbors : int
    length_scale : float or None
        e; None is self-tuned.
    """

    def __init__(self, X: Rows, n_neighbors: int, length_scale: float | None) -> None:
        self.index, self.length_scale = NeighborIndex(X, n_neighbors), length_scale
        self.row_bytes = 64 * (self.index.n_neighbors + 1)
        self.W = weighted_graph(self.index, length_scale)
        W, degree = self.W.tocoo(), self.degree
        kept = W.data > EPS * np.minimum(degree[W.row], degree[W.col])
        entries = W.data[kept], (W.row[kept], W.col[kept])
        self.W = sp.csr_array(entries, shape=W.shape)

    def normalized(self) -> Any:
        """S, CSR."""
        D = sp.diags_array(self.inverse_root_degree())
        return sp.csr_array(D @ self.W @ D)

    def reached(self, labeled: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """By connected components."""
        _, component = connected_components(self.W, directed=False)
        return np.isin(component, component[labeled])

    def step(self, X: Rows) -> Any:
        """CSR, k + 1 entries in a row."""
        distances, columns = self.index.nearest(X)
        q = distances**2
        if self.length_scale is None:
            own = _own_scales(self.index, distances, columns)
            logs = -q / (own[:, None] * self.index.scales[columns])
        else:
            logs = q / (-2.0 * self.length_scale**2)
        w = _normalized(logs, q == 0)
        starts = np.arange(0, w.size + 1, w.shape[1])
        shape = X.shape[0], self.W.shape[0]
        return sp.csr_array((w.ravel(), columns.ravel(), starts), shape=shape)


class AllPairs(RowGraph):
    """The graph of all pairs of rows, dense.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
    length_scale : float or None
        e; None is self-tuned, by the tenth neighbor.
    memory_limit : int or str
    """

    def __init__(
        self, X: Rows, length_scale: float | None, memory_limit: int | str
    ) -> None:
        n = X.shape[0]
        need, limit = MATRICES * 8 * n * n, parse_bytes(memory_limit)
        if need > limit:
            raise MemoryError(
                f"The graph of all pairs of {n:,} rows needs {format_bytes(need)}, "
                f"beyond memory_limit={format_bytes(limit)}. Raise memory_limit, or "
                f"give n_neighbors."
            )
        self.rows, self.row_bytes = X, 8 * 4 * n
        self.index = NeighborIndex(X, SELF_TUNING) if length_scale is None else None
        self.variance = np.nan if length_scale is None else length_scale**2
        q = squared_distances(X, X)
        if self.index is None:
            q /= -2.0 * self.variance
        else:
            q /= -self.index.scales[:, None] * self.index.scales
        self.W = np.exp(q, out=q)
        np.fill_diagonal(self.W, 0.0)
        degree = self.degree
        self.W[np.minimum(degree[:, None], degree) * EPS > self.W] = 0.0

    def normalized(self) -> Any:
        """S, dense."""
        root = self.inverse_root_degree()
        return root[:, None] * self.W * root

    def reached(self, labeled: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """By walking outwards from the labeled rows."""
        reached = labeled.copy()
        edge = np.flatnonzero(labeled)
        while edge.size:
            further = (self.W[:, edge] > 0).any(axis=1) & ~reached
            reached |= further
            edge = np.flatnonzero(further)
        return reached

    def step(self, X: Rows) -> Any:
        """Dense."""
        q = squared_distances(X, self.rows)
        same = q == 0
        if self.index is None:
            return _normalized(q / (-2.0 * self.variance), same)
        own = _own_scales(self.index, *self.index.nearest(X))
        return _normalized(-q / (own[:, None] * self.index.scales), same)


def _own_scales(
    index: NeighborIndex, distances: Array, columns: NDArray[np.intp]
) -> Array:
    """s of new rows: the distance to the last of their neighbors, never 0."""
    own = distances.max(axis=1)
    own[own == 0] = index.scales[columns[own == 0, 0]]
    return own


def _normalized(logs: Array, same: NDArray[np.bool_]) -> Array:
    """Weights that sum to 1; a row that is in the table has all of it on itself."""
    known = same.any(axis=1)
    logs[known] = np.where(same[known], 0.0, -np.inf)
    logs -= logs.max(axis=1, keepdims=True)  # far from all rows each may underflow
    w = np.exp(logs, out=logs)
    w /= w.sum(axis=1, keepdims=True)
    return w
