r"""The kernel of a diffusion: how much of a walk from x ends where one from z does.

.. math:: k(x, z) = a(x)'D a(z)

with the weights a of one step onto the rows of a graph, and the diffusion D over it
(`diffusion.py`). D is a function of a symmetric matrix with positive values, so the
kernel is positive definite.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from halfmoon.kernels import Kernel
from halfmoon.rows import Array, Rows
from halfmoon.smoothers.diffusion import Diffusion

__all__ = ["DiffusionKernel"]

SPREAD_ROWS = 256  # diffused at once, n numbers each


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
        """x -> a(x)'(D A_Z'C): one diffusion, whatever x is."""
        return self.walk.function(self.at_rows(Z, C))

    def at_rows(self, Z: Rows, C: Array) -> Array:
        """D A_Z'C, shape (n, t): the values that are averaged at x."""
        return self.walk.spread(np.asarray(self.walk.weights(Z).T @ C))

    def row_bytes(self, p: int) -> int:
        """Weights on the neighbors, and the values."""
        return self.walk.row_bytes + super().row_bytes(p)

    def __sklearn_clone__(self) -> Any:
        """A copy that shares the graph."""
        return replace(self)

    def _value(self, X: Rows, Z: Rows) -> Array:
        if X.shape[0] < Z.shape[0]:
            return self._value(Z, X).T
        A_X = self.walk.weights(X)
        A_Z = A_X if Z is X else self.walk.weights(Z)
        K = np.asarray(A_X @ self.walk.spread(A_Z.T.toarray()))
        return (K + K.T) / 2 if Z is X else K

    def _diag(self, X: Rows) -> Array:
        A = self.walk.weights(X)  # (b, n)
        values = np.empty(A.shape[0])
        for start in range(0, A.shape[0], SPREAD_ROWS):  # n by b would be too much
            some = slice(start, start + SPREAD_ROWS)
            spread = self.walk.spread(A[some].T.toarray())
            values[some] = np.asarray(A[some].multiply(spread.T).sum(axis=1)).ravel()
        return values
