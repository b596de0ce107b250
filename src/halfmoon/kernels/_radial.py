r"""Radial kernels: functions of the distance alone. And one of the distance in L1.

With q = |x - z|^2 and k = k(q), the gradient is :math:`grad_x k = 2 k'(q) (x - z)`, so
A is the *slope* 2 k'(q) and B = -A. Everything is written on q, which is computed in
one place, `of_distances`. Widths are length scales: ``exp(-q / (2 length_scale^2))``.

`ProductLaplace` is a product of Laplace kernels, one for each column: suits tables.

.. math:: k(x, z) = \prod_c exp(-|x_c - z_c| / e) = exp(-|x - z|_1 / e)

Each column acts by itself. Functions that jump along single columns, such as trees, are
close to the span of this kernel. Like tables, it is not invariant to rotations.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist, pdist

from halfmoon._rows import Array, Rows, as_dense_rows, as_float_rows, some_rows
from halfmoon.kernels._base import Kernel
from halfmoon.kernels._gaussian_sums import gaussian_sum
from halfmoon.kernels._length_scales import (
    PAIRED_ROWS,
    LengthScale,
    WithLengthScale,
    median_of_positive,
    of_distances,
    refuse_equal_samples,
    squared_distances,
)

__all__ = [
    "Gaussian",
    "Laplace",
    "Matern",
    "PositiveRadial",
    "ProductLaplace",
    "Radial",
    "RationalQuadratic",
]


class Radial(Kernel):
    """A kernel k(q) of the squared distance q."""

    radial = True
    origin_degree = -1
    mixed_precision = True

    @abstractmethod
    def value(self, q: Array) -> Array:
        """Return k(q); may overwrite q."""

    @abstractmethod
    def value_and_slope(self, q: Array) -> tuple[Array, Array]: ...

    def _value(self, X: Rows, Z: Rows) -> Array:
        return of_distances(self.value, X, Z)

    def _diag(self, X: Rows) -> Array:
        return self.value(np.zeros(X.shape[0]))

    def _gradient_coefficients(self, X: Rows, Z: Rows) -> tuple[Array, Array]:
        _, A = self.value_and_slope(squared_distances(X, Z))
        return A, -A


class PositiveRadial(WithLengthScale, Radial):
    """A radial kernel with positive values, given by their logarithm."""

    # The Fourier transform of k is the density of a Student t distribution with this
    # many degrees of freedom: infinite for a normal one, None for any other density.
    _spectral_freedom: float | None = None

    @abstractmethod
    def log_value(self, q: Array) -> Array:
        """Return log k(q), exact where k itself underflows to 0; may overwrite q."""

    @abstractmethod
    def log_slope(self, q: Array) -> Array:
        """Return A / k, the slope of log k; 0 at a kink at q = 0. q is not changed."""

    def curvature(self, q: Array) -> Array:
        """Return 4 k''(q), the factor of (x - z)(x - z)' in the second derivatives."""
        raise TypeError(f"{self!r} has no second derivative at x = z.")

    def value(self, q: Array) -> Array:
        logs = self.log_value(q)
        return np.exp(logs, out=logs)

    def value_and_slope(self, q: Array) -> tuple[Array, Array]:
        k = self.value(q.copy())
        slope = self.log_slope(q)
        slope *= k
        return k, slope

    def log(self, X: Rows, Z: Rows) -> Array:
        return of_distances(self.log_value, *self._pair(X, Z))

    def log_gradient_coefficients(self, X: Rows, Z: Rows) -> tuple[Array, Array]:
        A = self.log_slope(squared_distances(*self._pair(X, Z)))
        return A, -A

    def _second_derivatives(self, X: Rows, Z: Rows) -> Array:
        # d/dz_j of A (x_i - z_i):  -A [i = j] - curvature (x_i - z_i)(x_j - z_j)
        q = squared_distances(X, Z)
        _, A = self.value_and_slope(q)
        delta = X[:, None, :] - Z[None, :, :]  # (n, p, d)
        out = -np.einsum("np,npi,npj->npij", self.curvature(q), delta, delta)
        out -= A[:, :, None, None] * np.eye(X.shape[1])
        return out

    def random_units(
        self, d: int, p: int, rng: np.random.Generator
    ) -> tuple[str, Array, Array]:
        freedom = self._spectral_freedom
        if freedom is None:
            return super().random_units(d, p, rng)
        m = (p + 1) // 2
        W = rng.standard_normal((m, d)) / self.width
        if np.isfinite(freedom):
            W *= np.sqrt(freedom / rng.chisquare(freedom, (m, 1)))
        return "cos_sin", W, np.zeros(m)


@dataclass(eq=False, repr=False)
class Gaussian(PositiveRadial):
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

    _spectral_freedom = np.inf

    @property
    def slope_ratio(self) -> float:  # type: ignore[override]
        return -1.0 / self.width**2

    def combination(self, Z: Rows, C: Array) -> Callable[[Rows], Array]:
        if sp.issparse(Z):
            return super().combination(Z, C)
        total = gaussian_sum(as_float_rows(Z, name="Z"), [(self.width, C)])
        return lambda X: total(self._pair(X, Z)[0])

    def log_slope(self, q: Array) -> Array:
        return np.full_like(q, self.slope_ratio)

    def curvature(self, q: Array) -> Array:
        return self.value(q.copy()) / self.width**4

    def log_value(self, q: Array) -> Array:
        q *= -0.5 / self.width**2  # in place, as the most used kernel
        return q


