r"""Dot-product kernels: functions of <x, z>.

.. math:: k = (g <x, z> + b)^m, \quad A = 0, \quad B = m g (g <x, z> + b)^{m-1}
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from halfmoon._rows import Array, Rows, inner_products
from halfmoon.kernels._base import Kernel
from halfmoon.kernels._length_scales import squared_norms

__all__ = ["Linear", "Polynomial"]


@dataclass(eq=False, repr=False)
class Polynomial(Kernel):
    """Polynomial kernel (gamma <x, z> + offset)^degree.

    Parameters
    ----------
    degree : int
        m above.
    gamma : float
        g above.
    offset : float
        b above, not negative, so that the kernel is positive definite.

    Examples
    --------
    >>> Polynomial(degree=2)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    degree: int = 3
    gamma: float = 1.0
    offset: float = 1.0

    @property
    def origin_degree(self) -> float:  # type: ignore[override]
        return self._checked_degree() - 1

    def _value(self, X: Rows, Z: Rows) -> Array:
        return self._power(inner_products(X, Z), self._checked_degree())

    def _diag(self, X: Rows) -> Array:
        return self._power(squared_norms(X), self._checked_degree())

    def _gradient_coefficients(self, X: Rows, Z: Rows) -> tuple[Array, Array]:
        m = self._checked_degree()
        B = self._power(inner_products(X, Z), m - 1)
        B *= m * self.gamma
        return np.zeros_like(B), B

    def _second_derivatives(self, X: Rows, Z: Rows) -> Array:
        # k = f(c): f'(c) [i = j] + f''(c) z_i x_j
        m, c = self._checked_degree(), inner_products(X, Z)
        first = m * self.gamma * self._power(c.copy(), m - 1)
        out = first[:, :, None, None] * np.eye(X.shape[1])
        if m > 1:
            second = m * (m - 1) * self.gamma**2 * self._power(c, m - 2)
            out += np.einsum("np,pi,nj->npij", second, Z, X)
        return out

    def _checked_degree(self) -> int:
        if self.degree != int(self.degree) or self.degree < 1:
            raise ValueError(f"degree is {self.degree}; 1, 2, 3, ... is needed.")
        if not 0 < self.gamma < np.inf:
            raise ValueError(f"gamma is {self.gamma}; a positive number is needed.")
        if not 0 <= self.offset < np.inf:
            raise ValueError(f"offset is {self.offset}; 0 or more is needed.")
        return int(self.degree)

    def _power(self, c: Array, m: int) -> Array:
        c *= self.gamma
        c += self.offset
        with np.errstate(over="ignore"):
            np.power(c, m, out=c)
        if not np.isfinite(c).all():
            raise ValueError(
                f"{self!r} leaves the range of floating-point numbers at these rows. "
                f"Rescale the columns of X, or lower the degree."
            )
        return c


@dataclass(eq=False, repr=False)
class Linear(Kernel):
    """Linear kernel <x, z>.

    Examples
    --------
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    linear = True
    origin_degree = 0

    def _value(self, X: Rows, Z: Rows) -> Array:
        return inner_products(X, Z)

    def _diag(self, X: Rows) -> Array:
        return squared_norms(X)

    def _gradient_coefficients(self, X: Rows, Z: Rows) -> tuple[Array, Array]:
        shape = X.shape[0], Z.shape[0]
        return np.zeros(shape), np.ones(shape)

    def _second_derivatives(self, X: Rows, Z: Rows) -> Array:
        d = X.shape[1]
        return np.broadcast_to(np.eye(d), (X.shape[0], Z.shape[0], d, d)).copy()
