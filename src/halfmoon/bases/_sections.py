r"""Kernel sections as a basis: one for every row (exact), or at landmarks (Nystrom).

.. math:: phi(x) = (k(x, z_1), ..., k(x, z_p)), \quad Q = K_{ZZ}

By the representer theorem, the sections at all rows span the minimizer over the whole
RKHS of any problem whose loss and penalty depend on a function only through its values
at the rows and its norm. If the penalty is the norm alone, the fit is done in the dual,
with the l-by-l matrix at the labeled rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from halfmoon._landmarks import select_landmarks
from halfmoon._memory import MEMORY_LIMIT
from halfmoon._rows import Array, Indices, Rows, as_table
from halfmoon._whitening import whitening
from halfmoon.bases._base import Basis, GradientCoefficients, Sections
from halfmoon.kernels import Gaussian, Kernel
from halfmoon.kernels._transformed_rows import Shifted, from_origin

__all__ = ["Exact", "Nystrom"]


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
