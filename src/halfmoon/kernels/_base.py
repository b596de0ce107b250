"""The kernel interface, and sums, products and multiples of kernels.

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

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from halfmoon._rows import Array, Rows, as_dense_rows, as_float_rows, as_rows

__all__ = ["Kernel", "Product", "Scaled", "Sum", "Wrapper", "of_inner"]


class Kernel(BaseEstimator, ABC):
    """A symmetric function k(x, z) of two rows.

    ``k(X, Z)`` is the matrix of its values, ``k.diag(X)`` its values k(x, x), and
    ``k.gradient_coefficients(X, Z)`` the matrices A and B with

    .. math:: grad_x k(x, z) = A(x, z) x + B(x, z) z.

    Kernels add and multiply: ``k1 + k2``, ``k1 * k2``, ``2.0 * k``. Parameters that
    come from data (``length_scale="median"``) are filled in by ``k.resolve(X)``,
    which returns a new kernel.

    A subclass implements `_value`, `_diag` and, if it has a gradient,
    `_gradient_coefficients`. These receive checked rows, in float64 unless the kernel
    is `mixed_precision`.
    """

    #: Polynomials up to this degree must be unpenalized, so that the kernel is
    #: positive definite on the rest; -1 if it is positive definite by itself.
    conditional_degree: int = -1

    #: Unpenalized polynomials up to this degree make the origin irrelevant (`Shifted`).
    origin_degree: float = np.inf

    #: Whether k is a function of the distance alone, with `value_and_slope`.
    radial: bool = False

    #: Whether k(x, z) = <x, z>.
    linear: bool = False

    #: A / k of a radial kernel for which this is a constant: the Gaussian.
    slope_ratio: float | None = None

    #: Whether dense float32 rows may stay so, because their distances are in float64.
    mixed_precision: bool = False

    #: n-by-p arrays held at once by values and gradient coefficients, results included.
    temporaries: int = 2
    gradient_temporaries: int = 4

    #: Makes NumPy numbers leave ``2.0 * k`` to us.
    __array_ufunc__ = None

    def __call__(self, X: Rows, Z: Rows | None = None) -> Array:
        """Return the values k(x, z) for each pair of rows.

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
        """Return the values k(x, x), shape (n,), without the n-by-n matrix."""
        return self._diag(as_rows(X))

    def gradient_coefficients(
        self, X: Rows, Z: Rows | None = None
    ) -> tuple[Array, Array]:
        """Return the matrices A and B, shape (n, p), for rows as in a call of k.

        .. math:: grad_x k(x, z) = A(x, z) x + B(x, z) z
        """
        return self._gradient_coefficients(*self._pair(X, Z))

    def second_derivatives(self, X: Rows, Z: Rows) -> Array:
        """Return d^2 k / dx_i dz_j for each pair, shape (n, p, d, d), for small n."""
        X, Z = (as_dense_rows(R) for R in self._pair(X, Z))
        return self._second_derivatives(X, Z)

    def value_and_slope(self, q: Array) -> tuple[Array, Array]:
        """Return k(q) and A = 2 k'(q) of a radial kernel; q is not changed.

        q is an array of squared distances.
        """
        raise TypeError(f"{self!r} is not a function of the distance alone.")

    def resolve(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        """Return the kernel with its rules replaced by numbers from these rows."""
        return self

    def terms(self) -> list[tuple[float, Kernel]]:
        """Return the kernel as a sum: factors, and kernels that are not sums."""
        return [(1.0, self)]

    def combination(self, Z: Rows, C: Array) -> Callable[[Rows], Array]:
        """Return x -> k(x, Z) C, with C of shape (p, t), without k where possible.

        What does not depend on x is computed once, here.
        """
        return lambda X: self(X, Z) @ C

    def sections(self, Z: Rows) -> Callable[[Rows], Array]:
        """Return the function x -> k(x, Z), shape (b, p).

        What does not depend on x is computed once, here.
        """
        return lambda X: self(X, Z)

    def row_bytes(self, p: int) -> int:
        """Return the bytes held at once for each row that is compared with p others."""
        return 8 * self.temporaries * p

    def log(self, X: Rows, Z: Rows) -> Array | None:
        """Return log k(x, z) where it is known without underflow, else None."""
        return None

    def log_gradient_coefficients(self, X: Rows, Z: Rows) -> tuple[Array, Array] | None:
        """Return A / k and B / k where they are known without underflow, else None."""
        return None

    def random_units(
        self, d: int, p: int, rng: np.random.Generator
    ) -> tuple[str, Array, Array]:
        """Draw about p units sigma(w'x + b) whose mean product is k.

        Returns sigma, a key of `bases._random_features.UNITS`; the w, (m, d); the b.
        """
        raise ValueError(
            f"No random features are known for {self!r}; use Gaussian, Laplace, "
            f"Matern or NNGP of depth 1, or a Nystrom basis, for any kernel."
        )

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

    def _pair(self, X: Rows, Z: Rows | None) -> tuple[Rows, Rows]:
        same, checked = Z is None or Z is X, as_rows
        if self.mixed_precision:
            checked = as_float_rows
        X = checked(X)
        Z = X if same else checked(Z, name="Z")
        if X.shape[1] != Z.shape[1]:
            raise ValueError(
                f"X has {X.shape[1]} columns and Z has {Z.shape[1]}; a kernel compares "
                f"rows with the same columns."
            )
        return X, Z

    def __add__(self, other: Kernel) -> Sum:
        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Kernel | float) -> Product | Scaled:
        if isinstance(other, Kernel):
            return Product(self, other)
        if isinstance(other, (int, float, np.number)):
            return Scaled(float(other), self)
        return NotImplemented

    __rmul__ = __mul__


