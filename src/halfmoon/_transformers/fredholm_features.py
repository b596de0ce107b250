r"""Fredholm features: a basis averaged over all rows.

.. math:: phi_F(x) = \sum_j a_j(x) \, R^{-T} h(Z, x_j), \quad R'R = h(Z, Z)

so that :math:`phi_F(x)'phi_F(z)` is the Fredholm kernel
:math:`\sum_{ij} a_i(x) h(x_i, x_j) a_j(z)` with h replaced by its Nystrom
approximation; with every row a landmark it is that kernel itself. Que, Belkin, Wang,
"Learning with Fredholm kernels", 2014, equations 2 and 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import scipy.sparse as sp

from halfmoon._landmarks.simple_methods import as_count
from halfmoon._memory import MEMORY_LIMIT
from halfmoon._random_state import as_generator
from halfmoon._rows import Rows
from halfmoon._transformers.base import KernelTransformer, rows_kernel
from halfmoon.bases import Nystrom, Smoothed
from halfmoon.smoothers import KernelWeights, Smoother

__all__ = ["FredholmFeatures"]


@dataclass(eq=False, repr=False)
class FredholmFeatures(KernelTransformer):
    """Features whose inner products are the Fredholm kernel of the fitted rows.

    The average removes directions in which nearby rows differ. So features fitted on
    many rows, labeled or unlabeled, are less noisy than those of the inner kernel.
    Fitting takes O(n p^2 + p^3) time and keeps n-by-p numbers; transforming takes
    O(n (p + d)) time for each row with kernel weights.

    Parameters
    ----------
    kernel : Kernel, str or callable
        The outer kernel k, which gives the weights a; it need not be positive definite.
    inner_kernel : Kernel, str or callable
        The inner kernel h.
    normalize : bool
        a_j(x) = k(x, x_j) / sum_m k(x, x_m); if False, k(x, x_j) / n.
    smoother : Smoother or None
        `Neighbors` or `Diffusion` of `halfmoon.smoothers`, in place of the weights by
        `kernel` and `normalize`.
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
    smoother_ : Smoother
        Fitted; with kernel weights, its ``kernel_`` has its length scale as a number.
    inner_kernel_ : Kernel
    rank_ : int
        Number of features: the numerical rank of h at the landmarks.

    Examples
    --------
    >>> from halfmoon.kernels import Gaussian
    >>> X = [[0.0], [0.1], [5.0], [5.1]]
    >>> features = FredholmFeatures(Gaussian(1.0), Gaussian(1.0)).fit(X)
    >>> Phi = features.transform([[-0.5], [0.6], [4.0]])
    >>> (Phi @ Phi.T).round(2)
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """

    kernel: Any = "gaussian"
    inner_kernel: Any = "gaussian"
    normalize: bool = True
    smoother: Any = None
    n_components: int | None = 100
    landmarks: Any = "rpcholesky"
    memory_limit: int | str = MEMORY_LIMIT
    random_state: Any = None

    def _build(self, X: Rows) -> None:
        n, p = X.shape[0], self._count(X.shape[0])
        self._refuse_large(
            16 * n * p,  # the values, and the row blocks that they are stacked from
            f"Values of {p} functions at {n} rows take",
            "Lower n_components, or fit on fewer rows",
        )
        inner = self._landmark_basis(self.inner_kernel, self.n_components)
        basis = Smoothed(inner, self._smoother())
        self.basis_ = basis.fit(X, as_generator(self.random_state))
        self._whiten_basis()
        sections = cast(Nystrom, basis.basis_).sections
        self.inner_kernel_, self.landmarks_ = sections
        self.smoother_ = basis.smoother_

    def _smoother(self) -> Smoother:
        if self.smoother is None:
            return KernelWeights(rows_kernel(self.kernel), self.normalize)
        if not isinstance(self.smoother, Smoother):
            raise ValueError(
                f"smoother is {self.smoother!r}; None, or a smoother such as "
                f"halfmoon.smoothers.Neighbors(10), is needed."
            )
        return self.smoother

    def _count(self, n: int) -> int:
        """Return the number of landmarks, before they are chosen."""
        given = self.landmarks
        if not isinstance(given, str):
            return int(given.shape[0]) if sp.issparse(given) else len(given)
        p = self.n_components
        return n if p is None else as_count(p, n)
