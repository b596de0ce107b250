r"""Spline kernels: powers of the distance, with no length scale to choose.

With q = |x - z|^2 and B = -A, as for every radial kernel:

.. math::
    thin plate, m = 2: k &= q log(q) / 2,               & A &= log(q) + 1 \\
    m = 4:             k &= -q^2 log(q) / 2,            & A &= -q (2 log(q) + 1) \\
    polyharmonic:      k &= (-1)^{\lceil m/2 \rceil} q^{m/2},
                       & A &= (-1)^{\lceil m/2 \rceil} m q^{m/2 - 1}

They are only *conditionally* positive definite: c'Kc >= 0 for those c that are
orthogonal to the polynomials of degree `conditional_degree`, which must therefore be
unpenalized: m / 2 for thin plates, and one less than m / 2 rounded up for polyharmonic
kernels of any order m that is not even. The fit with alpha = 0 is that of
`scipy.interpolate.RBFInterpolator` with kernel "thin_plate_spline", "linear", "cubic"
or "quintic". Wendland, "Scattered data approximation", 2005, chapter 8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from halfmoon.kernels.base import Kernel
from halfmoon.kernels.distances import of_distances, squared_distances
from halfmoon.rows import Array, Rows

__all__ = ["Polyharmonic", "ThinPlate"]

HIGHEST = 6  # order: unpenalized polynomials are of degree 2 at most


@dataclass(eq=False, repr=False)
class ThinPlate(Kernel):
    r"""Thin plate spline r^2 log r, or -r^4 log r, for any number of columns.

    .. math:: k = q log(q) / 2, \quad A = log(q) + 1, \quad A = 0 where q = 0

    In two columns, with alpha = 0, the fit is the surface of least bending energy.

    Parameters
    ----------
    order : {2, 4}
        The power of r. The polynomials of degree 1, or 2, must be unpenalized.

    Examples
    --------
    >>> ThinPlate()([[0.0, 0.0]], [[0.0, 0.0], [2.0, 0.0]]).round(4)
    array([[0.    , 2.7726]])
    """

    order: int = 2

    radial = True

    @property
    def conditional_degree(self) -> int:  # type: ignore[override]
        """Degree m / 2: 1 or 2 for order 2 or 4."""
        return self._checked_order() // 2

    def value(self, q: Array) -> Array:
        """k(q), written over q."""
        times = -q if self._checked_order() == 4 else 1.0
        xlogy(q, q, out=q)
        q *= times
        q *= 0.5
        return q

    def value_and_slope(self, q: Array) -> tuple[Array, Array]:
        """k(q) and 2 k'(q), which is A; q is left as it was."""
        # log is -inf at 0, where the gradient A (x - z) vanishes: A is taken as 0.
        log = np.log(q, out=np.full_like(q, -1.0), where=q > 0)
        if self._checked_order() == 4:
            return -0.5 * q * q * log, -q * (2.0 * log + 1.0)
        k = log * q
        k *= 0.5
        log += 1.0
        return k, log

    def _checked_order(self) -> int:
        if self.order not in (2, 4):
            raise ValueError(
                f"ThinPlate has order={self.order!r}; 2 or 4 is needed. For other "
                f"powers of the distance take Polyharmonic."
            )
        return int(self.order)

    def _value(self, X: Rows, Z: Rows) -> Array:
        return of_distances(self.value, X, Z)

    def _diag(self, X: Rows) -> Array:
        return np.zeros(X.shape[0])

    def _gradient_coefficients(self, X: Rows, Z: Rows) -> tuple[Array, Array]:
        _, A = self.value_and_slope(squared_distances(X, Z))
        return A, -A


@dataclass(eq=False, repr=False)
class Polyharmonic(Kernel):
    r"""Power of the distance, of any order m below 6 that is not even.

    .. math:: k = (-1)^{\lceil m/2 \rceil} q^{m/2}, \quad
              A = (-1)^{\lceil m/2 \rceil} m q^{m/2-1}

    and A = 0 where q = 0.

    Parameters
    ----------
    order : float
        m above. In one column order 1 interpolates by straight pieces, order 3 is the
        natural cubic spline and order 5 the quintic one. Orders below 2 are the power
        kernels, ``-|x - z|^m``, for which a constant is enough.

    Examples
    --------
    >>> Polyharmonic(order=3)([[0.0]], [[0.0], [1.0], [2.0]])
    array([[0., 1., 8.]])
    """

    order: float = 3

    radial = True

    @property
    def conditional_degree(self) -> int:  # type: ignore[override]
        """One less than m / 2 rounded up: 0, 1 or 2 for order 1, 3 or 5."""
        return math.ceil(self._checked_order() / 2) - 1

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

    def _checked_order(self) -> float:
        if not 0 < self.order < HIGHEST or self.order in (2, 4):
            raise ValueError(
                f"Polyharmonic has order={self.order!r}; a number between 0 and "
                f"{HIGHEST} that is not even, such as 1, 3 or 5, is needed. For an "
                f"even power of the distance take ThinPlate."
            )
        return self.order


def _sign(m: float) -> float:
    return (-1.0) ** math.ceil(m / 2)
