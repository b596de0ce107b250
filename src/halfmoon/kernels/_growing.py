r"""Kernels that grow with the distance, and so need unpenalized polynomials.

They are functions of q = |x - z|^2 with B = -A, as every radial kernel, but only
*conditionally* positive definite: c'Kc >= 0 for all c orthogonal to the polynomials up
to degree `conditional_degree`, which must therefore be unpenalized.

The degree is m / 2 for thin plates of order m, and ceil(m / 2) - 1 for polyharmonic
kernels, whose order m is not even. With alpha = 0 their fit equals
`scipy.interpolate.RBFInterpolator` with kernel "thin_plate_spline", "linear", "cubic"
or "quintic". Wendland, "Scattered data approximation", 2005, chapter 8.

The multiquadric and the logarithm grow slowly: they are minus a Bernstein function of
q, for which the constant is enough (Schoenberg; Micchelli, "Interpolation of scattered
data", 1986). The logarithm and the power are the kernels of KERPLE (Chi, Fan, Ramadge,
Rudnicky, 2022).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from halfmoon._rows import Array, Rows
from halfmoon.kernels._length_scales import LengthScale, WithLengthScale
from halfmoon.kernels._radial import Radial

__all__ = ["Logarithmic", "Multiquadric", "Polyharmonic", "ThinPlate"]

MAX_ORDER = 6  # exclusive: unpenalized polynomials have degree 2 at most


@dataclass(eq=False, repr=False)
class ThinPlate(Radial):
    r"""Thin plate spline r^2 log r, or -r^4 log r, for any number of columns.

    .. math:: k = q log(q) / 2, \quad A = log(q) + 1 \quad (order 2)

    .. math:: k = -q^2 log(q) / 2, \quad A = -q (2 log(q) + 1) \quad (order 4)

    and A = 0 where q = 0.
    In two columns, with alpha = 0, the fit is the surface of least bending energy.

    Parameters
    ----------
    order : {2, 4}
        The power of r. Polynomials of degree 1, or 2, must be unpenalized.

    Examples
    --------
    >>> ThinPlate()([[0.0, 0.0]], [[0.0, 0.0], [2.0, 0.0]]).round(4)
    array([[0.    , 2.7726]])
    """

    order: int = 2

    @property
    def conditional_degree(self) -> int:  # type: ignore[override]
        return self._checked_order() // 2

    def value(self, q: Array) -> Array:
        times = -0.5 * q if self._checked_order() == 4 else 0.5
        return np.asarray(times * xlogy(q, q))

    def value_and_slope(self, q: Array) -> tuple[Array, Array]:
        # log is -inf at 0, where the gradient A (x - z) is 0: A is set to 0 there.
        log = np.log(q, out=np.full_like(q, -1.0), where=q > 0)
        if self._checked_order() == 4:
            return -0.5 * q * q * log, -q * (2.0 * log + 1.0)
        return 0.5 * q * log, log + 1.0

    def _checked_order(self) -> int:
        if self.order not in (2, 4):
            raise ValueError(
                f"ThinPlate has order={self.order!r}; 2 or 4 is needed. For other "
                f"powers of the distance use Polyharmonic."
            )
        return int(self.order)


@dataclass(eq=False, repr=False)
class Polyharmonic(Radial):
    r"""Power of the distance, of any order m below 6 except 2 and 4.

    .. math:: k = (-1)^{\lceil m/2 \rceil} q^{m/2}, \quad
              A = (-1)^{\lceil m/2 \rceil} m q^{m/2-1}

    and A = 0 where q = 0.

    Parameters
    ----------
    order : float
        m above. In one column, order 1 interpolates linearly, order 3 is the natural
        cubic spline and order 5 the quintic one. Orders below 2 are the power kernels
        ``-|x - z|^m``, which need only an unpenalized constant.

    Examples
    --------
    >>> Polyharmonic(order=3)([[0.0]], [[0.0], [1.0], [2.0]])
    array([[0., 1., 8.]])
    """

    order: float = 3

    @property
    def conditional_degree(self) -> int:  # type: ignore[override]
        return math.ceil(self._checked_order() / 2) - 1

    def value(self, q: Array) -> Array:
        m = self._checked_order()
        return _sign(m) * q ** (m / 2)

    def value_and_slope(self, q: Array) -> tuple[Array, Array]:
        m = self._checked_order()
        slope = np.zeros_like(q)
        np.power(q, m / 2 - 1, out=slope, where=q > 0)
        slope *= _sign(m)
        return slope * q, m * slope

    def _checked_order(self) -> float:
        if not 0 < self.order < MAX_ORDER or self.order in (2, 4):
            raise ValueError(
                f"Polyharmonic has order={self.order!r}; a number between 0 and "
                f"{MAX_ORDER} that is not even, such as 1, 3 or 5, is needed. For an "
                f"even power of the distance use ThinPlate."
            )
        return self.order


def _sign(m: float) -> float:
    return (-1.0) ** math.ceil(m / 2)


class _NegativeRadial(WithLengthScale, Radial):
    """A radial kernel with negative values, which have no logarithm."""

    conditional_degree = 0

    def log(self, X: Rows, Z: Rows) -> Array:
        raise ValueError(
            f"{self!r} has negative values, which cannot be weights of an average. Use "
            f"Gaussian, Laplace or Matern there."
        )


@dataclass(eq=False, repr=False)
class Multiquadric(_NegativeRadial):
    r"""Hardy's multiquadric.

    .. math:: k = -(1 + q / e^2)^{1/2}, \quad A = -(1 + q / e^2)^{-1/2} / e^2

    Parameters
    ----------
    length_scale : float or rule
        e above. The kernel is smooth below it and like the distance beyond it.

    Examples
    --------
    >>> Multiquadric(1.0)([[0.0]], [[0.0], [3.0]]).round(4)
    array([[-1.    , -3.1623]])
    """

    length_scale: LengthScale = "median"

    def value(self, q: Array) -> Array:
        return -np.sqrt(1.0 + q / self.width**2)

    def value_and_slope(self, q: Array) -> tuple[Array, Array]:
        k = self.value(q)
        return k, 1.0 / (k * self.width**2)


@dataclass(eq=False, repr=False)
class Logarithmic(_NegativeRadial):
    r"""Logarithm of the distance.

    .. math:: k = -\log(1 + (q / e^2)^{p/2}), \quad
              A = -p \, (q/e^2)^{p/2} / (q \, (1 + (q/e^2)^{p/2}))

    and A = 0 where q = 0.

    Parameters
    ----------
    length_scale : float or rule
        e above.
    power : float
        p above, more than 0 and at most 2. The kernel is smooth if it is 2.

    Examples
    --------
    >>> Logarithmic(1.0, power=1.0)([[0.0]], [[0.0], [1.0]]).round(4)
    array([[-0.    , -0.6931]])
    """

    length_scale: LengthScale = "median"
    power: float = 2.0

    def value(self, q: Array) -> Array:
        return -np.log1p((q / self.width**2) ** self._half_power())

    def value_and_slope(self, q: Array) -> tuple[Array, Array]:
        half = self._half_power()
        powers = (q / self.width**2) ** half
        slope = np.zeros_like(q)
        np.divide(powers, q * (1.0 + powers), out=slope, where=q > 0)
        if half == 1.0:
            slope[q == 0] = 1.0 / self.width**2
        slope *= -2.0 * half
        return -np.log1p(powers), slope

    def _half_power(self) -> float:
        if not 0 < self.power <= 2:
            raise ValueError(
                f"Logarithmic has power={self.power!r}; a number above 0, at most 2, "
                f"is needed."
            )
        return self.power / 2
