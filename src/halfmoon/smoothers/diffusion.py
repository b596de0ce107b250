r"""Diffusion: steps on the neighbor graph, summed over all times.

.. math:: D = ((1 - a) (I - a S)^{-1})^t, \quad S = D_W^{-1/2} W D_W^{-1/2}

with a = 1 - restart and W the self-tuned neighbor graph. D is a function of S, whose
eigenvalues lie in [-1, 1], so it is applied as a Chebyshev series in S: some dozens of
sparse products whatever t, and no n-by-n matrix. A new row takes one step to its
neighbors and then the diffused values of these, and so do the rows of the table. Long
walks (a restart of 1e-4, say) over up to 3,000 rows take thousands of products: there
I - a S is factored by Cholesky instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from scipy.fft import dct

from halfmoon.blocks import Stream, worker_count
from halfmoon.graphs import NeighborIndex, normalized_adjacency, weighted_graph
from halfmoon.rows import Array, Rows, as_table
from halfmoon.smoothers.base import Smoother
from halfmoon.smoothers.neighbors import neighbor_weights

__all__ = ["Diffusion", "chebyshev_product", "diffused_values"]

COLUMNS = 128  # of values diffused at once by a worker, which keeps four copies
FACTORED_ROWS = 3_000  # up to which I - a S may be factored
SPARSE_COST = 6.0  # of an operation of a sparse product, in operations of a dense one


@dataclass(eq=False, repr=False)
class Diffusion(Smoother):
    """Random walks on the neighbor graph that start anew with some probability.

    Parameters
    ----------
    n_neighbors : int
        k of the self-tuned graph.
    restart : float
        Probability 1 - a that a walk stops at a step, between 0 and 1: the smaller,
        the farther it goes.
    repeats : int
        t, how often the resolvent is applied.
    tolerance : float
        Largest error of the series on the spectrum of S.
    """

    n_neighbors: int = 10
    restart: float = 0.01
    repeats: int = 1
    tolerance: float = 1e-10

    def fit(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        """Build the graph and the series."""
        self._check()
        self.rows_ = as_table(X)
        return self._walk_on(NeighborIndex(self.rows_, self.n_neighbors))

    def variant(
        self, *, n_neighbors: int | None = None, restart: float | None = None
    ) -> Diffusion:
        """A fitted walk on the same rows, with fewer neighbors or another restart.

        The search for neighbors, and the graph where it is the same, are shared.
        """
        other = replace(
            self,
            n_neighbors=self.n_neighbors if n_neighbors is None else n_neighbors,
            restart=self.restart if restart is None else restart,
        )
        other._check()
        other.rows_ = self.rows_
        if n_neighbors is not None and n_neighbors < self.index_.n_neighbors:
            return other._walk_on(self.index_.first(n_neighbors))
        other.index_, other.adjacency_ = self.index_, self.adjacency_
        other.series_ = other._series()
        return other

    def _walk_on(self, index: NeighborIndex) -> Self:
        self.index_ = index
        self.adjacency_ = normalized_adjacency(weighted_graph(index))
        self.series_ = self._series()
        return self

    def _check(self) -> None:
        if not 0 < self.restart < 1:
            raise ValueError(
                f"restart is {self.restart}; a probability strictly between 0 and 1 "
                f"is needed."
            )
        if self.repeats < 1 or self.repeats != int(self.repeats):
            raise ValueError(f"repeats is {self.repeats}; 1, 2, 3, ... is needed.")
        if not 0 < self.tolerance < 1:
            raise ValueError(
                f"tolerance is {self.tolerance}; a number between 0 and 1 is needed."
            )

    def weights(self, X: Rows) -> sp.csr_array:
        """a_j(x), CSR of shape (b, n), k + 1 entries in a row."""
        return neighbor_weights(self.index_, X)

    def spread(self, V: Array) -> Array:
        """D V: by the series, columns side by side in threads, or by a factor."""
        V = V.reshape(V.shape[0], -1)
        if self._factored_is_cheaper(V.shape[1]):
            return self._spread_by_factor(V)
        stream, row_bytes = _by_columns(V.shape[1], V.shape[0])
        spread = stream.map(
            lambda rows: chebyshev_product(self.adjacency_, self.series_, rows.T).T,
            V.T,
            row_bytes=row_bytes,
        )
        return spread.T

    def _factored_is_cheaper(self, columns: int) -> bool:
        n = self.adjacency_.shape[0]
        by_series = SPARSE_COST * len(self.series_) * self.adjacency_.nnz * columns
        by_factor = n**3 / 3 + 2 * self.repeats * n**2 * columns
        return n <= FACTORED_ROWS and by_factor < by_series

    def _spread_by_factor(self, V: Array) -> Array:
        A = (self.restart - 1.0) * self.adjacency_.toarray()  # I - a S
        A[np.diag_indices(len(A))] += 1.0
        factor = sla.cho_factor(A, lower=True, overwrite_a=True, check_finite=False)
        for _ in range(int(self.repeats)):
            V = self.restart * sla.cho_solve(factor, V, check_finite=False)
        return np.asarray(V)

    def spread_adjoint(self, V: Array) -> Array:
        """D' V = D V: S is symmetric."""
        return self.spread(V)

    @property
    def row_bytes(self) -> int:
        """Bytes of temporaries for the weights of one row."""
        return 64 * (self.index_.n_neighbors + 1)

    def _series(self) -> Array:
        a, t = 1.0 - self.restart, int(self.repeats)

        # The coefficients of the resolvent fall off as rho^m (its pole is at 1/a);
        # a power t of it adds a polynomial factor, for which some more are taken.
        rho = a / (1.0 + np.sqrt(1.0 - a * a))
        terms = int(np.log(self.tolerance * (1.0 - rho)) / np.log(rho) * (1 + 0.2 * t))
        m = max(terms, 4)
        s = np.cos(np.pi * (np.arange(m) + 0.5) / m)  # Chebyshev's points
        series = dct(((1.0 - a) / (1.0 - a * s)) ** t) / m
        series[0] /= 2
        tail = np.cumsum(np.abs(series[::-1]))[::-1]
        return np.asarray(series[: max(2, int((tail > self.tolerance).sum()))])


