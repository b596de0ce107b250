r"""Spline kernels: powers of the distance, with no length scale to choose.

With q = |x - z|^2 and B = -A, as for every radial kernel:

.. math::
    thin plate:   k &= q log(q) / 2,           & A &= log(q) + 1 \\
    polyharmonic: k &= (-1)^{(m+1)/2} q^{m/2}, & A &= (-1)^{(m+1)/2} m q^{m/2 - 1}

They are only *conditionally* positive definite: c'Kc >= 0 for those c that are
orthogonal to the polynomials of degree `conditional_degree`, which must therefore be
unpenalized. The fit with alpha = 0 is that of `scipy.interpolate.RBFInterpolator` with
kernel "thin_plate_spline", "linear", "cubic" or "quintic". Wendland, "Scattered data
approximation", 2005, chapter 8.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from halfmoon.kernels.base import Kernel
from halfmoon.kernels.distances import of_distances, squared_distances
from halfmoon.rows import Array, Rows

__all__ = ["Polyharmonic", "ThinPlate"]


@dataclass(eq=False, repr=False)
class ThinPlate(Kernel):
    r"""Thin plate spline r^2 log r, for any number of columns.

    .. math:: k = q log(q) / 2, \quad A = log(q) + 1, \quad A = 0 where q = 0

    In two columns, with alpha = 0, the fit is the surface of least bending energy.

    Examples
    --------
    >>> ThinPlate()([[0.0, 0.0]], [[0.0, 0.0], [2.0, 0.0]]).round(4)
    array([[0.    , 2.7726]])
    """

    radial = True
    conditional_degree = 1

    def value(self, q: Array) -> Array:
        """k(q), written over q."""
        xlogy(q, q, out=q)
        q *= 0.5
        return q

    def value_and_slope(self, q: Array) -> tuple[Array, Array]:
        """k(q) and 2 k'(q), which is A; q is left as it was."""
        # log is -inf at 0, where the gradient A (x - z) vanishes: A is taken as 0.
        slope = np.log(q, out=np.full_like(q, -1.0), where=q > 0)
        k = slope * q
        k *= 0.5
        slope += 1.0
        return k, slope

    def _value(self, X: Rows, Z: Rows) -> Array:
        return of_distances(self.value, X, Z)

    def _diag(self, X: Rows) -> Array:
        return np.zeros(X.shape[0])

    def _gradient_coefficients(self, X: Rows, Z: Rows) -> tuple[Array, Array]:
        _, A = self.value_and_slope(squared_distances(X, Z))
        return A, -A


@dataclass(eq=False, repr=False)
class Polyharmonic(Kernel):
    r"""Polyharmonic spline of odd order m.

    .. math:: k = (-1)^{(m+1)/2} q^{m/2}, \quad A = (-1)^{(m+1)/2} m q^{m/2-1}

    and A = 0 where q = 0.

    Parameters
    ----------
    order : {1, 3, 5}
        m above. In one column order 1 interpolates by straight pieces, order 3 is the
        natural cubic spline and order 5 the quintic one.

    Examples
    --------
    >>> Polyharmonic(order=3)([[0.0]], [[0.0], [1.0], [2.0]])
    array([[0., 1., 8.]])
    """

    order: int = 3

    radial = True

    @property
    def conditional_degree(self) -> int:  # type: ignore[override]
        """Degree (m - 1) / 2: 0, 1 or 2 for order 1, 3 or 5."""
        return (self._checked_order() - 1) // 2

    def value(self, q: Array) -> Array:
        """k(q), written over q."""
        m = self._checked_order()
        np.power(q, m / 2, out=q)
        q *= _sign(m)
        return q

    def value_and_slope(self, q: Array) -> tuple[Array, Array]:
        """k(q) and 2 k'(q), which is A; q is left as it was."""
        m = self._checked_order()
        slope = np.zeros_like(q)
        np.power(q, m / 2 - 1, out=slope, where=q > 0)
        slope *= _sign(m)
        k = slope * q
        slope *= m
        return k, slope

    def _value(self, X: Rows, Z: Rows) -> Array:
        return of_distances(self.value, X, Z)

    def _diag(self, X: Rows) -> Array:
        return self.value(np.zeros(X.shape[0]))

    def _gradient_coefficients(self, X: Rows, Z: Rows) -> tuple[Array, Array]:
        _, A = self.value_and_slope(squared_distances(X, Z))
        return A, -A

    def _checked_order(self) -> int:
        if self.order not in (1, 3, 5):
            raise ValueError(
                f"Polyharmonic has order={self.order!r}; 1, 3 or 5 is needed. For an "
                f"even power of the distance take ThinPlate."
            )
        return int(self.order)


def _sign(m: int) -> float:
    return 1.0 if m == 3 else -1.0  # (-1)^((m + 1) / 2)
