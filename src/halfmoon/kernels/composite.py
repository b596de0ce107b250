"""Sums, products and multiples of kernels, which are kernels again.

=========  =================  =========================
kernel     value              A (and B likewise)
=========  =================  =========================
sum        k1 + k2            A1 + A2
product    k1 k2              k1 A2 + k2 A1
multiple   c k                c A
=========  =================  =========================

A combination of radial kernels is radial, with the slope in place of A.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self, cast

import numpy as np

from halfmoon.kernels.base import Kernel
from halfmoon.kernels.radial import Radial
from halfmoon.rows import Array, Rows

__all__ = ["Product", "Scaled", "Sum"]


@dataclass(eq=False, repr=False)
class Sum(Kernel):
    """The kernel k1(x, z) + k2(x, z).

    Examples
    --------
    >>> from halfmoon.kernels import Gaussian, Linear
    >>> (Linear() + Gaussian(1.0))([[0.0]], [[0.0], [5.0]]).round(3)
    array([[1., 0.]])
    """

    k1: Kernel
    k2: Kernel

    @property
    def radial(self) -> bool:  # type: ignore[override]
        """Both parts are functions of the distance."""
        return self.k1.radial and self.k2.radial

    @property
    def conditional_degree(self) -> int:  # type: ignore[override]
        """What the more demanding part needs."""
        return max(self.k1.conditional_degree, self.k2.conditional_degree)

    @property
    def temporaries(self) -> int:  # type: ignore[override]
        """One part's values wait for the other's."""
        return 1 + max(self.k1.temporaries, self.k2.temporaries)

    def row_bytes(self, p: int) -> int:
        """One part's values wait for the other's."""
        return 8 * p + max(self.k1.row_bytes(p), self.k2.row_bytes(p))

    @property
    def gradient_temporaries(self) -> int:  # type: ignore[override]
        """One part's coefficients wait for the other's."""
        parts = self.k1.gradient_temporaries, self.k2.gradient_temporaries
        return 2 + max(parts)

    def resolve(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        """Both parts resolved."""
        return replace(self, k1=self.k1.resolve(X, rng), k2=self.k2.resolve(X, rng))

    def terms(self) -> list[tuple[float, Kernel]]:
        """Those of both parts."""
        return self.k1.terms() + self.k2.terms()

    def combination(self, Z: Rows, C: Array) -> Callable[[Rows], Array]:
        """x -> k1(x, Z) C + k2(x, Z) C, each part by its shorter way."""
        first, second = self.k1.combination(Z, C), self.k2.combination(Z, C)
        return lambda X: first(X) + second(X)

    def value_and_slope(self, q: Array) -> tuple[Array, Array]:
        """k and A as functions of the squared distance; q is left as it was."""
        (v1, a1), (v2, a2) = _profiles(self.k1, self.k2, q)
        v1 += v2
        a1 += a2
        return v1, a1

    def log(self, X: Rows, Z: Rows) -> Array | None:
        """log(k1 + k2) where the logs of both are known."""
        first, second = self.k1.log(X, Z), self.k2.log(X, Z)
        return None if first is None or second is None else np.logaddexp(first, second)

    def _value(self, X: Rows, Z: Rows) -> Array:
        K = self.k1._value(X, Z)
        K += self.k2._value(X, Z)
        return K

    def _diag(self, X: Rows) -> Array:
        return self.k1._diag(X) + self.k2._diag(X)

    def _gradient_coefficients(self, X: Rows, Z: Rows) -> tuple[Array, Array]:
        A, B = self.k1._gradient_coefficients(X, Z)
        A2, B2 = self.k2._gradient_coefficients(X, Z)
        A += A2
        B += B2
        return A, B

    def _second_derivatives(self, X: Rows, Z: Rows) -> Array:
        return self.k1._second_derivatives(X, Z) + self.k2._second_derivatives(X, Z)


@dataclass(eq=False, repr=False)
class Product(Kernel):
    """The kernel k1(x, z) k2(x, z), for positive definite k1 and k2."""

    k1: Kernel
    k2: Kernel

    def __post_init__(self) -> None:
        for part in (self.k1, self.k2):
            if part.conditional_degree >= 0:
                raise ValueError(
                    f"{part!r} is only conditionally positive definite, and a product "
                    f"with it has no such property at all. Add kernels instead."
                )

    @property
    def radial(self) -> bool:  # type: ignore[override]
        """Both parts are functions of the distance."""
        return self.k1.radial and self.k2.radial

    @property
    def temporaries(self) -> int:  # type: ignore[override]
        """One part's values wait for the other's."""
        return 1 + max(self.k1.temporaries, self.k2.temporaries)

    def row_bytes(self, p: int) -> int:
        """One part's values wait for the other's."""
        return 8 * p + max(self.k1.row_bytes(p), self.k2.row_bytes(p))

    @property
    def gradient_temporaries(self) -> int:  # type: ignore[override]
        """One part's coefficients wait for the other's."""
        parts = self.k1.gradient_temporaries, self.k2.gradient_temporaries
        return 5 + max(parts)

    def resolve(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        """Both parts resolved."""
        return replace(self, k1=self.k1.resolve(X, rng), k2=self.k2.resolve(X, rng))

    def value_and_slope(self, q: Array) -> tuple[Array, Array]:
        """k and A as functions of the squared distance; q is left as it was."""
        (v1, a1), (v2, a2) = _profiles(self.k1, self.k2, q)
        a1 *= v2
        a2 *= v1
        a1 += a2
        v1 *= v2
        return v1, a1

    def log(self, X: Rows, Z: Rows) -> Array | None:
        """log k1 + log k2 where both are known."""
        first, second = self.k1.log(X, Z), self.k2.log(X, Z)
        return None if first is None or second is None else first + second

    def _value(self, X: Rows, Z: Rows) -> Array:
        K = self.k1._value(X, Z)
        K *= self.k2._value(X, Z)
        return K

    def _diag(self, X: Rows) -> Array:
        return self.k1._diag(X) * self.k2._diag(X)

    def _gradient_coefficients(self, X: Rows, Z: Rows) -> tuple[Array, Array]:
        K1, K2 = self.k1._value(X, Z), self.k2._value(X, Z)
        A1, B1 = self.k1._gradient_coefficients(X, Z)
        A2, B2 = self.k2._gradient_coefficients(X, Z)
        return K1 * A2 + K2 * A1, K1 * B2 + K2 * B1


@dataclass(eq=False, repr=False)
class Scaled(Kernel):
    """The kernel c k(x, z) for a number c >= 0."""

    factor: float
    kernel: Kernel

    def __post_init__(self) -> None:
        if not 0 <= self.factor < np.inf:
            raise ValueError(
                f"A kernel times {self.factor} is not positive definite; multiply by "
                f"a number that is not negative."
            )

    @property
    def radial(self) -> bool:  # type: ignore[override]
        """As the kernel itself."""
        return self.kernel.radial

    @property
    def conditional_degree(self) -> int:  # type: ignore[override]
        """As the kernel itself."""
        return self.kernel.conditional_degree

    @property
    def temporaries(self) -> int:  # type: ignore[override]
        """As the kernel itself."""
        return self.kernel.temporaries

    def row_bytes(self, p: int) -> int:
        """As the kernel itself."""
        return self.kernel.row_bytes(p)

    @property
    def gradient_temporaries(self) -> int:  # type: ignore[override]
        """As the kernel itself, and both coefficients again."""
        return 2 + self.kernel.gradient_temporaries

    def resolve(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        """The kernel inside resolved."""
        return replace(self, kernel=self.kernel.resolve(X, rng))

    def terms(self) -> list[tuple[float, Kernel]]:
        """Those of the kernel inside, times the factor."""
        return [(self.factor * c, kernel) for c, kernel in self.kernel.terms()]

    def combination(self, Z: Rows, C: Array) -> Callable[[Rows], Array]:
        """x -> k(x, Z) (c C), by the shorter way of the kernel inside."""
        return self.kernel.combination(Z, self.factor * C)

    def value_and_slope(self, q: Array) -> tuple[Array, Array]:
        """k and A as functions of the squared distance; q is left as it was."""
        k, a = cast(Radial, self.kernel).value_and_slope(q)
        k *= self.factor
        a *= self.factor
        return k, a

    def log(self, X: Rows, Z: Rows) -> Array | None:
        """log c + log k where that is known."""
        inner = self.kernel.log(X, Z)
        known = inner is not None and self.factor > 0
        return inner + np.log(self.factor) if known and inner is not None else None

    def _value(self, X: Rows, Z: Rows) -> Array:
        K = self.kernel._value(X, Z)
        K *= self.factor
        return K

    def _diag(self, X: Rows) -> Array:
        return self.factor * self.kernel._diag(X)

    def _gradient_coefficients(self, X: Rows, Z: Rows) -> tuple[Array, Array]:
        A, B = self.kernel._gradient_coefficients(X, Z)
        return self.factor * A, self.factor * B

    def _second_derivatives(self, X: Rows, Z: Rows) -> Array:
        return self.factor * self.kernel._second_derivatives(X, Z)


def _profiles(
    k1: Kernel, k2: Kernel, q: Array
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    first, second = cast(Radial, k1), cast(Radial, k2)
    return first.value_and_slope(q), second.value_and_slope(q)
