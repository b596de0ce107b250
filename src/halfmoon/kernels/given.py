"""Kernels of the user's own: a function of two tables, or a matrix computed before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from halfmoon.kernels.base import Kernel
from halfmoon.rows import Array, Rows

__all__ = ["FromFunction", "Precomputed", "numbered"]


@dataclass(eq=False, repr=False)
class FromFunction(Kernel):
    """A kernel given by a function of two tables, which returns the whole matrix.

    Parameters
    ----------
    function : callable
        ``function(X, Z)`` is the matrix of values, shape (n, p): symmetric and
        positive semi-definite where a fit is to have a norm.

    Examples
    --------
    >>> FromFunction(lambda X, Z: X @ Z.T)([[2.0]], [[3.0], [4.0]])
    array([[6., 8.]])
    """

    function: Callable[[Rows, Rows], Any]

    def _value(self, X: Rows, Z: Rows) -> Array:
        K = self.function(X, Z)
        K = np.array(K.toarray() if sp.issparse(K) else K, dtype=np.float64)  # a copy
        if K.shape != (X.shape[0], Z.shape[0]):
            raise ValueError(
                f"The kernel function returned shape {K.shape} for {X.shape[0]} and "
                f"{Z.shape[0]} rows; it is called once with both tables, and the "
                f"matrix of shape {(X.shape[0], Z.shape[0])} is needed."
            )
        if not np.isfinite(K).all():
            raise ValueError("The kernel function returned NaN or infinity.")
        return K

    def _diag(self, X: Rows) -> Array:
        one_by_one = (
            self._value(X[i : i + 1], X[i : i + 1]) for i in range(X.shape[0])
        )
        return np.array([k[0, 0] for k in one_by_one])


@dataclass(eq=False, repr=False)
class Precomputed(Kernel):
    """A kernel whose values are the table itself.

    A row holds its values with all n fitted rows, and in a last column its own number
    among these, or -1 for a new row: see `numbered`.

    Examples
    --------
    >>> K = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> fitted = numbered(K)
    >>> Precomputed()(numbered(np.array([[5.0, 7.0]]), new=True), fitted[[1]])
    array([[7.]])
    """

    def _value(self, X: Rows, Z: Rows) -> Array:
        return np.ascontiguousarray(X[:, _numbers(Z)])

    def _diag(self, X: Rows) -> Array:
        return X[np.arange(X.shape[0]), _numbers(X)].copy()


def numbered(K: Array, *, new: bool = False) -> Array:
    """Rows of a kernel matrix with their numbers as a last column, (b, n + 1)."""
    numbers = np.full(len(K), -1.0) if new else np.arange(len(K), dtype=np.float64)
    return np.column_stack([K, numbers])


def _numbers(Z: Array) -> Any:
    numbers = Z[:, -1].astype(np.intp)
    if (numbers < 0).any():
        raise ValueError(
            "A precomputed kernel has no values between two new rows, which this needs "
            "(a standard deviation, say). Give the kernel as an object or a function."
        )
    return numbers
