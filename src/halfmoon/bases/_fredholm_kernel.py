r"""The Fredholm kernel: a kernel averaged over all rows, on both sides.

.. math:: k_F(x, z) = \sum_{ij} a_i(x) h(x_i, x_j) a_j(z)

with the weights a of a smoother, and its further steps D if it has any. It is a kernel
like any other: it can be added to others and used in any estimator. H is computed by
row blocks, so no n-by-n matrix is formed.

Que, Belkin, Wang, "Learning with Fredholm kernels", 2014, equation 6.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from halfmoon._rows import Array, Rows
from halfmoon.bases._exact import Exact
from halfmoon.blocks import Stream
from halfmoon.kernels import Kernel
from halfmoon.smoothers import Smoother

__all__ = ["FredholmKernel"]

DIAGONAL_ROWS = 256  # rows averaged at once for `diag`, with n numbers each


@dataclass(eq=False, repr=False)
class FredholmKernel(Kernel):
    """The kernel a(x)'D H D'a(z).

    Parameters
    ----------
    inner : Kernel
        h, with resolved parameters.
    smoother : Smoother
        Fitted on the rows to average over.

    Examples
    --------
    >>> from halfmoon.kernels import Gaussian, Linear
    >>> from halfmoon.smoothers import KernelWeights
    >>> smoother = KernelWeights(Gaussian(1.0)).fit([[0.0], [2.0]])
    >>> FredholmKernel(Linear(), smoother)([[1.0]])  # the mean of the rows is 1
    array([[1.]])
    """

    inner: Kernel
    smoother: Smoother

    def __post_init__(self) -> None:
        if self.inner.conditional_degree >= 0:
            raise ValueError(
                f"{self.inner!r} is only conditionally positive definite; an average "
                f"over the rows needs a positive definite inner kernel, such as "
                f"Gaussian or Linear."
            )

    def combination(self, Z: Rows, C: Array) -> Callable[[Rows], Array]:
        """Return x -> a(x)'(D H D'A_Z'C), which averages t numbers for each row."""
        return self.smoother.function(self._averaged(self.weights(Z, C)))

    def weights(self, Z: Rows, C: Array | None = None) -> Array:
        """Return D'A_Z'C, shape (n, t), with C = I if None.

        The function k_F(x, Z) C is a(x)'D h(X, X) times these weights of all rows.
        """
        A = self.smoother.weights(Z)  # (p, n)
        if C is not None:
            return self.smoother.spread_adjoint(np.asarray(A.T @ C))
        dense = A.T if isinstance(A, np.ndarray) else A.T.toarray()
        return self.smoother.spread_adjoint(dense)

    def inner_sums(self, V: Array) -> Array:
        """Return H V, shape (n, t), with H by row blocks."""
        sections = Exact(self.inner).fit(self.smoother.rows_)
        return Stream.inherited().map(
            sections.function(V), sections.rows_, row_bytes=sections.row_bytes
        )

    def row_bytes(self, p: int) -> int:
        return self.smoother.row_bytes + super().row_bytes(p)

    def __sklearn_clone__(self) -> Any:
        """Copy the inner kernel and share the fitted smoother."""
        return replace(self, inner=clone(self.inner))

    def _value(self, X: Rows, Z: Rows) -> Array:
        if X.shape[0] < Z.shape[0]:
            return self._value(Z, X).T
        values = self._averaged(self.weights(Z))
        K = np.asarray(self.smoother.weights(X) @ values)
        return (K + K.T) / 2 if Z is X else K

    def _diag(self, X: Rows) -> Array:
        values = np.empty(X.shape[0])
        for start in range(0, X.shape[0], DIAGONAL_ROWS):  # V is n-by-b: keep b small
            rows = slice(start, start + DIAGONAL_ROWS)
            V = self.weights(X[rows])
            values[rows] = np.einsum("nb,nb->b", V, self.inner_sums(V))
        return values

    def _averaged(self, V: Array) -> Array:
        """Return D H V, shape (n, t)."""
        return self.smoother.spread(self.inner_sums(V))
