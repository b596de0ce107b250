r"""Kernel weights: the average of the Fredholm method.

.. math:: a_j(x) = k(x, x_j) / n \quad or \quad k(x, x_j) / \sum_m k(x, x_m)

Que, Belkin, Wang, "Learning with Fredholm kernels", 2014, equations 2 and 6 (the second
without its further 1/n^2, which only rescales the penalty).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from halfmoon.kernels import Gaussian, Kernel, Linear
from halfmoon.kernels.distances import squared_distances
from halfmoon.kernels.radial import Radial
from halfmoon.rows import Array, Rows, as_dense_rows, as_rows, as_table
from halfmoon.smoothers.base import Smoother

__all__ = ["KernelWeights"]

FEW_COLUMNS = 64  # of values, for which d numbers each are kept in place of n


@dataclass(eq=False, repr=False)
class KernelWeights(Smoother):
    """Weights by a kernel, which need not be positive definite.

    Parameters
    ----------
    kernel : Kernel
        The outer kernel k.
    normalize : bool
        Let the weights of each row sum to 1. Far from all rows, where every value of
        the kernel underflows, the weights tend to the nearest row. A row to which the
        kernel gives no weight at all (a text without a known word) is left at 0.

    Examples
    --------
    >>> smoother = KernelWeights(Gaussian(1.0)).fit([[0.0], [2.0]])
    >>> smoother.weights([[1.0], [99.0]]).round(3)
    array([[0.5, 0.5],
           [0. , 1. ]])
    """

    kernel: Kernel = field(default_factory=Gaussian)
    normalize: bool = True

    def fit(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        """Keep the rows; resolve the kernel's length scale by them."""
        self.rows_ = as_table(X)
        self.kernel_ = self.kernel.resolve(self.rows_, rng)
        return self

    def weights(self, X: Rows) -> Array:
        """a_j(x), shape (b, n)."""
        logs = self.kernel_.log(X, self.rows_) if self.normalize else None
        if logs is not None:
            logs -= logs.max(axis=1, keepdims=True)  # the nearest row: 1 before the sum
            a = np.exp(logs, out=logs)
        else:
            a = self.kernel_(X, self.rows_)
        totals = a.sum(axis=1) if self.normalize else np.full(len(a), float(a.shape[1]))
        totals[totals == 0] = np.inf  # no weight on any row
        a /= totals[:, None]
        return a

    def function(self, V: Array) -> Callable[[Rows], Array]:
        """x -> sum_j a_j(x) V_j; with the linear kernel, x -> x'primal(V)."""
        if not self.linear or V.shape[1] > FEW_COLUMNS:
            return super().function(V)
        u = self.primal(V)
        return lambda X: np.asarray(as_rows(X) @ u)

    @property
    def linear(self) -> bool:
        """The average is a linear function of x."""
        return isinstance(self.kernel_, Linear) and not self.normalize

    def primal(self, V: Array) -> Array:
        """u = X'V / n, shape (d, t), with x'u = sum_j <x, x_j> V_j / n. O(d) a row."""
        return np.asarray(self.rows_.T @ V) / self.rows_.shape[0]

    def gradient(self, X: Rows, V: Array) -> Array:
        """Gradients in x of sum_j a_j(x) V_j, shape (b, p, d). O(b n p d) time."""
        X, rows = as_dense_rows(X), as_dense_rows(self.rows_)
        a = self.weights(X)
        A, B = self._relative_coefficients(X, rows, a)
        # grad k_j = A_j x + B_j x_j; when normalized, grad a_j takes off a_j times
        # the gradient of the log of the sum.
        G = X[:, None, :] * (A @ V)[:, :, None]
        for c in range(X.shape[1]):
            G[:, :, c] += B @ (rows[:, c, None] * V)
        if self.normalize:
            log_total = X * A.sum(axis=1)[:, None] + B @ rows  # (b, d)
            G -= (a @ V)[:, :, None] * log_total[:, None, :]
        return G

    def _relative_coefficients(
        self, X: Array, rows: Array, a: Array
    ) -> tuple[Array, Array]:
        """A and B of the kernel, beside n or beside the sum of its values."""
        if self.normalize and isinstance(self.kernel_, Radial):
            # k may underflow everywhere; the slope of its log and the weights do not.
            A = self.kernel_.log_slope(squared_distances(X, rows))
            A *= a
            return A, -A
        A, B = self.kernel_.gradient_coefficients(X, rows)
        totals = np.full(len(X), float(len(rows)))
        if self.normalize:
            totals = self.kernel_(X, rows).sum(axis=1)
            totals[totals == 0] = np.inf  # no weight on any row
        return A / totals[:, None], B / totals[:, None]
