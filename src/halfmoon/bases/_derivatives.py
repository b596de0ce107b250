r"""Basis with derivatives: kernel sections and their derivatives at every row.

.. math:: phi(x) = (k(x, x_i))_i \; and \; (d k(x, z) / d z_j |_{z = x_i})_{i, j}

These n (d + 1) functions represent the exact minimizer of a problem with a Dirichlet
energy: Cabannes, Pillaud-Vivien, Bach, Rudi, "Overcoming the curse of dimensionality
with Laplacian regularization", 2021, section 3.2. All costs are cubic in n (d + 1), so
this basis is for small n. The landmark basis is tested against it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from halfmoon._rows import Array, Rows, as_dense_rows
from halfmoon.bases._base import Basis
from halfmoon.kernels import Gaussian, Kernel
from halfmoon.kernels._length_scales import middle_of
from halfmoon.kernels._transformed_rows import Shifted, from_origin

__all__ = ["WithDerivatives"]


@dataclass(eq=False, repr=False)
class WithDerivatives(Basis):
    """Kernel sections k(., x_i), then their derivatives in the order (row, column).

    Parameters
    ----------
    kernel : Kernel
        Needs second derivatives.

    Attributes
    ----------
    kernel_ : Kernel
    rows_ : ndarray of shape (n, d)
    """

    kernel: Kernel = field(default_factory=Gaussian)

    def fit(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        """Store the rows and resolve the kernel on them."""
        self.rows_ = as_dense_rows(X)
        self.kernel_ = self.kernel.resolve(X, rng)
        self.n_components_ = self.rows_.shape[0] * (self.rows_.shape[1] + 1)
        self.conditional_degree = self.kernel_.conditional_degree
        return self

    def transform(self, X: Rows) -> Array:
        """Return sections and derivatives at X, shape (b, n (d + 1))."""
        X = as_dense_rows(X)
        return np.hstack([self.kernel_(X, self.rows_), self._in_z(X)])

    def penalty(self) -> Array:
        """Return the inner products of all functions in the RKHS."""
        X, n = self.rows_, self.rows_.shape[0]
        values_by_derivatives = self._in_z(X)  # (n, n d)
        both = self.kernel_.second_derivatives(X, X)  # (n, n, d, d)
        derivatives = both.transpose(0, 2, 1, 3).reshape(n * X.shape[1], -1)
        return np.block(
            [
                [self.kernel_(X), values_by_derivatives],
                [values_by_derivatives.T, derivatives],
            ]
        )

    def gradient(self, X: Rows) -> Array:
        """Return the gradients of all functions, shape (b, n (d + 1), d)."""
        X = as_dense_rows(X)
        A, B = self.kernel_.gradient_coefficients(X, self.rows_)
        U, V = (from_origin(R, self.origin) for R in (X, self.rows_))
        of_sections = A[:, :, None] * U[:, None, :] + B[:, :, None] * V
        both = self.kernel_.second_derivatives(X, self.rows_)  # [b, i, in x, in z]
        of_derivatives = both.transpose(0, 1, 3, 2).reshape(X.shape[0], -1, X.shape[1])
        return np.concatenate([of_sections, of_derivatives], axis=1)

    @property
    def origin(self) -> Array | None:
        if self.kernel_.origin_degree < 0:  # A = -B, and any origin will do
            return middle_of(self.rows_)
        return self.kernel_.origin if isinstance(self.kernel_, Shifted) else None

    @property
    def row_bytes(self) -> int:
        return 24 * self.n_components_ * self.rows_.shape[1]  # second derivatives too

    def _in_z(self, X: Array) -> Array:
        """Return d k(x, z) / d z_j at the rows, (b, n d), as k(x, z) = k(z, x)."""
        A, B = self.kernel_.gradient_coefficients(self.rows_, X)  # (n, b)
        U, V = (from_origin(R, self.origin) for R in (X, self.rows_))
        G = A[:, :, None] * V[:, None, :] + B[:, :, None] * U
        return G.transpose(1, 0, 2).reshape(X.shape[0], -1)
