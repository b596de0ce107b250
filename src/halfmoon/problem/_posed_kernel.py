r"""The kernel of a posed problem: its basis and its penalty as one kernel.

.. math:: k_Q(x, z) = phi(x)'Q^{-1}phi(z)

Ridge with a basis and a penalty is kernel ridge with this kernel. So a problem with an
energy can be added to other kernels, and combined with any unpenalized features.
Functions without penalty, such as constants on a graph at mu = 0, must be unpenalized.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from halfmoon._rows import Array, Rows
from halfmoon.kernels import Kernel
from halfmoon.problem._posed import Posed

__all__ = ["PosedKernel"]


@dataclass(eq=False, repr=False)
class PosedKernel(Kernel):
    """The kernel phi(x)'Q^-1 phi(z) of a problem posed on a table.

    Parameters
    ----------
    posed : Posed
        Its labels do not affect the kernel.

    Examples
    --------
    With the norm alone, at as many landmarks as rows, it is the kernel itself:

    >>> from halfmoon.bases import Nystrom
    >>> from halfmoon.kernels import Gaussian
    >>> from halfmoon.problem import Problem
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> posed = Problem(Nystrom(Gaussian(1.0), 3)).pose(X, [1.0, np.nan, np.nan])
    >>> bool(np.allclose(PosedKernel(posed)(X), Gaussian(1.0)(X)))
    True
    """

    posed: Posed

    def combination(self, Z: Rows, C: Array) -> Callable[[Rows], Array]:
        """Return x -> phi(x)'theta with theta = Q^-1 phi(Z)'C."""
        theta = self.posed.whitening.unwhiten(self._whitened(Z).T @ C)
        return self.posed.basis.function(theta)

    def row_bytes(self, p: int) -> int:
        """Bytes for the functions of the basis, whitened, and for the values."""
        basis = self.posed.basis
        return basis.row_bytes + 8 * basis.n_components_ + super().row_bytes(p)

    def __sklearn_clone__(self) -> Any:
        """Return a copy that shares the problem."""
        return replace(self)

    def _value(self, X: Rows, Z: Rows) -> Array:
        whitened = self._whitened(X)
        other = whitened if Z is X else self._whitened(Z)
        return np.asarray(whitened @ other.T)

    def _diag(self, X: Rows) -> Array:
        whitened = self._whitened(X)
        return np.einsum("bp,bp->b", whitened, whitened)

    def _whitened(self, X: Rows) -> Array:
        """Return phi in coordinates where Q is the identity, shape (b, r)."""
        return self.posed.whitening.whiten(self.posed.basis.transform(X))
