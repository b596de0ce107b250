r"""Draws of the Gaussian process of a kernel, unpenalized: the soft threshold.

A draw of the process with covariance k at rows Z is g = R'z with K = k(Z, Z) = R'R and
z standard normal, and beyond them the function of least norm with these values is

.. math:: f(x) = k(x, Z) K^{-1} g = k(x, Z) R^{-1} z                                (1)

with covariance k(x, Z) K^-1 k(Z, x'), which is k itself where x or x' is one of the
rows Z. For a singular K, R^-1 is :math:`U diag(s)^{-1/2}` over what is above rounding
of K = U diag(s) U'. A mode of the kernel is in the span of k draws the more, the more
of the variance it carries: Takhanov, Assylbekov, "Conditional KRR", 2026, section 5.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from halfmoon.kernels import Kernel
from halfmoon.rows import Array, Rows, as_table
from halfmoon.unpenalized.base import Unpenalized, after_constant
from halfmoon.unpenalized.support import (
    Expansion,
    as_dimension,
    cap,
    resolved,
    support,
)
from halfmoon.whitening import whitening

__all__ = ["GaussianDraws"]


@dataclass(eq=False, repr=False)
class GaussianDraws(Unpenalized):
    """k independent draws (1) of the Gaussian process with covariance k.

    Parameters
    ----------
    k : int or sequence of int
        How many; among several an estimator chooses, by folds. No more than the
        numerical rank are drawn, with a warning.
    kernel : Kernel or None
        None is the kernel of the estimator that the features are given to, and
        Gaussian() where they are used alone.
    constant : bool
        Add the constant 1, as the first column.
    n_components : int or None
        Number of rows Z at which the process is drawn, chosen by randomly pivoted
        Cholesky. None is every row up to 3,000 rows, and beyond them 1,000, or 4 k if
        more, but never above 3,000.

    Attributes
    ----------
    k_ : int
        How many there are: k, or the numerical rank.
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

    k: int | Sequence[int]
    kernel: Kernel | None = None
    constant: bool = True
    n_components: int | None = None

    def fit(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        """Draw the functions. O(p^3) for p rows Z."""
        rng = np.random.default_rng(rng)
        X, k = as_table(X), as_dimension(self.k)
        kernel = resolved(self.kernel, X, rng)
        Z = support(kernel, X, k, self.n_components, rng)
        root = whitening(kernel(Z))
        self.k_ = cap(k, root.rank, kernel, X.shape[0], Z.shape[0])
        normal = rng.standard_normal((root.rank, self.k_))
        self.kernel_ = kernel
        self.expansion_ = Expansion(kernel, Z, root.unwhiten(normal))
        names = [f"draw {i}" for i in range(1, self.k_ + 1)]
        self.names_ = ["1"] * self.constant + names
        self.degree_ = 0 if self.constant else -1
        return self

    def transform(self, X: Rows) -> Array:
        """Values (1), shape (b, k), after a constant if there is one."""
        return after_constant(self.expansion_(as_table(X)), self.constant)
