r"""Nystrom features: a kernel as an inner product of p features.

.. math:: phi(x) = R^{-T} k(Z, x), \quad R'R = K_{ZZ}, \quad
          phi(x)'phi(z) = k(x, Z) K_{ZZ}^+ k(Z, z)

The right-hand side equals the kernel if x or z is a landmark, and is never larger on
the diagonal. If every row is a landmark, it equals the kernel at all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from halfmoon._memory import MEMORY_LIMIT
from halfmoon._random_state import as_generator
from halfmoon._rows import Rows
from halfmoon._transformers.base import KernelTransformer

__all__ = ["NystromFeatures"]


@dataclass(eq=False, repr=False)
class NystromFeatures(KernelTransformer):
    """Features whose inner products are the Nystrom approximation of a kernel.

    ``transform(X) @ transform(Z).T`` is about ``kernel(X, Z)``. Fitting takes
    O(n p^2 + p^3) time, transforming O(p^2 + p d) for each row.

    Parameters
    ----------
    kernel : Kernel, str or callable
        An object of `halfmoon.kernels`, its name, or a function of two tables.
    n_components : int or None
        p, the number of landmarks; None, or more than the number of rows, is every row.
    landmarks : {"rpcholesky", "uniform", "kmeans++", "leverage"} or array
        How landmarks are chosen; or their row numbers; or the landmarks themselves.
    memory_limit : int or str
        Memory for fitting and transforming, in addition to tables and features.
    random_state : int, Generator, RandomState or None

    Attributes
    ----------
    landmarks_ : array or CSR of shape (p, d)
    kernel_ : Kernel
        With its length scale as a number.
    rank_ : int
        Number of features: the numerical rank of the kernel at the landmarks.

    Examples
    --------
    >>> from halfmoon.kernels import Gaussian
    >>> X = [[0.0], [1.0], [2.0]]
    >>> Phi = NystromFeatures(Gaussian(1.0)).fit_transform(X)
    >>> (Phi @ Phi.T).round(3)  # exp(-1/2), exp(-2)
    array([[1.   , 0.607, 0.135],
           [0.607, 1.   , 0.607],
           [0.135, 0.607, 1.   ]])
    """

    kernel: Any = "gaussian"
    n_components: int | None = 100
    landmarks: Any = "rpcholesky"
    memory_limit: int | str = MEMORY_LIMIT
    random_state: Any = None

    def _build(self, X: Rows) -> None:
        basis = self._landmark_basis(self.kernel, self.n_components)
        self.basis_ = basis.fit(X, as_generator(self.random_state))
        self._whiten_basis()
        self.kernel_, self.landmarks_ = basis.sections
