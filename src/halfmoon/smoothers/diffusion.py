r"""Diffusion: steps on the neighbor graph, summed over all times.

.. math:: D = ((1 - a) (I - a S)^{-1})^t, \quad S = D_W^{-1/2} W D_W^{-1/2}

with a = 1 - restart and W the self-tuned neighbor graph. D is a function of S, whose
eigenvalues lie in [-1, 1], so it is applied as a Chebyshev series in S: some dozens of
sparse products whatever t, and never an n-by-n inverse. A new row takes one step to its
neighbors and then the diffused values of these, and so do the rows of the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.sparse as sp
from scipy.fft import dct

from halfmoon.blocks import Stream, worker_count
from halfmoon.graphs import NeighborIndex, neighbor_graph, normalized_adjacency
from halfmoon.rows import Array, Rows, as_table
from halfmoon.smoothers.base import Smoother
from halfmoon.smoothers.neighbors import neighbor_weights

__all__ = ["Diffusion", "chebyshev_product"]

COLUMNS = 128  # of values diffused at once by a worker, which keeps four copies


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
        self.rows_ = as_table(X)
        self.index_ = NeighborIndex(self.rows_, self.n_neighbors)
        self.adjacency_ = normalized_adjacency(
            neighbor_graph(self.rows_, self.n_neighbors)
        )
        self.series_ = self._series()
        return self

    def weights(self, X: Rows) -> sp.csr_array:
        """a_j(x), CSR of shape (b, n), k + 1 entries in a row."""
        return neighbor_weights(self.index_, X)

    def spread(self, V: Array) -> Array:
        """D V, columns side by side in threads."""
        V = V.reshape(V.shape[0], -1)
        in_each = -(-V.shape[1] // worker_count())
        spread = Stream(block_rows=max(1, min(in_each, COLUMNS))).map(
            lambda rows: chebyshev_product(self.adjacency_, self.series_, rows.T).T,
            V.T,
            row_bytes=40 * V.shape[0],
        )
        return spread.T

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


def chebyshev_product(S: sp.csr_array, series: Array, V: Array) -> Array:
    """Sum over m of series[m] T_m(S) V, by T_m+1 = 2 S T_m - T_m-1."""
    V = np.ascontiguousarray(V)
    before, now = V, S @ V
    total = series[0] * V + series[1] * now
    for coefficient in series[2:]:
        after = S @ now
        after *= 2.0
        after -= before
        before, now = now, after
        total += coefficient * now
    return np.asarray(total)
