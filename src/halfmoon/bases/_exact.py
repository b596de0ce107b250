r"""Exact basis: one kernel section for every row.

.. math:: phi(x) = (k(x, x_1), ..., k(x, x_n)), \quad Q = K = k(X, X)

By the representer theorem, this span contains the minimizer over the whole RKHS of any
problem whose loss and penalty depend on a function only through its values at the rows
and its norm. If the penalty is the norm alone, the fit is done in the dual, with the
l-by-l matrix at the labeled rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from halfmoon._rows import Array, Indices, Rows, as_table
from halfmoon._whitening import whitening
from halfmoon.bases._base import Basis, GradientCoefficients, Sections
from halfmoon.kernels import Gaussian, Kernel

__all__ = ["Exact"]


@dataclass(eq=False, repr=False)
class Exact(Basis):
    """A kernel section k(., x_i) for each row.

    Parameters
    ----------
    kernel : Kernel

    Attributes
    ----------
    kernel_ : Kernel
        With its length scale as a number.
    rows_ : array or CSR of shape (n, d)
    """

    kernel: Kernel = field(default_factory=Gaussian)

    has_gram = True

    def fit(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        """Store the rows and resolve the kernel on them."""
        self.rows_ = as_table(X)
        self.kernel_ = self.kernel.resolve(self.rows_, rng)
        self.n_components_ = self.rows_.shape[0]
        self.__dict__.pop("whitening_", None)  # of an earlier fit
        self.conditional_degree = self.kernel_.conditional_degree
        return self

    def transform(self, X: Rows) -> Array:
        """Return k(x, x_i), shape (b, n)."""
        return self.kernel_(X, self.rows_)

    def penalty(self) -> Array:
        """Return K, shape (n, n)."""
        return self.kernel_(self.rows_)

    def function(self, theta: Array) -> Callable[[Rows], Array]:
        """Return x -> k(x, X) theta, summed over the rows where theta is not 0."""
        used = np.flatnonzero(theta.any(axis=1))
        if used.size == 0:
            return lambda X: np.zeros((X.shape[0], theta.shape[1]))
        return self.kernel_.combination(self.rows_[used], theta[used])

    @property
    def row_bytes(self) -> int:
        return self.kernel_.row_bytes(self.n_components_)

    @property
    def sections(self) -> Sections:
        return Sections(self.kernel_, self.rows_)

    def gradient_coefficients(self, X: Rows) -> GradientCoefficients:
        A, B = self.kernel_.gradient_coefficients(X, self.rows_)
        return GradientCoefficients(A, B, self.rows_)

    def gram(self, chosen: Indices) -> Callable[[Rows], Array]:
        """Return x -> k(x, x_i) at the chosen rows."""
        rows = self.rows_[chosen]
        return lambda X: self.kernel_(X, rows)

    def lift(self, chosen: Indices, c: Array) -> Array:
        """Return c at the chosen rows and 0 elsewhere."""
        theta = np.zeros((self.n_components_, c.shape[1]))
        theta[chosen] = c
        return theta

    def prior_variance(self, X: Rows) -> Array:
        return self.kernel_.diag(X)

    def missing_variance(self, X: Rows) -> Array:
        """Return k(x, x) - k(x, X) K^+ k(X, x), which is 0 at the rows."""
        if self.conditional_degree >= 0:
            return np.zeros(X.shape[0])  # k(x, x) is not a variance
        if not hasattr(self, "whitening_"):
            self.whitening_ = whitening(self.penalty())
        explained = self.whitening_.whiten(self.transform(X))
        rest = self.kernel_.diag(X) - np.einsum("ij,ij->i", explained, explained)
        return np.maximum(rest, 0.0)
