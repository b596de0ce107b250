r"""What a smoother is: an average over all rows, labeled or not.

A smoother turns values v_j at the n rows that it was fitted on into a function,

.. math:: g(x) = \sum_j a_j(x) (D v)_j

with weights a_j(x) of one step from x to the rows, and a matrix D of further steps
among the rows (often none: D = I). New rows take the same step as old ones, so that g
is one function everywhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator

from halfmoon.rows import Array, Rows

__all__ = ["Smoother"]


class Smoother(BaseEstimator, ABC):
    """Averages over the rows it was fitted on; see the module's equation.

    Attributes
    ----------
    rows_ : array or CSR of shape (n, d)
        The rows, as they came.
    """

    rows_: Rows

    @abstractmethod
    def fit(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        """Keep the rows and whatever the weights need."""

    @abstractmethod
    def weights(self, X: Rows) -> Rows:
        """The weights a_j(x) of one step, (b, n), dense or CSR."""

    def function(self, V: Array) -> Callable[[Rows], Array]:
        """The function x -> sum_j a_j(x) V_j, for values V of shape (n, t)."""
        return lambda X: np.asarray(self.weights(X) @ V)

    def spread(self, V: Array) -> Array:
        """D V: further steps among the rows, for values V of shape (n, p)."""
        return V

    def spread_adjoint(self, V: Array) -> Array:
        """D' V, of shape (n, p)."""
        return V

    def gradient(self, X: Rows, V: Array) -> Array:
        """Gradients in x of sum_j a_j(x) V_j, shape (b, p, d)."""
        raise TypeError(
            f"The weights of {self!r} jump where the nearest rows change, so they have "
            f"no gradient. Use the energy of a graph, or smooth by KernelWeights."
        )

    @property
    def row_bytes(self) -> int:
        """Bytes of temporaries for the weights of one row."""
        return 16 * int(self.rows_.shape[0])
