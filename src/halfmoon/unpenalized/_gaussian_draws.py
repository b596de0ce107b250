r"""Draws of the Gaussian process of a kernel, unpenalized: the soft threshold.

A draw of the process with covariance k at rows Z is g = R'z with K = k(Z, Z) = R'R and
z standard normal. Elsewhere, the function of least norm with these values is

.. math:: f(x) = k(x, Z) K^{-1} g = k(x, Z) R^{-1} z                                (1)

with covariance k(x, Z) K^-1 k(Z, x'), which is k itself if x or x' is one of the rows
Z. For a singular K = U diag(s) U', R^-1 is :math:`U diag(s)^{-1/2}` over the s above
rounding. The more variance a mode of the kernel carries, the more of it is in the span
of k draws: Takhanov, Assylbekov, "Conditional KRR", 2026, section 5.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from halfmoon._rows import Array, Rows
from halfmoon._whitening import whitening
from halfmoon.unpenalized._kernel_expansion import KernelFeatures

__all__ = ["GaussianDraws"]


@dataclass(eq=False, repr=False)
class GaussianDraws(KernelFeatures):
    """k independent draws (1) of the Gaussian process with covariance k.

    Parameters
    ----------
    k : int or sequence of int
        Number of draws. An estimator chooses among several by cross-validation. k
        is capped at the numerical rank, with a warning.
    kernel : Kernel or None
        None means the kernel of the estimator, or Gaussian() without an estimator.
    constant : bool
        Add the constant 1 as the first column.
    n_components : int or None
        Number of rows Z at which the process is drawn, chosen by randomly pivoted
        Cholesky. None means all rows up to 3,000 rows; with more rows, 1,000 or 4 k,
        the larger, but at most 3,000.

    Attributes
    ----------
    k_ : int
        Number of draws: k, or the numerical rank.
    kernel_ : Kernel
        With its length scale as a number.
    expansion_ : Expansion
        The rows Z and R^-1 z.

    Examples
    --------
    >>> from halfmoon.kernels import Linear
    >>> draw = GaussianDraws(1, Linear(), constant=False).fit([[1.0], [3.0]], rng=0)
    >>> at_1, at_10 = draw.transform([[1.0], [10.0]]).ravel()  # a line through 0
    >>> float(at_10 / at_1)
    10.0
    """

    _name = "draw"

    def _weights(self, X: Rows, Z: Rows, k: int, rng: np.random.Generator) -> Array:
        root = whitening(self.kernel_(Z))  # O(p^3)
        k = self._capped(k, root.rank, X.shape[0], Z.shape[0])
        return root.unwhiten(rng.standard_normal((root.rank, k)))
