r"""The interface of a smoother: an average over all rows, labeled or not.

A smoother turns values v_j at the n fitted rows into a function,

.. math:: g(x) = \sum_j a_j(x) (D v)_j

with weights a_j(x) of one step from x to the rows, and a matrix D of further steps
among the rows (often none: D = I). Fitted rows take the same first step as new rows, so
g is one function everywhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

import numpy as np
from sklearn.base import BaseEstimator

from halfmoon._rows import Array, Rows
from halfmoon._sklearn_conventions import refuse_unfitted

__all__ = ["Smoother"]


class Smoother(BaseEstimator, ABC):
    """Base class of smoothers: g(x) = sum_j a_j(x) (D v)_j over the fitted rows.

    Attributes
    ----------
    rows_ : array or CSR of shape (n, d)
        The fitted rows, in their own dtype.
    """

    if not TYPE_CHECKING:  # where it would hide attributes that do not exist
        __getattr__ = refuse_unfitted

    rows_: Rows

    @abstractmethod
    def fit(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        """Store the rows and prepare the weights. Returns self."""

    @abstractmethod
    def weights(self, X: Rows) -> Rows:
        """Return the weights a_j(x) of one step, shape (b, n), dense or CSR."""

    def function(self, V: Array) -> Callable[[Rows], Array]:
        """Return the function x -> sum_j a_j(x) V_j, for values V of shape (n, t)."""
        return lambda X: np.asarray(self.weights(X) @ V)

    def spread(self, V: Array) -> Array:
        """Return D V, further steps among the rows, for values V of shape (n, p)."""
        return V

    def spread_adjoint(self, V: Array) -> Array:
        """Return D' V, shape (n, p)."""
        return V

    def gradient(self, X: Rows, V: Array) -> Array:
        """Return the gradients in x of sum_j a_j(x) V_j, shape (b, p, d)."""
        raise TypeError(
            f"The weights of {self!r} jump where the nearest rows change, so they have "
            f"no gradient. Use the energy of a graph, or smooth by KernelWeights."
        )

    @property
    def row_bytes(self) -> int:
        """Bytes held at once for the weights of one row."""
        return 16 * int(self.rows_.shape[0])
