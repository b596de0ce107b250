r"""The kernel of a diffusion: how often walks from x and from z end at the same row.

.. math:: k(x, z) = a(x)'D a(z)

with the weights a of one step to the rows of a graph, and the diffusion D over the
graph (`_diffusion.py`). D is a positive function of a symmetric matrix, so the kernel
is positive definite.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from halfmoon._rows import Array, Rows
from halfmoon.kernels import Kernel
from halfmoon.smoothers._diffusion import Diffusion, diffused_values

__all__ = ["DiffusionKernel"]

DIAGONAL_ROWS = 256  # rows diffused at once for `diag`, with n numbers each


@dataclass(eq=False, repr=False)
class DiffusionKernel(Kernel):
    """The kernel a(x)'D a(z) of a diffusion.

    Parameters
    ----------
    walk : Diffusion
        Fitted on the rows of the graph.

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