@dataclass(eq=False, repr=False)
class Laplace(PositiveRadial):
    r"""Laplace kernel. It has a kink at x = z, where its gradient is taken as 0.

    .. math:: k = exp(-\sqrt q / e), \quad A = -k / (e \sqrt q)

    Parameters
    ----------
    length_scale : float, "median", "neighbors" or "local"
        e above.
    """

    length_scale: LengthScale = "median"

    _spectral_freedom = 1.0

    def log_slope(self, q: Array) -> Array:
        r = np.sqrt(q)
        r *= -self.width
        return np.divide(1.0, r, out=np.zeros_like(r), where=r != 0)

    def log_value(self, q: Array) -> Array:
        return np.sqrt(q) / -self.width


@dataclass(eq=False, repr=False)
class Matern(PositiveRadial):
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

    @property
    def _spectral_freedom(self) -> float:  # type: ignore[override]
        return 2 * self.nu

    def log_slope(self, q: Array) -> Array:
        order = self._order()
        if order == 0:
            return Laplace(self.length_scale).log_slope(q)
        r = self._scaled_distance(q)
        if order == 1:
            r += 1.0
            return np.divide(-3.0 / self.width**2, r, out=r)
        poly = q * (5.0 / (3.0 * self.width**2))  # r^2 / 3
        r += 1.0
        poly += r
        r *= -5.0 / (3.0 * self.width**2)
        return np.divide(r, poly, out=r)

    def curvature(self, q: Array) -> Array:
        # 2 dA/dr dr/dq: of order 1/r for nu = 3/2, and 0 after (x - z)(x - z)'.
        e = self.width
        if self._order() == 0:
            return super().curvature(q)
        r = self._scaled_distance(q)
        if self._order() == 1:
            decay = np.exp(-r) * (9.0 / e**4)
            return np.divide(decay, r, out=np.zeros_like(r), where=r != 0)
        return np.exp(-r) * (25.0 / (3.0 * e**4))

    def log_value(self, q: Array) -> Array:
        r = self._scaled_distance(q)
        if self._order() == 0:
            return -r
        poly = r.copy() if self._order() == 1 else r + r * r / 3.0
        return np.subtract(np.log1p(poly, out=poly), r, out=r)

    def _order(self) -> int:
        if self.nu not in (0.5, 1.5, 2.5):
            raise ValueError(
                f"Matern has nu={self.nu!r}; 0.5, 1.5 or 2.5 is needed. For a smoother "
                f"kernel use Gaussian, its limit for large nu."
            )
        return int(self.nu)

    def _scaled_distance(self, q: Array) -> Array:
        self._order()  # checks nu
        return np.sqrt(q) * (np.sqrt(2.0 * self.nu) / self.width)


@dataclass(eq=False, repr=False)
class RationalQuadratic(PositiveRadial):
    r"""Rational quadratic kernel: a mixture of Gaussian kernels of many length scales.

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
        return -1.0 / (self.width**2 * self._base(q))

    def curvature(self, q: Array) -> Array:
        factor = (self.shape + 1.0) / (self.shape * self.width**4)
        return factor * self._base(q) ** (-self.shape - 2.0)

    def log_value(self, q: Array) -> Array:
        return -self.shape * np.log(self._base(q))

    def _base(self, q: Array) -> Array:
        if not self.shape > 0:
            raise ValueError(
                f"shape is {self.shape}; a positive number is needed for the "
                f"rational quadratic kernel."
            )
        return 1.0 + q / (2.0 * self.shape * self.width**2)


@dataclass(eq=False, repr=False)
class ProductLaplace(Kernel):
    """The kernel ``exp(-|x - z|_1 / e)``, with the sum of absolute differences.

    Parameters
    ----------
    length_scale : float or "median"
        e above; "median" is the median of ``|x - z|_1`` over pairs of rows.

    Examples
    --------
    >>> ProductLaplace(2.0)([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.3679]])
    """

    length_scale: float | Literal["median"] = "median"

    origin_degree = -1

    def resolve(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        if self.length_scale != "median":
            return self
        sample = as_dense_rows(some_rows(X, PAIRED_ROWS, rng))
        scale = median_of_positive(pdist(sample, "cityblock"))
        return replace(self, length_scale=scale or refuse_equal_samples(X.shape[0]))

    def _value(self, X: Rows, Z: Rows) -> Array:
        e = self._checked_scale()
        X, Z = (R.toarray() if sp.issparse(R) else R for R in (X, Z))
        D = cdist(X, Z, "cityblock")
        D /= -e
        return np.exp(D, out=D)

    def _diag(self, X: Rows) -> Array:
        self._checked_scale()
        return np.ones(X.shape[0])

    def _checked_scale(self) -> float:
        if isinstance(self.length_scale, str) or not 0 < self.length_scale < np.inf:
            raise ValueError(
                f"length_scale is {self.length_scale!r}; a positive number is needed, "
                f"or 'median' and kernel.resolve(X)."
            )
        return float(self.length_scale)
