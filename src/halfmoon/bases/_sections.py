r"""Kernel sections as a basis: at every row (exact), at landmarks, with derivatives.

.. math:: phi(x) = (k(x, z_1), ..., k(x, z_p)), \quad Q = K_{ZZ}

By the representer theorem, the sections at all rows span the minimizer over the whole
RKHS of any problem whose loss and penalty depend on a function only through its values
at the rows and its norm. If the penalty is the norm alone, the fit is done in the dual,
with the l-by-l matrix at the labeled rows.

**With derivatives**, a Dirichlet energy has its exact minimizer in the span of

.. math:: phi(x) = (k(x, x_i))_i \; and \; (d k(x, z) / d z_j |_{z = x_i})_{i, j}

These are n (d + 1) functions: Cabannes, Pillaud-Vivien, Bach, Rudi, "Overcoming the
curse of dimensionality with Laplacian regularization", 2021, section 3.2. All costs are
cubic in their number, so this is for small n. The landmark basis is tested against it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from halfmoon._landmarks.methods import select_landmarks
from halfmoon._memory import MEMORY_LIMIT
from halfmoon._rows import Array, Indices, Rows, as_dense_rows, as_table
from halfmoon._whitening import whitening
from halfmoon.bases._base import Basis, GradientCoefficients, Sections
from halfmoon.kernels import Gaussian, Kernel
from halfmoon.kernels._length_scales import middle_of
from halfmoon.kernels._transformed_rows import Shifted, from_origin

__all__ = ["Exact", "Nystrom", "WithDerivatives"]


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
        for of_earlier_fit in ("whitening_", "_values"):
            self.__dict__.pop(of_earlier_fit, None)
        self.conditional_degree = self.kernel_.conditional_degree
        self.any_origin = self.kernel_.origin_degree < 0
        return self

    def transform(self, X: Rows) -> Array:
        """Return k(x, x_i), shape (b, n)."""
        if "_values" not in vars(self):
            self._values = self.kernel_.sections(self.rows_)
        return self._values(X)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the function, which follows from the rest."""
        return {name: v for name, v in vars(self).items() if name != "_values"}

    def penalty(self) -> Array:
        """Return K, shape (n, n)."""
        return self.kernel_(self.rows_)

    def function(self, theta: Array) -> Callable[[Rows], Array]:
        """Return x -> k(x, X) theta, summed over the rows where theta is not 0."""
        used = np.flatnonzero(theta.any(axis=1))
        if used.size == 0:
            return lambda X: np.zeros((X.shape[0], theta.shape[1]))
        if used.size == len(theta):  # without a copy of the table
            return self.kernel_.combination(self.rows_, theta)
        return self.kernel_.combination(self.rows_[used], theta[used])

    @property
    def row_bytes(self) -> int:
        return self.kernel_.row_bytes(self.n_components_)

    @property
    def origin(self) -> Array | None:
        return self.kernel_.origin if isinstance(self.kernel_, Shifted) else None

    @property
    def sections(self) -> Sections:
        return Sections(self.kernel_, self.rows_)

    def gradient_coefficients(self, X: Rows) -> GradientCoefficients:
        A, B = self.kernel_.gradient_coefficients(X, self.rows_)
        return GradientCoefficients(A, B, from_origin(self.rows_, self.origin))

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


@dataclass(eq=False, repr=False)
class Nystrom(Basis):
    """Kernel sections at landmarks.

    Parameters
    ----------
    kernel : Kernel
    n_components : int or None
        p; None means all rows.
    landmarks : {"rpcholesky", "uniform", "kmeans++", "leverage"} or array
        How to choose the landmarks, or their indices, or the landmarks themselves.
    memory_limit : int or str
        Memory for choosing the landmarks.

    Attributes
    ----------
    sections_ : Exact
        The exact basis of the landmarks.
    """

    kernel: Kernel = field(default_factory=Gaussian)
    n_components: int | None = None
    landmarks: Any = "rpcholesky"
    memory_limit: int | str = MEMORY_LIMIT

    def fit(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        """Resolve the kernel on the rows and choose the landmarks."""
        rng = np.random.default_rng(rng)
        X = as_table(X)
        kernel = self.kernel.resolve(X, rng)
        Z = select_landmarks(
            X,
            self.n_components,
            self.landmarks,
            kernel=kernel,
            rng=rng,
            memory_limit=self.memory_limit,
        )
        self.sections_ = Exact(kernel).fit(Z)
        self.n_components_ = self.sections_.n_components_
        self.conditional_degree = kernel.conditional_degree
        return self

    def transform(self, X: Rows) -> Array:
        """Return k(x, z), shape (b, p)."""
        return self.sections_.transform(X)

    def penalty(self) -> Array:
        """Return K_ZZ, shape (p, p)."""
        return self.sections_.penalty()

    @property
    def row_bytes(self) -> int:
        return self.sections_.row_bytes

    @property
    def origin(self) -> Array | None:
        return self.sections_.origin

    @property
    def sections(self) -> Sections:
        return self.sections_.sections

    def gradient_coefficients(self, X: Rows) -> GradientCoefficients:
        return self.sections_.gradient_coefficients(X)

    def missing_variance(self, X: Rows) -> Array:
        """Return k(x, x) - k(x, Z) K_ZZ^+ k(Z, x), which is 0 at the landmarks."""
        return self.sections_.missing_variance(X)


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
