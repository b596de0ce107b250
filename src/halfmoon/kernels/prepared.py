r"""A kernel of prepared rows, as a kernel of rows as they come.

.. math:: k'(x, z) = k(t(x), t(z))

with t a fitted transformation: scaled columns, principal components, ranks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from sklearn.base import clone

from halfmoon.kernels.base import Kernel
from halfmoon.rows import Array, Rows

__all__ = ["Prepared"]


@dataclass(eq=False, repr=False)
class Prepared(Kernel):
    """The kernel k(t(x), t(z)).

    Parameters
    ----------
    prepare : callable
        t, from rows as they come to prepared ones.
    kernel : Kernel
        k, its parameters resolved by prepared rows.

    Examples
    --------
    >>> import numpy as np
    >>> from halfmoon.kernels import Linear
    >>> Prepared(np.log, Linear())([[np.e]], [[np.e**2]])
    array([[2.]])
    """

    prepare: Callable[[Rows], Rows]
    kernel: Kernel

    @property
    def conditional_degree(self) -> int:  # type: ignore[override]
        """As the kernel itself: polynomials of the prepared rows."""
        return self.kernel.conditional_degree

    @property
    def temporaries(self) -> int:  # type: ignore[override]
        """As the kernel itself."""
        return self.kernel.temporaries

    def row_bytes(self, p: int) -> int:
        """As the kernel itself."""
        return self.kernel.row_bytes(p)

    def combination(self, Z: Rows, C: Array) -> Callable[[Rows], Array]:
        """x -> k(t(x), t(Z)) C, with Z prepared once."""
        inner = self.kernel.combination(self.prepare(Z), C)
        return lambda X: inner(self.prepare(X))

    def log(self, X: Rows, Z: Rows) -> Array | None:
        """log k(t(x), t(z)) where the kernel knows it."""
        return self.kernel.log(self.prepare(X), self.prepare(Z))

    def __sklearn_clone__(self) -> Any:
        """A copy with a kernel of its own, which shares the fitted transformation."""
        return replace(self, kernel=clone(self.kernel))

    def _value(self, X: Rows, Z: Rows) -> Array:
        prepared = self.prepare(X)
        return self.kernel(prepared, prepared if Z is X else self.prepare(Z))

    def _diag(self, X: Rows) -> Array:
        return self.kernel.diag(self.prepare(X))
