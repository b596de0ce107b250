r"""Smoothers: averages over all rows, labeled or not; by a kernel or by neighbors.

A smoother turns values v_j at the n fitted rows into a function,

.. math:: g(x) = \sum_j a_j(x) (D v)_j

with weights a_j(x) of one step from x to the rows, and a matrix D of further steps
among the rows (often none: D = I). Fitted rows take the same first step as new rows, so
g is one function everywhere.

.. math::
    kernel:    a_j(x) &= k(x, x_j) / n \quad or \quad k(x, x_j) / \sum_m k(x, x_m) \\
    neighbors: a_j(x) &= w(x, x_j) / \sum_m w(x, x_m), \quad D = A^{t-1}

Kernel weights are the averages of Que, Belkin, Wang, "Learning with Fredholm kernels",
2014, equations 2 and 6 (the second without its further 1/n^2, which only rescales the
penalty). Neighbors are the k + 1 rows nearest to x (a fitted row is its own nearest),
with self-tuned weights :math:`w = exp(-d^2 / (s_x s_j))` or those of a kernel. A is the
sparse matrix of the weights at the fitted rows, and t the number of steps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.base import BaseEstimator

from halfmoon._graphs import NeighborIndex, sparse_weights
from halfmoon._rows import Array, Rows, as_dense_rows, as_rows, as_table
from halfmoon._sklearn_conventions import refuse_unfitted
from halfmoon.kernels import Gaussian, Kernel
from halfmoon.kernels._length_scales import middle_of
from halfmoon.kernels._radial import PositiveRadial

__all__ = ["KernelWeights", "Neighbors", "Smoother", "neighbor_weights"]

FEW_COLUMNS = 64  # of V, up to which the linear kernel stores X'V, (d, t)


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
        if self.kernel_.origin_degree < 0:  # then A = -B, and an offset loses digits
            middle = middle_of(rows)
            X, rows = X - middle, rows - middle
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
