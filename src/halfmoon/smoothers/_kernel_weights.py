r"""Kernel weights: the averages of the Fredholm method.

.. math:: a_j(x) = k(x, x_j) / n \quad or \quad k(x, x_j) / \sum_m k(x, x_m)

Que, Belkin, Wang, "Learning with Fredholm kernels", 2014, equations 2 and 6 (the second
without its further 1/n^2, which only rescales the penalty).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from halfmoon._rows import Array, Rows, as_dense_rows, as_rows, as_table
from halfmoon.kernels import Gaussian, Kernel
from halfmoon.smoothers._base import Smoother

__all__ = ["KernelWeights"]

FEW_COLUMNS = 64  # of V, up to which the linear kernel stores X'V, (d, t)


@dataclass(eq=False, repr=False)
class KernelWeights(Smoother):
    """Weights by a kernel, which need not be positive definite.

    Parameters
    ----------
    kernel : Kernel
        The outer kernel k.
    normalize : bool
        Make the weights of each row sum to 1. Far from all rows, where all values of
        the kernel underflow, the nearest row gets all the weight. A row whose kernel
        values are all 0 (a text without a known word) keeps weights of 0.

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
        """Store the rows and resolve the kernel on them."""
        self.rows_ = as_table(X)
        self.kernel_ = self.kernel.resolve(self.rows_, rng)
        return self

    def weights(self, X: Rows) -> Array:
        """Return a_j(x), shape (b, n)."""
        logs = self.kernel_.log(X, self.rows_) if self.normalize else None
        if logs is not None:
            logs -= logs.max(axis=1, keepdims=True)  # the largest is 1 before the sum
            a = np.exp(logs, out=logs)
        else:
            a = self.kernel_(X, self.rows_)
        a /= self._totals(a)
        return a

    def _totals(self, K: Array) -> Array:
        """Return what kernel values are divided by, shape (b, 1): their sum, or n."""
        if not self.normalize:
            return np.full((len(K), 1), float(K.shape[1]))
        totals = K.sum(axis=1, keepdims=True)
        totals[totals == 0] = np.inf  # no weight on any row
        return totals

    def function(self, V: Array) -> Callable[[Rows], Array]:
        """Return x -> sum_j a_j(x) V_j; for the linear kernel, x -> x'primal(V)."""
        if not self.linear or V.shape[1] > FEW_COLUMNS:
            return super().function(V)
        u = self.primal(V)
        return lambda X: np.asarray(as_rows(X) @ u)

    @property
    def linear(self) -> bool:
        """Whether the average is a linear function of x."""
        return self.kernel_.linear and not self.normalize

    def primal(self, V: Array) -> Array:
        """Return u = X'V / n, shape (d, t), so that x'u = sum_j <x, x_j> V_j / n."""
        return np.asarray(self.rows_.T @ V) / self.rows_.shape[0]

    def gradient(self, X: Rows, V: Array) -> Array:
        """Return the gradients of sum_j a_j(x) V_j, (b, p, d). O(b n p d) time."""
        X, rows = as_dense_rows(X), as_dense_rows(self.rows_)
        a = self.weights(X)
        A, B = self._relative_coefficients(X, rows, a)
        # grad k_j = A_j x + B_j x_j. If normalized, a_j times the gradient of the log
        # of the sum is subtracted.
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
        """Return A and B of the kernel, divided by the sum of its values or by n."""
        if self.normalize:
            # k may underflow everywhere, but its logarithm and the weights do not.
            of_log = self.kernel_.log_gradient_coefficients(X, rows)
            if of_log is not None:
                return of_log[0] * a, of_log[1] * a
        A, B = self.kernel_.gradient_coefficients(X, rows)
        totals = self._totals(self.kernel_(X, rows) if self.normalize else A)
        return A / totals, B / totals
