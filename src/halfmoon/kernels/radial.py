r"""Radial kernels: functions of the distance alone.

With q = |x - z|^2 and k = k(q), the gradient is :math:`grad_x k = 2 k'(q) (x - z)`, so
A is the *slope* 2 k'(q) and B = -A. Everything is written on q, which is computed in
one place (`distances.py`). Widths are length scales: ``exp(-q / (2 length_scale^2))``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self, TypeAlias, cast

import numpy as np

from halfmoon.kernels.base import Kernel
from halfmoon.kernels.distances import of_distances, squared_distances
from halfmoon.kernels.length_scales import RULES
from halfmoon.rows import Array, Rows

__all__ = ["Gaussian", "Laplace", "Matern", "Radial", "RationalQuadratic"]


#: Several, or "auto", are for estimators, which choose among them.
LengthScale: TypeAlias = (
    float | Sequence[float] | Literal["median", "neighbors", "local", "auto"]
)


class Radial(Kernel):
    """A kernel k(q) of the squared distance q, with a length scale.

    ``length_scale="median"`` is the median distance between rows, filled in by
    `resolve`; `length_scales.py` has the other rules.
    """

    length_scale: LengthScale

    radial = True

    @property
    def width(self) -> float:
        """The length scale as a number, checked."""
        if isinstance(self.length_scale, str):
            self._refuse_unknown_rule()
            raise ValueError(
                f"length_scale={self.length_scale!r} is not a number yet: call "
                f"kernel.resolve(X) with the rows it is to be taken from, or give a "
                f"number."
            )
        if np.ndim(self.length_scale):
            raise ValueError(
                f"length_scale is {self.length_scale!r}; one number is needed here. "
                f"Estimators choose among several."
            )
        width = cast(float, self.length_scale)
        if not 0 < width < np.inf:
            raise ValueError(f"length_scale is {width}; a positive number is needed.")
        return float(width)

    def resolve(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        """The kernel with a rule for its length scale made a number by these rows."""
        if not isinstance(self.length_scale, str):
            return self
        self._refuse_unknown_rule()
        return replace(self, length_scale=RULES[self.length_scale](X, rng))

    def _refuse_unknown_rule(self) -> None:
        if self.length_scale not in RULES:
            raise ValueError(
                f"length_scale is {self.length_scale!r}; a positive number, or one of "
                f"{', '.join(map(repr, RULES))}, is needed."
            )

    def value(self, q: Array) -> Array:
        """k(q), written over q."""
        return np.exp(self.log_value(q), out=q)

    def value_and_slope(self, q: Array) -> tuple[Array, Array]:
        """k(q) and 2 k'(q), which is A; q is left as it was."""
        k = self.value(q.copy())
        slope = self.log_slope(q)
        slope *= k
        return k, slope

    def curvature(self, q: Array) -> Array:
        """4 k''(q), which multiplies (x - z)(x - z)' in the second derivatives."""
        raise TypeError(f"{self!r} has no second derivative at x = z.")

    @abstractmethod
    def log_value(self, q: Array) -> Array:
        """log k(q), written over q; exact where k itself underflows to 0."""

    @abstractmethod
    def log_slope(self, q: Array) -> Array:
        """A / k, the slope of log k; 0 at a kink at q = 0. q is left as it was."""

    def log(self, X: Rows, Z: Rows) -> Array:
        """log k(x, z), exact where k itself underflows to 0."""
        return of_distances(self.log_value, *self._pair(X, Z))

    def _value(self, X: Rows, Z: Rows) -> Array:
        return of_distances(self.value, X, Z)

    def _diag(self, X: Rows) -> Array:
        return self.value(np.zeros(X.shape[0]))

    def _gradient_coefficients(self, X: Rows, Z: Rows) -> tuple[Array, Array]:
        _, A = self.value_and_slope(squared_distances(X, Z))
        return A, -A

    def _second_derivatives(self, X: Rows, Z: Rows) -> Array:
        # d/dz_j of A (x_i - z_i):  -A [i = j] - curvature (x_i - z_i)(x_j - z_j)
        q = squared_distances(X, Z)
        _, A = self.value_and_slope(q)
        delta = X[:, None, :] - Z[None, :, :]  # (n, p, d)
        out = -np.einsum("np,npi,npj->npij", self.curvature(q), delta, delta)
        out -= A[:, :, None, None] * np.eye(X.shape[1])
        return out


@dataclass(eq=False, repr=False)
class Gaussian(Radial):
    r"""Gaussian kernel.

    .. math:: k = exp(-q / (2 e^2)), \quad A = -k / e^2

    Parameters
    ----------
    length_scale : float, "median", "neighbors" or "local"
        e above.

    Examples
    --------
    >>> Gaussian(length_scale=2.0)([[0.0]], [[0.0], [2.0]]).round(4)
    array([[1.    , 0.6065]])
    """

    length_scale: LengthScale = "median"

    @property
    def slope_ratio(self) -> float:
        """A / k, a constant: the Dirichlet energy needs no third matrix."""
        return -1.0 / self.width**2

    def log_slope(self, q: Array) -> Array:
        return np.full_like(q, self.slope_ratio)

    def curvature(self, q: Array) -> Array:
        return self.value(q.copy()) / self.width**4

    def log_value(self, q: Array) -> Array:
        q *= -0.5 / self.width**2
        return q


