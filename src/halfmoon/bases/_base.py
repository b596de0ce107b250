r"""The interface of a basis: p functions of a row that span the possible fits.

.. math:: g(x) = phi(x)' theta, \quad phi : R^d \to R^p

with a penalty matrix Q, so that theta' Q theta is the squared norm of g. Some bases
approximate a kernel k. If the kernel is known in closed form, `has_gram` is true, and a
fit needs only the l-by-l matrix of k at the labeled rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator

from halfmoon._rows import Array, Indices, Rows, as_dense_rows
from halfmoon._sklearn_conventions import refuse_unfitted
from halfmoon.kernels import Kernel
from halfmoon.kernels._transformed_rows import from_origin

__all__ = ["Basis", "GradientCoefficients", "Sections"]


class Sections(NamedTuple):
    """A basis made of kernel sections: phi_a(x) = k(x, z_a)."""

    kernel: Kernel
    Z: Rows  # (p, d)


class GradientCoefficients(NamedTuple):
    """Coefficients with grad phi_a(x) = A(x, a) (x - o) + B(x, a) z_a.

    o is `Basis.origin`.
    """

    A: Array | None  # (b, p), None where it is 0
    B: Array  # (b, p)
    Z: Rows  # (p, d)


class Basis(BaseEstimator, ABC):
    """p functions phi of a row and the matrix Q of their squared norm.

    A subclass implements `fit`, `transform`, `penalty` and `row_bytes`. For use with
    the Dirichlet energy it also implements `gradient_coefficients` or `gradient`.

    Attributes
    ----------
    n_components_ : int
        p, after `fit`.
    """

    if not TYPE_CHECKING:  # where it would hide attributes that do not exist
        __getattr__ = refuse_unfitted

    n_components_: int

    #: Whether `gram` and `lift` are implemented, so that a fit can use the dual.
    has_gram: bool = False

    #: Whether Q is the identity, which need not be formed.
    identity_penalty: bool = False

    #: Whether the functions are the same wherever rows are measured from.
    any_origin: bool = False

    #: Polynomials up to this degree must be unpenalized (see `Kernel`).
    conditional_degree: int = -1

    @abstractmethod
    def fit(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        """Build the functions from rows, labeled or not. Returns self."""

    @abstractmethod
    def transform(self, X: Rows) -> Array:
        """Return the values phi(x), shape (b, p). Rows do not affect each other."""

    @abstractmethod
    def penalty(self) -> Array:
        """Return Q, shape (p, p): theta' Q theta is the squared norm of phi' theta."""

    @property
    @abstractmethod
    def row_bytes(self) -> int:
        """Bytes that `transform` holds at once for each row."""

    @property
    def origin(self) -> Array | None:
        """The row, (d,), that others are measured from in gradients; None is 0."""
        return None

    @property
    def sections(self) -> Sections | None:
        """The kernel and the points z if the functions are k(., z), else None."""
        return None

    def function(
        self,
        theta: Array,  # (p, t)
    ) -> Callable[[Rows], Array]:
        """Return the function x -> phi(x)' theta, without `transform` where possible.

        What does not depend on x is computed once, here.
        """
        return lambda X: self.transform(X) @ theta

    def gradient_coefficients(self, X: Rows) -> GradientCoefficients | None:
        """Return A, B and Z of the gradients, or None if they do not have this form."""
        return None

    def gradient(self, X: Rows) -> Array:
        """Return the gradients of the functions, shape (b, p, d)."""
        coefficients = self.gradient_coefficients(X)
        if coefficients is None:
            raise TypeError(f"{self!r} has no gradient; use the energy of a graph.")
        A, B, Z = coefficients
        G = B[:, :, None] * as_dense_rows(Z)[None, :, :]
        if A is not None:
            G += A[:, :, None] * as_dense_rows(from_origin(X, self.origin))[:, None, :]
        return G

    def gram(self, chosen: Indices) -> Callable[[Rows], Array]:
        """Return the function x -> phi(x)' Q^-1 phi(z) at the chosen fitted rows z.

        Its values have shape (b, l). What does not depend on x is computed once, here.
        """
        raise TypeError(f"{self!r} has no kernel in closed form.")

    def lift(self, chosen: Indices, c: Array) -> Array:
        """Return the theta, (p, t), with phi(x)' theta = gram(chosen)(x) c."""
        raise TypeError(f"{self!r} has no kernel in closed form.")

    def prior_variance(self, X: Rows) -> Array:
        """Return k(x, x), shape (b,), if `has_gram`."""
        raise TypeError(f"{self!r} has no kernel in closed form.")

    def missing_variance(self, X: Rows) -> Array:
        """Return the prior variance, (b,), that the p functions cannot represent."""
        return np.zeros(X.shape[0])
