r"""Graphs of nearest neighbors, with weights on the edges.

.. math:: W_{ij} = exp(-d_{ij}^2 / (2 e^2)) \quad or \quad exp(-d_{ij}^2 / (s_i s_j))

The second form is *self-tuned*: s_i is the distance from row i to its k-th neighbor, so
dense and sparse regions are equally well connected. W is sparse and symmetric (two rows
share an edge if either is among the neighbors of the other), and has no loops.
"""

from __future__ import annotations

from copy import copy

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from halfmoon._rows import Array, Rows, as_rows
from halfmoon.kernels._length_scales import large_offset, minus, squared_norms

__all__ = [
    "NeighborIndex",
    "graph_laplacian",
    "inverse_roots",
    "neighbor_graph",
    "normalized_adjacency",
    "sparse_weights",
    "weighted_graph",
]


BLOCK_ENTRIES = 2**20  # of rows that are compared at once


class NeighborIndex:
    """Nearest neighbors among fitted rows, at most n - 1, and the scale of each row.

    ``scales[i]`` is s_i, the distance from row i to its k-th neighbor, never 0.
    """

    _offset: Array | None = None  # subtracted from all rows, if large; (d,)

    def __init__(self, X: Rows, n_neighbors: int) -> None:
        X = as_rows(X)
        if X.shape[0] < 2:
            raise ValueError("X has one row; a neighbor graph needs at least two rows.")
        if n_neighbors < 1 or n_neighbors != int(n_neighbors):
            raise ValueError(f"n_neighbors is {n_neighbors}; 1, 2, 3, ... is needed.")
        self.n_neighbors = min(int(n_neighbors), X.shape[0] - 1)
        # The search multiplies rows of many columns, so an offset would cost digits.
        self._offset = large_offset(X)
        if self._offset is not None:
            X = minus(X, self._offset)
        self._search = NearestNeighbors(n_neighbors=self.n_neighbors).fit(X)
        self._rows = X
        self._own = self._search.kneighbors(return_distance=False)  # not the row itself
        self._own_distances = self._distances(X, self._own)
        self.scales = _scales(self._own_distances)

    def first(self, n_neighbors: int) -> NeighborIndex:
        """Return the index with fewer neighbors, from the same search."""
        if not 1 <= n_neighbors <= self.n_neighbors:
            raise ValueError(
                f"n_neighbors is {n_neighbors}; this index needs a number from 1 to "
                f"{self.n_neighbors}."
            )
        fewer = copy(self)
        fewer.n_neighbors = n_neighbors
        fewer._own = self._own[:, :n_neighbors]
        fewer._own_distances = self._own_distances[:, :n_neighbors]
        fewer.scales = _scales(fewer._own_distances)
        return fewer

    def others(self) -> tuple[Array, NDArray[np.intp]]:
        """Return distances and indices, (n, k), of the neighbors of each fitted row."""
        return self._own_distances, self._own

    def nearest(self, X: Rows) -> tuple[Array, NDArray[np.intp]]:
        """Return distances and indices, (b, k + 1), of the fitted rows nearest to X.

        k + 1, because a fitted row finds itself first.
        """
        X = as_rows(X)
        if X.shape[1] != self._rows.shape[1]:
            raise ValueError(
                f"X has {X.shape[1]} columns, but the neighbors were fitted on rows "
                f"with {self._rows.shape[1]}; rows with the same columns are needed."
            )
        if sp.issparse(X) and not sp.issparse(self._rows):
            X = X.toarray()  # trees need dense rows
        if self._offset is not None:
            X = minus(X, self._offset)
        columns = self._search.kneighbors(X, self.n_neighbors + 1, False)
        return self._distances(X, columns), columns

    def new_scales(self, distances: Array, columns: NDArray[np.intp]) -> Array:
        """Return s of new rows, (b, 1): the largest of their distances, never 0."""
        s = distances.max(axis=1)
        # If all neighbors are equal copies of the row, use their scale.
        s[s == 0] = self.scales[columns[s == 0, 0]]
        return s[:, None]

    def _distances(self, X: Rows, columns: NDArray[np.intp]) -> Array:
        """Return distances by differences of rows, exactly 0 for equal rows.

        The search may use |x|^2 + |z|^2 - 2 <x, z>, which gives 1e-8 for equal rows.
        """
        q = np.empty(columns.shape)
        step = max(1, BLOCK_ENTRIES * len(q) // max(1, X.size))  # size: what is stored
        for start in range(0, len(q), step):
            block = slice(start, start + step)
            some = X[block]
            for j, nearest in enumerate(columns[block].T):
                q[block, j] = squared_norms(some - self._rows[nearest])
        return np.sqrt(q)


def _scales(distances: Array) -> Array:
    """Return s_i, the distance to the last neighbor."""
    s = distances.max(axis=1)
    # Rows with k equal copies get the mean scale of the others.
    s[s == 0] = s[s > 0].mean() if (s > 0).any() else 1.0
    return s


def neighbor_graph(
    X: Rows,  # (n, d)
    n_neighbors: int = 10,
    length_scale: float | None = None,
) -> sp.csr_array:
    """Return the symmetric weights W of the graph, CSR with at most 2 n k entries.

    `length_scale` is e of the Gaussian weights; None means self-tuned.
    """
    return weighted_graph(NeighborIndex(X, n_neighbors), length_scale)


def weighted_graph(
    index: NeighborIndex, length_scale: float | None = None
) -> sp.csr_array:
    """Return the symmetric weights W of the rows of an index, as `neighbor_graph`."""
    distances, columns = index.others()
    if length_scale is None:
        scales = index.scales[:, None] * index.scales[columns]
        values = np.exp(-(distances**2) / scales)
    elif not length_scale > 0:
        raise ValueError(
            f"length_scale is {length_scale}; a positive number, or None for "
            f"self-tuned weights, is needed."
        )
    else:
        values = np.exp(-0.5 * (distances / length_scale) ** 2)
    W = sparse_weights(values, columns, len(values))
    return sp.csr_array(W.maximum(W.T))


def sparse_weights(
    values: Array,  # (b, k)
    columns: NDArray[np.intp],  # (b, k)
    n: int,
) -> sp.csr_array:
    """Return a CSR array of shape (b, n) with k entries in each row."""
    starts = np.arange(0, values.size + 1, values.shape[1])
    shape = len(values), n
    return sp.csr_array((values.ravel(), columns.ravel(), starts), shape=shape)


def graph_laplacian(W: sp.csr_array, *, normalized: bool = False) -> sp.csr_array:
    """Return D - W, or I - D^-1/2 W D^-1/2; a row without edges is 0."""
    degree = np.asarray(W.sum(axis=1)).ravel()
    if not normalized:
        return sp.csr_array(sp.diags_array(degree) - W)
    linked = sp.diags_array((degree > 0).astype(float))
    return sp.csr_array(linked - normalized_adjacency(W))


def normalized_adjacency(W: sp.csr_array) -> sp.csr_array:
    """Return S = D^-1/2 W D^-1/2, whose eigenvalues lie in [-1, 1]."""
    D = sp.diags_array(inverse_roots(np.asarray(W.sum(axis=1)).ravel()))
    return sp.csr_array(D @ W @ D)


def inverse_roots(degree: Array) -> Array:
    """Return D^-1/2, shape (n,); 0 for a row without edges."""
    root = np.zeros_like(degree)
    return np.divide(1.0, np.sqrt(degree), out=root, where=degree > 0)