@dataclass(eq=False, repr=False)
class Laplace(Radial):
    r"""Laplace kernel, with a kink at x = z where its gradient is taken as 0.

    .. math:: k = exp(-\sqrt q / e), \quad A = -k / (e \sqrt q)

    Parameters
    ----------
    length_scale : float, "median", "neighbors" or "local"
        e above.
    """

    length_scale: LengthScale = "median"

    def log_slope(self, q: Array) -> Array:
        r = np.sqrt(q)
        r *= -self.width
        return np.divide(1.0, r, out=np.zeros_like(r), where=r != 0)

    def log_value(self, q: Array) -> Array:
        np.sqrt(q, out=q)
        q /= -self.width
        return q


@dataclass(eq=False, repr=False)
class Matern(Radial):
    r"""Matern kernel of smoothness nu = 1/2, 3/2 or 5/2.

    With :math:`r = \sqrt{2 nu q} / e`:

    .. math::
        nu = 3/2: k &= (1 + r) exp(-r), & A &= -(3 / e^2) exp(-r) \\
        nu = 5/2: k &= (1 + r + r^2/3) exp(-r), & A &= -(5 / (3 e^2)) (1 + r) exp(-r)

    and nu = 1/2 is the Laplace kernel.

    Parameters
    ----------
    nu : {0.5, 1.5, 2.5}
    length_scale : float, "median", "neighbors" or "local"
        e above.
    """

    nu: float = 1.5
    length_scale: LengthScale = "median"

    def log_slope(self, q: Array) -> Array:
        order = self._order()
        if order == 0:
            return Laplace(self.length_scale).log_slope(q)
        r = self._scaled_distance(q.copy())
        if order == 1:
            r += 1.0
            return np.divide(-3.0 / self.width**2, r, out=r)
        poly = q * (5.0 / (3.0 * self.width**2))  # r^2 / 3
        r += 1.0
        poly += r
        r *= -5.0 / (3.0 * self.width**2)
        return np.divide(r, poly, out=r)

    def curvature(self, q: Array) -> Array:
        # dA/dr dr/dq 2: for nu = 3/2 of order 1/r, which (x - z)(x - z)' makes vanish.
        e = self.width
        if self._order() == 0:
            return super().curvature(q)
        r = self._scaled_distance(q.copy())
        if self._order() == 1:
            decay = np.exp(-r) * (9.0 / e**4)
            return np.divide(decay, r, out=np.zeros_like(r), where=r != 0)
        return np.exp(-r) * (25.0 / (3.0 * e**4))

    def log_value(self, q: Array) -> Array:
        r = self._scaled_distance(q)
        order = self._order()
        if order == 0:
            return np.negative(r, out=r)
        poly = r.copy()
        if order == 2:
            poly *= r
            poly /= 3.0
            poly += r
        np.log1p(poly, out=poly)
        return np.subtract(poly, r, out=r)

    def _order(self) -> int:
        if self.nu not in (0.5, 1.5, 2.5):
            raise ValueError(
                f"Matern has nu={self.nu}; 0.5, 1.5 or 2.5 is needed. For a smoother "
                f"kernel take Gaussian, its limit for large nu."
            )
        return int(self.nu)

    def _scaled_distance(self, q: Array) -> Array:
        np.sqrt(q, out=q)
        q *= np.sqrt(2.0 * self.nu) / self.width
        return q


@dataclass(eq=False, repr=False)
class RationalQuadratic(Radial):
    r"""Rational quadratic kernel: Gaussian kernels of many length scales, averaged.

    .. math:: k = (1 + q / (2 a e^2))^{-a}, \quad A = -(1/e^2) (1 + q/(2 a e^2))^{-a-1}

    Parameters
    ----------
    shape : float
        a above; the kernel tends to the Gaussian as it grows.
    length_scale : float, "median", "neighbors" or "local"
        e above.
    """

    shape: float = 1.0
    length_scale: LengthScale = "median"

    def log_slope(self, q: Array) -> Array:
        base = self._base(q.copy())
        return np.divide(-1.0 / self.width**2, base, out=base)

    def curvature(self, q: Array) -> Array:
        factor = (self.shape + 1.0) / (self.shape * self.width**4)
        return factor * self._base(q.copy()) ** (-self.shape - 2.0)

    def log_value(self, q: Array) -> Array:
        self._base(q)
        np.log(q, out=q)
        q *= -self.shape
        return q

    def _base(self, q: Array) -> Array:
        if not self.shape > 0:
            raise ValueError(
                f"shape is {self.shape}; a positive number is needed for the "
                f"rational quadratic kernel."
            )
        q *= 1.0 / (2.0 * self.shape * self.width**2)
        q += 1.0
        return q
