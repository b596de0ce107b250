r"""What a basis is: p functions of a row, the span in which a fit is sought.

.. math:: g(x) = phi(x)' theta, \quad phi : R^d \to R^p

with a penalty matrix Q, so that theta' Q theta is the squared norm of g. Some bases are
finite stand-ins for a kernel k; those whose kernel is known in closed form say so by
`has_gram`, and then a fit needs only the l-by-l matrix of k at the labeled rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator

from halfmoon.kernels import Kernel
from halfmoon.rows import Array, Indices, Rows, as_dense_rows

__all__ = ["Basis", "GradientCoefficients", "Sections"]


class Sections(NamedTuple):
    """A basis made of kernel sections: phi_a(x) = k(x, z_a)."""

    kernel: Kernel
    Z: Rows  # (p, d)


class GradientCoefficients(NamedTuple):
    """Coefficients with grad phi_a(x) = A(x, a) x + B(x, a) z_a."""

    A: Array | None  # (b, p), None where it is 0
    B: Array  # (b, p)
    Z: Rows  # (p, d)


class Basis(BaseEstimator, ABC):
    """p functions phi of a row and the matrix Q of their squared norm.

    A subclass writes `fit`, `transform`, `penalty` and `row_bytes`; and, to be used
    with the Dirichlet energy, `gradient_coefficients` or `gradient`.

    Attributes
    ----------
    n_components_ : int
        p, after `fit`.
    """

    n_components_: int

    #: `gram` and `lift` are there, so a fit can be done in the dual.
    has_gram: bool = False

    #: Q is the identity, and need not be formed.
    identity_penalty: bool = False

    #: Polynomials up to this degree must be unpenalized (see `Kernel`).
    conditional_degree: int = -1

    @abstractmethod
    def fit(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        """Build the functions from rows, labeled or not."""

    @abstractmethod
    def transform(self, X: Rows) -> Array:
        """Values phi(x), shape (b, p). A row's values ignore the rows beside it."""

    @abstractmethod
    def penalty(self) -> Array:
        """Q, shape (p, p): theta' Q theta is the squared norm of phi' theta."""

    @property
    @abstractmethod
    def row_bytes(self) -> int:
        """Bytes of temporaries that `transform` needs for one row."""

    @property
    def sections(self) -> Sections | None:
        """The kernel and the points where the functions are k(., z), else None."""
        return None

    def function(
        self,
        theta: Array,  # (p, t)
    ) -> Callable[[Rows], Array]:
        """The function x -> phi(x)' theta, by a shorter way than `transform` if any.

        What does not depend on x is computed once, here.
        """
        return lambda X: self.transform(X) @ theta

    def gradient_coefficients(self, X: Rows) -> GradientCoefficients | None:
        """Coefficients A, B, Z of the gradients, or None where they are not so."""
        return None

    def gradient(self, X: Rows) -> Array:
        """Gradients of the functions, shape (b, p, d)."""
        coefficients = self.gradient_coefficients(X)
        if coefficients is None:
            raise TypeError(f"{self!r} has no gradient; use the energy of a graph.")
        A, B, Z = coefficients
        G = B[:, :, None] * as_dense_rows(Z)[None, :, :]
        if A is not None:
            G += A[:, :, None] * as_dense_rows(X)[:, None, :]
        return G

    def gram(self, chosen: Indices) -> Callable[[Rows], Array]:
        """The function x -> phi(x)' Q^-1 phi(z) for the chosen fitted rows z, (b, l).

        What does not depend on x is computed once, here.
        """
        raise TypeError(f"{self!r} has no kernel in closed form.")

    def lift(self, chosen: Indices, c: Array) -> Array:
        """The theta, (p, t), with phi(x)' theta = gram(chosen)(x) c."""
        raise TypeError(f"{self!r} has no kernel in closed form.")

    def prior_variance(self, X: Rows) -> Array:
        """k(x, x) where `has_gram`, shape (b,)."""
        raise TypeError(f"{self!r} has no kernel in closed form.")

    def missing_variance(self, X: Rows) -> Array:
        """Prior variance of the kernel that the p functions do not carry, (b,)."""
        return np.zeros(X.shape[0])
