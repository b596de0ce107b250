r"""Kernel weights: the average of the Fredholm method.

.. math:: a_j(x) = k(x, x_j) / n \quad or \quad k(x, x_j) / \sum_m k(x, x_m)

Que, Belkin, "Learning with Fredholm kernels", 2014, equations 2 and 6 (the second
without its further 1/n^2, which only rescales the penalty).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from halfmoon.kernels import Gaussian, Kernel
from halfmoon.rows import Array, Rows, as_table
from halfmoon.smoothers.base import Smoother

__all__ = ["KernelWeights"]


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
        a, _ = self._weights_and_totals(X)
        return a

    def gradient(self, X: Rows, V: Array) -> Array:
        """Gradients in x of sum_j a_j(x) V_j, shape (b, p, d). O(b n p d) time."""
        rows = np.asarray(self.rows_, dtype=np.float64)
        X = np.asarray(X, dtype=np.float64)
        a, totals = self._weights_and_totals(X)
        A, B = self.kernel_.gradient_coefficients(X, rows)
        A /= totals[:, None]
        B /= totals[:, None]
        # grad k_j = A_j x + B_j x_j; when normalized, grad a_j takes off a_j times
        # the gradient of the log of the sum.
        G = X[:, None, :] * (A @ V)[:, :, None]
        for c in range(X.shape[1]):
            G[:, :, c] += B @ (rows[:, c, None] * V)
        if self.normalize:
            log_total = X * A.sum(axis=1)[:, None] + B @ rows  # (b, d)
            G -= (a @ V)[:, :, None] * log_total[:, None, :]
        return G

    def _weights_and_totals(self, X: Rows) -> tuple[Array, Array]:
        if not self.normalize:
            a = self.kernel_(X, self.rows_)
            n = a.shape[1]
            a /= n
            return a, np.full(a.shape[0], float(n))
        logs = self.kernel_.log(X, self.rows_)
        if logs is None:
            a = self.kernel_(X, self.rows_)
            totals = a.sum(axis=1)
            totals[totals == 0] = np.inf  # no weight on any row
            a /= totals[:, None]
            return a, totals
        top = logs.max(axis=1)
        logs -= top[:, None]  # the nearest row has weight 1 before normalizing
        a = np.exp(logs, out=logs)
        totals = a.sum(axis=1)
        a /= totals[:, None]
        with np.errstate(under="ignore"):
            totals *= np.exp(top)
        totals[totals == 0] = np.inf  # so far away that the weights no longer change
        return a, totals
