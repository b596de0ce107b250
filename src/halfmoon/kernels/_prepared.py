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

__all__ = ["Prepared"]


@dataclass(eq=False, repr=False)
class Prepared(Wrapper):
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

    def combination(self, Z: Rows, C: Array) -> Callable[[Rows], Array]:
        inner = self.kernel.combination(self.prepare(Z), C)
        return lambda X: inner(self.prepare(X))

    def log(self, X: Rows, Z: Rows) -> Array | None:
        return self.kernel.log(self.prepare(X), self.prepare(Z))

    def __sklearn_clone__(self) -> Any:
        """Copy the kernel and share the fitted transformation."""
        return replace(self, kernel=clone(self.kernel))

    def _value(self, X: Rows, Z: Rows) -> Array:
        prepared = self.prepare(X)
        return self.kernel(prepared, prepared if Z is X else self.prepare(Z))

    def _diag(self, X: Rows) -> Array:
        return self.kernel.diag(self.prepare(X))
