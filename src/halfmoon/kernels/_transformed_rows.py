r"""Kernels of transformed rows, as kernels of the original rows.

.. math:: k'(x, z) = k(t(x), t(z))

with a fitted transformation t, such as scaling, principal components or ranks
(`Prepared`), or with rows measured from an origin, t(x) = x - o (`Shifted`).

Inner products of rows that lie far from 0 lose the digits in which the rows differ. If
the polynomials up to `Kernel.origin_degree` are unpenalized, all fits with `Shifted`
are those with k, so o may be the middle of the rows:

=====================  ======  =======================================================
kernel                 degree  because
=====================  ======  =======================================================
of x - z               -1      k' = k
``<x, z>``             0       k' - k is a function of x plus a function of z, and both
                               are 0 in c'K c where F'c = 0
``(g <x, z> + b)^m``   m - 1   the terms of degree m in both x and z, ``(g <x, z>)^m``,
                               are the same in terms of x - o, up to lower degrees
sum                    larger  of the two degrees
others                 inf     the origin matters, or may do so
=====================  ======  =======================================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from halfmoon._rows import Array, Rows
from halfmoon.kernels._base import Kernel, Wrapper, of_inner
from halfmoon.kernels._length_scales import minus

__all__ = ["OfPreparedRows", "Prepared", "Shifted", "from_origin"]


class OfPreparedRows(Wrapper):
    """The kernel k(t(x), t(z)); `prepare` is t."""

    prepare: Callable[[Rows], Rows]

    def combination(self, Z: Rows, C: Array) -> Callable[[Rows], Array]:
        inner = self.kernel.combination(self.prepare(Z), C)
        return lambda X: inner(self.prepare(X))

    def sections(self, Z: Rows) -> Callable[[Rows], Array]:
        inner = self.kernel.sections(self.prepare(Z))
        return lambda X: inner(self.prepare(X))

    def log(self, X: Rows, Z: Rows) -> Array | None:
        return self.kernel.log(*self._prepared(X, Z))

    def _value(self, X: Rows, Z: Rows) -> Array:
        return self.kernel(*self._prepared(X, Z))

    def _diag(self, X: Rows) -> Array:
        return self.kernel.diag(self.prepare(X))

    def _prepared(self, X: Rows, Z: Rows) -> tuple[Rows, Rows]:
        prepared = self.prepare(X)
        return prepared, prepared if Z is X else self.prepare(Z)


@dataclass(eq=False, repr=False)
class Prepared(OfPreparedRows):
    """The kernel k(t(x), t(z)), with parameters of k resolved on transformed rows.

    Examples
    --------
    >>> import numpy as np
    >>> from halfmoon.kernels import Linear
    >>> Prepared(np.log, Linear())([[np.e]], [[np.e**2]])
    array([[2.]])
    """

    prepare: Callable[[Rows], Rows]
    kernel: Kernel

    def __sklearn_clone__(self) -> Any:
        """Copy the kernel and share the fitted transformation."""
        return replace(self, kernel=clone(self.kernel))


def from_origin(X: Rows, origin: Array | None) -> Rows:
    """Return the rows minus an origin; None is 0."""
    return X if origin is None else minus(X, origin)


@dataclass(eq=False, repr=False)
class Shifted(OfPreparedRows):
    """The kernel k(x - o, z - o).

    Examples
    --------
    >>> import numpy as np
    >>> from halfmoon.kernels import Linear
    >>> Shifted(Linear(), np.array([10.0]))([[12.0]], [[11.0]])
    array([[2.]])
    """

    kernel: Kernel
    origin: Array  # (d,), o

    origin_degree = of_inner("origin_degree")
    gradient_temporaries = of_inner("gradient_temporaries")

    def resolve(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        return replace(self, kernel=self.kernel.resolve(X, rng))

    def prepare(self, X: Rows) -> Rows:
        return minus(X, self.origin)

    def _gradient_coefficients(self, X: Rows, Z: Rows) -> tuple[Array, Array]:
        return self.kernel.gradient_coefficients(*self._prepared(X, Z))

    def _second_derivatives(self, X: Rows, Z: Rows) -> Array:
        return self.kernel.second_derivatives(*self._prepared(X, Z))
