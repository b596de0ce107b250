r"""Neighbors: weights on the nearest rows only, for one step or several.

.. math:: a_j(x) = w(x, x_j) / \sum_m w(x, x_m), \quad D = A^{t-1}

over the k + 1 rows nearest to x (a fitted row is its own nearest), with self-tuned
weights :math:`w = exp(-d^2 / (s_x s_j))` or those of a kernel. A is the sparse matrix
of the weights at the fitted rows, and t the number of steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax

from halfmoon._graphs import NeighborIndex, sparse_weights
from halfmoon._rows import Array, Rows, as_table
from halfmoon.kernels._radial import PositiveRadial
from halfmoon.smoothers._base import Smoother

__all__ = ["Neighbors", "neighbor_weights"]


@dataclass(eq=False, repr=False)
class Neighbors(Smoother):
    """Weights on the nearest rows, applied `steps` times.

    Parameters
    ----------
    n_neighbors : int
        k.
    steps : int
        t, at least 1.
    kernel : Gaussian, Laplace, Matern, RationalQuadratic or None
        Its values are the weights before normalization; None means self-tuned.
    """

    n_neighbors: int = 10
    steps: int = 1
    kernel: PositiveRadial | None = None

    def fit(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        """Find the nearest neighbors of every row."""
        if self.steps < 1 or self.steps != int(self.steps):
            raise ValueError(f"steps is {self.steps}; 1, 2, 3, ... is needed.")
        if self.kernel is not None and not isinstance(self.kernel, PositiveRadial):
            raise ValueError(
                f"kernel is {self.kernel!r}; weights on the nearest rows need a "
                f"positive function of the distance: Gaussian, Laplace, Matern or "
                f"RationalQuadratic."
            )
        self.rows_ = as_table(X)
        self.kernel_ = None if self.kernel is None else self.kernel.resolve(X, rng)
        self.index_ = NeighborIndex(self.rows_, self.n_neighbors)
        self.step_ = self.weights(self.rows_) if self.steps > 1 else None
        return self

    def weights(self, X: Rows) -> sp.csr_array:
        """Return a_j(x), CSR of shape (b, n), with k + 1 entries in a row."""
        return neighbor_weights(self.index_, X, self.kernel_)

    def spread(self, V: Array) -> Array:
        """Return A^(t-1) V."""
        return self._power(self.step_, V)

    def spread_adjoint(self, V: Array) -> Array:
        """Return (A')^(t-1) V."""
        return self._power(None if self.step_ is None else self.step_.T.tocsr(), V)

    def _power(self, A: sp.csr_array | None, V: Array) -> Array:
        if A is None:
            return V
        for _ in range(int(self.steps) - 1):
            V = A @ V
        return V

    @property
    def row_bytes(self) -> int:
        return 64 * (self.index_.n_neighbors + 1)


def neighbor_weights(
    index: NeighborIndex,
    X: Rows,  # (b, d)
    kernel: PositiveRadial | None = None,
) -> sp.csr_array:
    """Return normalized weights on the fitted rows nearest to each of X, CSR (b, n)."""
    distances, columns = index.nearest(X)
    if kernel is None:
        scales = index.new_scales(distances, columns)
        logs = -(distances**2) / (scales * index.scales[columns])
    else:
        logs = kernel.log_value(distances**2)
    A = sparse_weights(softmax(logs, axis=1), columns, len(index.scales))
    A.sort_indices()
    return A
