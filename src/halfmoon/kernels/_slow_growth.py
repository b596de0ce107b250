r"""Kernels that grow slowly with the distance and need an unpenalized constant.

With q = |x - z|^2, e the length scale and B = -A, as for every radial kernel:

.. math::
    multiquadric: k &= -(1 + q / e^2)^{1/2},
                  & A &= -(1 + q / e^2)^{-1/2} / e^2 \\
    logarithmic:  k &= -\log(1 + (q / e^2)^{p/2}),
                  & A &= -p \, (q/e^2)^{p/2} / (q \, (1 + (q/e^2)^{p/2}))

Both are minus a Bernstein function of q, so they are conditionally positive definite
with respect to the constant (Schoenberg; Micchelli, "Interpolation of scattered data",
1986). Powers of the distance are `Polyharmonic`. The logarithm and the power are the
kernels of KERPLE (Chi, Fan, Ramadge, Rudnicky, 2022).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from halfmoon._rows import Array, Rows
from halfmoon.kernels._length_scales import LengthScale, WithLengthScale
from halfmoon.kernels._radial import Radial

__all__ = ["Logarithmic", "Multiquadric"]


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
        q /= self.width**2
        q += 1.0
        np.sqrt(q, out=q)
        np.negative(q, out=q)
        return q

    def value_and_slope(self, q: Array) -> tuple[Array, Array]:
        k = self.value(q.copy())
        return k, 1.0 / (k * self.width**2)


@dataclass(eq=False, repr=False)
class Logarithmic(_NegativeRadial):
    r"""Logarithm of the distance.

    .. math:: k = -\log(1 + (q / e^2)^{p/2})

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
        half = self._half_power()
        q /= self.width**2
        np.power(q, half, out=q)
        np.log1p(q, out=q)
        np.negative(q, out=q)
        return q

    def value_and_slope(self, q: Array) -> tuple[Array, Array]:
        half = self._half_power()
        powers = np.power(q / self.width**2, half)
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
