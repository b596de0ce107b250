"""What a kernel is: values, a diagonal and the coefficients of its gradient."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from halfmoon.rows import Array, Rows, as_rows

if TYPE_CHECKING:
    from halfmoon.kernels.composite import Product, Scaled, Sum

__all__ = ["Kernel"]


class Kernel(BaseEstimator, ABC):
    """A symmetric function k(x, z) of two rows.

    ``k(X, Z)`` is the matrix of its values, ``k.diag(X)`` its values k(x, x), and
    ``k.gradient_coefficients(X, Z)`` the matrices A and B with

    .. math:: grad_x k(x, z) = A(x, z) x + B(x, z) z.

    Kernels add and multiply: ``k1 + k2``, ``k1 * k2``, ``2.0 * k``. Parameters that
    come from data (``length_scale="median"``) are filled in by ``k.resolve(X)``,
    which returns a new kernel.

    A subclass writes `_value`, `_diag` and, if it has a gradient,
    `_gradient_coefficients`; rows arrive there checked and in float64.
    """

    #: The polynomials up to this degree must be unpenalized for the kernel to be
    #: positive definite on what is left; -1 where it is so without any.
    conditional_degree: int = -1

    #: k is a function of the distance alone, and has `value_and_slope`.
    radial: bool = False

    #: Arrays of n-by-p numbers held at once, results included, by values and by
    #: gradient coefficients: block sizes follow from them.
    temporaries: int = 2
    gradient_temporaries: int = 4

    #: NumPy's own numbers leave ``2.0 * k`` to us.
    __array_ufunc__ = None

    def __call__(self, X: Rows, Z: Rows | None = None) -> Array:
        """Values k(x, z) for each pair of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        Z : array-like or sparse matrix of shape (p, d), default=None
            None is X itself.

        Returns
        -------
        ndarray of shape (n, p)
        """
        return self._value(*self._pair(X, Z))

    def diag(self, X: Rows) -> Array:
        """Values k(x, x), shape (n,), without the n-by-n matrix."""
        return self._diag(as_rows(X))

    def gradient_coefficients(
        self, X: Rows, Z: Rows | None = None
    ) -> tuple[Array, Array]:
        """Matrices A and B with grad_x k(x, z) = A(x, z) x + B(x, z) z.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        Z : array-like or sparse matrix of shape (p, d), default=None
            None is X itself.

        Returns
        -------
        A, B : ndarrays of shape (n, p)
        """
        return self._gradient_coefficients(*self._pair(X, Z))

    def second_derivatives(self, X: Rows, Z: Rows) -> Array:
        """d^2 k / dx_i dz_j for each pair of rows, shape (n, p, d, d). Small n only."""
        X, Z = (R.toarray() if sp.issparse(R) else R for R in self._pair(X, Z))
        return self._second_derivatives(X, Z)

    def resolve(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        """The kernel with its parameters that are rules made numbers, by these rows."""
        return self

    def terms(self) -> list[tuple[float, Kernel]]:
        """The kernel as a sum: factors, and kernels that are no sums themselves."""
        return [(1.0, self)]

    def combination(
        self,
        Z: Rows,  # (p, d)
        C: Array,  # (p, t)
    ) -> Callable[[Rows], Array]:
        """The function x -> k(x, Z) C, by a shorter way than the matrix if any.

        What does not depend on x is computed once, here.
        """
        return lambda X: self(X, Z) @ C

    def row_bytes(self, p: int) -> int:
        """Bytes held at once for each row that is compared with p others."""
        return 8 * self.temporaries * p

    def log(self, X: Rows, Z: Rows) -> Array | None:
        """log k(x, z) where it is known without underflow, else None."""
        return None

    @abstractmethod
    def _value(self, X: Rows, Z: Rows) -> Array: ...

    @abstractmethod
    def _diag(self, X: Rows) -> Array: ...

    def _gradient_coefficients(self, X: Rows, Z: Rows) -> tuple[Array, Array]:
        raise TypeError(
            f"{self!r} has no gradient. Use a kernel that has one (Gaussian, Matern "
            f"with nu=1.5 or 2.5, Polynomial, ...), or the energy of a graph."
        )

    def _second_derivatives(self, X: Rows, Z: Rows) -> Array:
        raise TypeError(
            f"{self!r} has no second derivatives, which the basis with derivatives "
            f"needs. Use Gaussian, Matern(nu=2.5), RationalQuadratic, Linear or "
            f"Polynomial, or a landmark basis, which needs first derivatives only."
        )

    @staticmethod
    def _pair(X: Rows, Z: Rows | None) -> tuple[Rows, Rows]:
        same = Z is None or Z is X
        X = as_rows(X)
        Z = X if same else as_rows(Z, name="Z")
        if X.shape[1] != Z.shape[1]:
            raise ValueError(
                f"X has {X.shape[1]} columns and Z has {Z.shape[1]}; a kernel compares "
                f"rows with the same columns."
            )
        return X, Z

    def __add__(self, other: Kernel) -> Sum:
        from halfmoon.kernels.composite import Sum

        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Kernel | float) -> Product | Scaled:
        from halfmoon.kernels.composite import Product, Scaled

        if isinstance(other, Kernel):
            return Product(self, other)
        return (
            Scaled(float(other), self)
            if isinstance(other, (int, float, np.number))
            else NotImplemented
        )

    __rmul__ = __mul__