def diffused_values(walks: Sequence[Diffusion], X: Rows, Z: Rows) -> Array:
    """A_X D A_Z' for several walks on one graph, shape (w, m, p).

    Each is the matrix of a `DiffusionKernel`. The walks differ in their series alone,
    so one recursion serves all of them, and of each of its terms only m-by-p numbers
    are kept. Where a factor is cheaper than a series, walks go one by one.
    """
    S, A_X, A_Z = walks[0].adjacency_, walks[0].weights(X), walks[0].weights(Z)
    if any(walk._factored_is_cheaper(A_Z.shape[0]) for walk in walks):
        V = A_Z.T.toarray()
        return np.array([A_X @ walk.spread(V) for walk in walks])
    terms = max(len(walk.series_) for walk in walks)
    series = np.zeros((len(walks), terms))
    for row, walk in zip(series, walks, strict=True):
        row[: len(walk.series_)] = walk.series_

    def columns(rows: Rows) -> Array:
        values = np.zeros((rows.shape[0], len(walks), A_X.shape[0]))
        T = chebyshev_terms(S, rows.toarray().T)
        for coefficients, term in zip(series.T, T, strict=False):
            values += coefficients[None, :, None] * (A_X @ term).T[:, None, :]
        return values

    stream, row_bytes = _by_columns(A_Z.shape[0], S.shape[0])
    return stream.map(columns, A_Z, row_bytes=row_bytes).transpose(1, 2, 0)


def _by_columns(columns: int, n: int) -> tuple[Stream, int]:
    """How to walk through columns of n values: their share for each worker, or less."""
    row_bytes = 40 * n  # five arrays of the recursion
    stream = Stream.inherited()
    in_each = -(-columns // worker_count(stream.n_jobs))
    fit = stream.rows_in_block(row_bytes)
    return replace(stream, block_rows=max(1, min(in_each, COLUMNS, fit))), row_bytes


def chebyshev_terms(S: sp.csr_array, V: Array) -> Iterator[Array]:
    """T_0(S) V, T_1(S) V, ..., by T_m+1 = 2 S T_m - T_m-1."""
    before, now = None, np.ascontiguousarray(V)
    while True:
        yield now
        after = S @ now
        if before is not None:
            after *= 2.0
            after -= before
        before, now = now, after


def chebyshev_product(S: sp.csr_array, series: Array, V: Array) -> Array:
    """Sum over m of series[m] T_m(S) V."""
    total = np.zeros(V.shape)
    for coefficient, term in zip(series, chebyshev_terms(S, V), strict=False):
        total += coefficient * term
    return total