@dataclass(eq=False, repr=False)
class _Pair(Kernel):
    """What sums and products of two kernels have in common."""

    k1: Kernel
    k2: Kernel

    _join: ClassVar[np.ufunc]  # of values, and of their logarithms
    _join_logs: ClassVar[np.ufunc]

    @property
    def radial(self) -> bool:  # type: ignore[override]
        return self.k1.radial and self.k2.radial

    @property
    def conditional_degree(self) -> int:  # type: ignore[override]
        return max(self.k1.conditional_degree, self.k2.conditional_degree)

    @property
    def origin_degree(self) -> float:  # type: ignore[override]
        degree = max(self.k1.origin_degree, self.k2.origin_degree)
        return degree if degree < 0 or isinstance(self, Sum) else np.inf

    # The values of one kernel are held while those of the other are computed.
    @property
    def temporaries(self) -> int:  # type: ignore[override]
        return 1 + max(self.k1.temporaries, self.k2.temporaries)

    def row_bytes(self, p: int) -> int:
        return 8 * p + max(self.k1.row_bytes(p), self.k2.row_bytes(p))

    @property
    def gradient_temporaries(self) -> int:  # type: ignore[override]
        return 5 + max(self.k1.gradient_temporaries, self.k2.gradient_temporaries)

    def resolve(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        return replace(self, k1=self.k1.resolve(X, rng), k2=self.k2.resolve(X, rng))

    def sections(self, Z: Rows) -> Callable[[Rows], Array]:
        first, second = self.k1.sections(Z), self.k2.sections(Z)
        return lambda X: np.asarray(self._join(first(X), second(X)))

    def log(self, X: Rows, Z: Rows) -> Array | None:
        first, second = self.k1.log(X, Z), self.k2.log(X, Z)
        known = first is not None and second is not None
        return np.asarray(self._join_logs(first, second)) if known else None

    def _value(self, X: Rows, Z: Rows) -> Array:
        K = self.k1._value(X, Z)
        return np.asarray(self._join(K, self.k2._value(X, Z), out=K))

    def _diag(self, X: Rows) -> Array:
        return np.asarray(self._join(self.k1._diag(X), self.k2._diag(X)))


@dataclass(eq=False, repr=False)
class Sum(_Pair):
    """The kernel k1(x, z) + k2(x, z).

    Examples
    --------
    >>> from halfmoon.kernels import Gaussian, Linear
    >>> (Linear() + Gaussian(1.0))([[0.0]], [[0.0], [5.0]]).round(3)
    array([[1., 0.]])
    """

    _join, _join_logs = np.add, np.logaddexp

    @property
    def gradient_temporaries(self) -> int:  # type: ignore[override]
        return 2 + max(self.k1.gradient_temporaries, self.k2.gradient_temporaries)

    def terms(self) -> list[tuple[float, Kernel]]:
        return self.k1.terms() + self.k2.terms()

    def combination(self, Z: Rows, C: Array) -> Callable[[Rows], Array]:
        first, second = self.k1.combination(Z, C), self.k2.combination(Z, C)
        return lambda X: first(X) + second(X)

    def value_and_slope(self, q: Array) -> tuple[Array, Array]:
        (v1, a1), (v2, a2) = self.k1.value_and_slope(q), self.k2.value_and_slope(q)
        v1 += v2
        a1 += a2
        return v1, a1

    def _gradient_coefficients(self, X: Rows, Z: Rows) -> tuple[Array, Array]:
        A, B = self.k1._gradient_coefficients(X, Z)
        A2, B2 = self.k2._gradient_coefficients(X, Z)
        A += A2
        B += B2
        return A, B

    def _second_derivatives(self, X: Rows, Z: Rows) -> Array:
        return self.k1._second_derivatives(X, Z) + self.k2._second_derivatives(X, Z)


@dataclass(eq=False, repr=False)
class Product(_Pair):
    """The kernel k1(x, z) k2(x, z), for positive definite k1 and k2."""

    _join, _join_logs = np.multiply, np.add

    def __post_init__(self) -> None:
        for factor in (self.k1, self.k2):
            if factor.conditional_degree >= 0:
                raise ValueError(
                    f"{factor!r} is only conditionally positive definite, and a "
                    f"product with it need not be even that. Add the kernels instead."
                )

    def value_and_slope(self, q: Array) -> tuple[Array, Array]:
        (v1, a1), (v2, a2) = self.k1.value_and_slope(q), self.k2.value_and_slope(q)
        a1 *= v2
        a2 *= v1
        a1 += a2
        v1 *= v2
        return v1, a1

    def _gradient_coefficients(self, X: Rows, Z: Rows) -> tuple[Array, Array]:
        K1, K2 = self.k1._value(X, Z), self.k2._value(X, Z)
        A1, B1 = self.k1._gradient_coefficients(X, Z)
        A2, B2 = self.k2._gradient_coefficients(X, Z)
        return K1 * A2 + K2 * A1, K1 * B2 + K2 * B1


def of_inner(name: str) -> Any:
    """Return the property of a `Wrapper` that is the attribute of its kernel."""
    return property(lambda wrapper: getattr(wrapper.kernel, name))


class Wrapper(Kernel):
    """A kernel made from another one, `kernel`, of the same degree and memory."""

    kernel: Kernel

    conditional_degree = of_inner("conditional_degree")
    temporaries = of_inner("temporaries")

    def row_bytes(self, p: int) -> int:
        return self.kernel.row_bytes(p)


@dataclass(eq=False, repr=False)
class Scaled(Wrapper):
    """The kernel c k(x, z) for a number c >= 0."""

    factor: float
    kernel: Kernel

    radial = of_inner("radial")
    origin_degree = of_inner("origin_degree")
    mixed_precision = of_inner("mixed_precision")

    def __post_init__(self) -> None:
        if not 0 <= self.factor < np.inf:
            raise ValueError(
                f"A kernel times {self.factor} is not positive definite; multiply by "
                f"a number that is not negative."
            )

    @property
    def gradient_temporaries(self) -> int:  # type: ignore[override]
        return 2 + self.kernel.gradient_temporaries

    def resolve(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        return replace(self, kernel=self.kernel.resolve(X, rng))

    def terms(self) -> list[tuple[float, Kernel]]:
        return [(self.factor * c, kernel) for c, kernel in self.kernel.terms()]

    def combination(self, Z: Rows, C: Array) -> Callable[[Rows], Array]:
        return self.kernel.combination(Z, self.factor * C)

    def sections(self, Z: Rows) -> Callable[[Rows], Array]:
        inner = self.kernel.sections(Z)
        return lambda X: self.factor * inner(X)

    def value_and_slope(self, q: Array) -> tuple[Array, Array]:
        k, a = self.kernel.value_and_slope(q)
        return self.factor * k, self.factor * a

    def log(self, X: Rows, Z: Rows) -> Array | None:
        logs = self.kernel.log(X, Z) if self.factor > 0 else None
        return None if logs is None else logs + np.log(self.factor)

    def _value(self, X: Rows, Z: Rows) -> Array:
        return self.factor * self.kernel._value(X, Z)

    def _diag(self, X: Rows) -> Array:
        return self.factor * self.kernel._diag(X)

    def _gradient_coefficients(self, X: Rows, Z: Rows) -> tuple[Array, Array]:
        A, B = self.kernel._gradient_coefficients(X, Z)
        return self.factor * A, self.factor * B

    def _second_derivatives(self, X: Rows, Z: Rows) -> Array:
        return self.factor * self.kernel._second_derivatives(X, Z)
