r"""Diffusion: steps on the neighbor graph, summed over all times.

.. math:: D = ((1 - a) (I - a S)^{-1})^t, \quad S = D_W^{-1/2} W D_W^{-1/2}

with a = 1 - restart and W the self-tuned neighbor graph. D is a function of S, whose
eigenvalues lie in [-1, 1], so it is applied as a Chebyshev series in S: a few dozen
sparse products for any t, and no n-by-n matrix. Each row, fitted or new, averages the
diffused values of its neighbors. Long walks (such as a restart of 1e-4) need thousands
of products. For up to 3,000 rows, I - a S is then factored by Cholesky instead: always
for a walk, or never. A fit to a kernel with little noise, of which the labels' weights
are asked later, would show a change from one to the other.

The kernel of a diffusion says how often walks from x and from z end at the same row:

.. math:: k(x, z) = a(x)'D a(z)

with the weights a of one step to the rows of the graph. D is a positive function of a
symmetric matrix, so the kernel is positive definite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from scipy.fft import dct

from halfmoon._graphs import NeighborIndex, normalized_adjacency, weighted_graph
from halfmoon._rows import Array, Rows, as_table
from halfmoon.blocks import Stream, worker_count
from halfmoon.kernels import Kernel
from halfmoon.smoothers._weights import Smoother, neighbor_weights

__all__ = ["Diffusion", "DiffusionKernel", "chebyshev_product", "diffused_values"]

MAX_WORKER_COLUMNS = 64  # diffused at once by a worker; more do not fit into its cache
MAX_FACTORED_ROWS = 3_000  # for a Cholesky factor of I - a S
SPARSE_COST = 6.0  # of a sparse operation, in dense operations
USUAL_COLUMNS = 16  # by which series and factor are compared

SECTIONS_AT_ONCE = 512  # diffused before they are stored
DIAGONAL_ROWS = 256  # rows diffused at once for `diag`, with n numbers each


@dataclass(eq=False, repr=False)
class Diffusion(Smoother):
    """Random walks on the neighbor graph that stop with some probability.

    Parameters
    ----------
    n_neighbors : int
        k of the self-tuned graph.
    restart : float
        Probability 1 - a that a walk stops at each step, between 0 and 1. Smaller
        values make longer walks.
    repeats : int
        t, the number of times that the resolvent is applied.
    tolerance : float
        Maximum error of the series on the spectrum of S.
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
        """Return a fitted walk on the same rows with fewer neighbors or other restart.

        The neighbor search is shared, and so is the graph if it is the same.
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
        """Return a_j(x), CSR of shape (b, n), with k + 1 entries in a row."""
        return neighbor_weights(self.index_, X)

    def spread(self, V: Array) -> Array:
        """Return D V, by the series in parallel threads, or by a Cholesky factor."""
        V = V.reshape(V.shape[0], -1)
        if self._is_factored:
            return self._spread_by_factor(V)
        stream, row_bytes = _by_columns(V.shape[1], V.shape[0])
        spread = stream.map(
            lambda rows: chebyshev_product(self.adjacency_, self.series_, rows.T).T,
            V.T,
            row_bytes=row_bytes,
        )
        return spread.T

    @property
    def _is_factored(self) -> bool:
        """Whether the factor is cheaper, however many columns there are this time."""
        n, columns = self.adjacency_.shape[0], USUAL_COLUMNS
        by_series = SPARSE_COST * len(self.series_) * self.adjacency_.nnz * columns
        by_factor = n**3 / 3 + 2 * self.repeats * n**2 * columns
        return n <= MAX_FACTORED_ROWS and by_factor < by_series

    def _spread_by_factor(self, V: Array) -> Array:
        A = (self.restart - 1.0) * self.adjacency_.toarray()  # I - a S
        A[np.diag_indices(len(A))] += 1.0
        # A is symmetric, and LAPACK would copy A itself, whose rows are contiguous.
        factor = sla.cho_factor(A.T, lower=True, overwrite_a=True, check_finite=False)
        for _ in range(int(self.repeats)):
            V = self.restart * sla.cho_solve(factor, V, check_finite=False)
        return np.asarray(V)

    def spread_adjoint(self, V: Array) -> Array:
        return self.spread(V)  # S is symmetric

    @property
    def row_bytes(self) -> int:
        return 64 * (self.index_.n_neighbors + 1)

    def _series(self) -> Array:
        a, t = 1.0 - self.restart, int(self.repeats)

        # The coefficients of the resolvent decay as rho^m (its pole is at 1/a). Its
        # power t adds a polynomial factor, which needs a few more terms.
        rho = a / (1.0 + np.sqrt(1.0 - a * a))
        terms = int(np.log(self.tolerance * (1.0 - rho)) / np.log(rho) * (1 + 0.2 * t))
        m = max(terms, 4)
        s = np.cos(np.pi * (np.arange(m) + 0.5) / m)  # Chebyshev nodes
        series = dct(((1.0 - a) / (1.0 - a * s)) ** t) / m
        series[0] /= 2
        tail = np.cumsum(np.abs(series[::-1]))[::-1]
        return np.asarray(series[: max(2, int((tail > self.tolerance).sum()))])


def diffused_values(walks: Sequence[Diffusion], X: Rows, Z: Rows) -> Array:
    """Return A_X D A_Z' for several walks on one graph, shape (w, m, p).

    Each is the matrix of a `DiffusionKernel`. The walks differ only in their series, so
    one recursion serves all of them, and only m-by-p numbers of each term are stored.
    Walks that are factored are computed one by one.
    """
    S, A_X = walks[0].adjacency_, walks[0].weights(X)
    A_Z = A_X if Z is X else walks[0].weights(Z)
    by_series = [walk for walk in walks if not walk._is_factored]
    terms = max((len(walk.series_) for walk in by_series), default=0)
    series = np.zeros((len(by_series), terms))
    for row, walk in zip(series, by_series, strict=True):
        row[: len(walk.series_)] = walk.series_

    def columns(rows: Rows) -> Array:
        values = np.zeros((rows.shape[0], len(by_series), A_X.shape[0]))
        T = chebyshev_terms(S, rows.toarray().T)
        for coefficients, term in zip(series.T, T, strict=False):
            values += coefficients[None, :, None] * (A_X @ term).T[:, None, :]
        return values

    found: Iterator[Array] = iter(())
    if by_series:
        stream, row_bytes = _by_columns(A_Z.shape[0], S.shape[0])
        values = stream.map(columns, A_Z, row_bytes=row_bytes)
        found = iter(values.transpose(1, 2, 0))
    return np.array(
        [
            A_X @ walk.spread(A_Z.T.toarray()) if walk._is_factored else next(found)
            for walk in walks
        ]
    )


def _by_columns(columns: int, n: int) -> tuple[Stream, int]:
    """Return a stream over columns of n values, and the bytes that one column needs."""
    row_bytes = 40 * n  # five arrays of the recursion
    stream = Stream.inherited()
    per_worker = -(-columns // worker_count(stream.n_jobs))
    block = min(per_worker, MAX_WORKER_COLUMNS, stream.rows_in_block(row_bytes))
    return replace(stream, block_rows=max(1, block)), row_bytes


def chebyshev_terms(S: sp.csr_array, V: Array) -> Iterator[Array]:
    """Yield T_0(S) V, T_1(S) V, ..., by T_m+1 = 2 S T_m - T_m-1."""
    before = np.ascontiguousarray(V)
    yield before
    now, twice = S @ before, 2.0 * S
    while True:
        yield now
        after = twice @ now
        after -= before
        before, now = now, after


def chebyshev_product(S: sp.csr_array, series: Array, V: Array) -> Array:
    """Return the sum over m of series[m] T_m(S) V."""
    total = np.zeros(V.shape)
    for coefficient, term in zip(series, chebyshev_terms(S, V), strict=False):
        total += coefficient * term
    return total


@dataclass(eq=False, repr=False)
class DiffusionKernel(Kernel):
    """The kernel a(x)'D a(z) of a diffusion that is fitted on the rows of the graph.

    Examples
    --------
    >>> rows = [[0.0], [0.1], [0.2], [5.0], [5.1]]
    >>> walk = Diffusion(n_neighbors=1, restart=0.1).fit(rows)
    >>> K = DiffusionKernel(walk)([[0.0]], [[0.2], [5.1]])
    >>> bool(K[0, 0] > 1e6 * K[0, 1])
    True
    """

    walk: Diffusion

    def combination(self, Z: Rows, C: Array) -> Callable[[Rows], Array]:
        """Return x -> a(x)'(D A_Z'C): one diffusion serves all x."""
        return self.walk.function(self.at_rows(Z, C))

    def sections(self, Z: Rows) -> Callable[[Rows], Array]:
        """Return x -> a(x)'(D A_Z'), which holds n numbers for each row of Z."""
        A_Z = self.walk.weights(Z)  # (p, n)
        values = np.empty(A_Z.shape[::-1])
        for start in range(0, A_Z.shape[0], SECTIONS_AT_ONCE):
            some = slice(start, start + SECTIONS_AT_ONCE)
            values[:, some] = self.walk.spread(A_Z[some].T.toarray())
        return self.walk.function(values)

    def at_rows(self, Z: Rows, C: Array) -> Array:
        """Return D A_Z'C, shape (n, t): the values to average at x."""
        return self.walk.spread(np.asarray(self.walk.weights(Z).T @ C))

    def row_bytes(self, p: int) -> int:
        return self.walk.row_bytes + super().row_bytes(p)

    def __sklearn_clone__(self) -> Any:
        """Copy the kernel and share the graph."""
        return replace(self)

    def _value(self, X: Rows, Z: Rows) -> Array:
        if X.shape[0] < Z.shape[0]:
            return self._value(Z, X).T
        (K,) = diffused_values([self.walk], X, Z)
        return (K + K.T) / 2 if Z is X else np.ascontiguousarray(K)

    def _diag(self, X: Rows) -> Array:
        A = self.walk.weights(X)  # (b, n)
        values = np.empty(A.shape[0])
        for start in range(0, A.shape[0], DIAGONAL_ROWS):  # spread is n-by-b
            rows = slice(start, start + DIAGONAL_ROWS)
            spread = self.walk.spread(A[rows].T.toarray())
            values[rows] = np.asarray(A[rows].multiply(spread.T).sum(axis=1)).ravel()
        return values
