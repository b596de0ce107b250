r"""A kernel of transformed rows, as a kernel of the original rows.

.. math:: k'(x, z) = k(t(x), t(z))

with a fitted transformation t, such as scaling, principal components or ranks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from sklearn.base import clone

from halfmoon._rows import Array, Rows
from halfmoon.kernels._base import Kernel, Wrapper

__all__ = ["OfPreparedRows", "Prepared"]


class OfPreparedRows(Wrapper):
    """The kernel k(t(x), t(z)); `prepare` is t."""

    prepare: Callable[[Rows], Rows]

    def combination(self, Z: Rows, C: Array) -> Callable[[Rows], Array]:
        inner = self.kernel.combination(self.prepare(Z), C)
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
