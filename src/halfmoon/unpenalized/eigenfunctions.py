r"""Eigenfunctions of the kernel, unpenalized: the hard threshold.

With K = k(X, X) = U diag(s) U', s falling, over all n rows, labeled or not,

.. math:: f_i(x) = \sqrt n \, k(x, X) u_i / s_i, \quad i = 1, ..., k                (1)

At the rows the values are :math:`\sqrt n \, u_i`, so that over them the mean of
:math:`f_i f_j` is 1 for i = j and else 0. Takhanov, Assylbekov, "Conditional KRR",
2026, sections 5.1 and H.2.

**Many rows.** Landmarks Z stand for the kernel, k(x, Z) K_ZZ^-1 k(Z, z) = G G' with
G = k(x, Z) R^-1 and K_ZZ = R'R, and (1) is that of this kernel, still over all rows:

.. math:: G'G = V diag(s) V', \quad
          f_i(x) = \sqrt n \, k(x, Z) R^{-1} v_i / \sqrt{s_i}                       (2)

where G'G is a sum over blocks of rows. O(n p^2) time, O(p^2) memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.linalg as sla

from halfmoon.blocks import Stream
from halfmoon.eigen import symmetric_eigen
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

__all__ = ["Eigenfunctions"]

EPS = float(np.finfo(np.float64).eps)

FEW = 4  # with n / 4 eigenvectors or fewer, it is quicker not to compute the others


@dataclass(eq=False, repr=False)
class Eigenfunctions(Unpenalized):
    """The top k eigenfunctions (1) of a kernel over all rows, labeled or not.

    They come from the rows, so a row that is left out of the table would change them:
    closed-form leave-one-out, in which the row stays, must not choose k.

    Parameters
    ----------
    k : int or sequence of int
        How many; among several an estimator chooses, by folds. No more than the
        numerical rank are used, with a warning.
    kernel : Kernel or None
        None is the kernel of the estimator that the features are given to, and
        Gaussian() where they are used alone.
    constant : bool
        Add the constant 1, as the first column.
    n_components : int or None
        Number of landmarks that stand for the rows, by randomly pivoted Cholesky.
        None is every row up to 3,000 rows, and beyond them 1,000 landmarks, or 4 k
        if more, but never above 3,000. Enough for a kernel with a fast spectrum, such
        as the Gaussian; a slow one, such as Laplace, needs more for the same digits.

    Attributes
    ----------
    k_ : int
        How many there are: k, or the numerical rank.
    kernel_ : Kernel
        With its length scale as a number.
    eigenvalues_ : ndarray, one for each function
        s / n, which tends to the spectrum of the integral operator as n grows.
    expansion_ : Expansion
        The weights of the kernel sections.

    Examples
    --------
    A linear kernel has as many eigenfunctions as X has independent columns:

    >>> from halfmoon.kernels import Linear
    >>> X = np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> features = Eigenfunctions(2, Linear(), constant=False).fit(X)
    >>> abs(features.transform(X)).round(6)
    array([[1.414214, 0.      ],
           [1.414214, 0.      ],
           [0.      , 1.414214],
           [0.      , 1.414214]])
    >>> features.eigenvalues_
    array([2. , 0.5])
    """

    k: int | Sequence[int]
    kernel: Kernel | None = None
    constant: bool = True
    n_components: int | None = None

    def fit(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        """Decompose the kernel over the rows."""
        rng = np.random.default_rng(rng)
        X, k = as_table(X), as_dimension(self.k)
        n = X.shape[0]
        kernel = resolved(self.kernel, X, rng)
        Z = support(kernel, X, k, self.n_components, rng)
        s, weights = _of_rows(kernel, X, k) if Z is X else _of_landmarks(kernel, X, Z)
        self.k_ = cap(k, len(s), kernel, n, Z.shape[0])
        self.kernel_, self.eigenvalues_ = kernel, s[: self.k_] / n
        self.expansion_ = Expansion(kernel, Z, np.sqrt(n) * weights[:, : self.k_])
        names = [f"eigenfunction {i}" for i in range(1, self.k_ + 1)]
        self.names_ = ["1"] * self.constant + names
        self.degree_ = 0 if self.constant else -1
        return self

    def transform(self, X: Rows) -> Array:
        """Values (1), shape (b, k), after a constant if there is one."""
        return after_constant(self.expansion_(as_table(X)), self.constant)


def _of_rows(kernel: Kernel, X: Rows, k: int) -> tuple[Array, Array]:
    """(1): eigenvalues above rounding, falling, and u / s. O(n^3)."""
    K, n = kernel(X), X.shape[0]
    if 0 < k <= n // FEW:
        top = [n - k, n - 1]
        s, U = sla.eigh(K, subset_by_index=top, driver="evr", check_finite=False)
    else:
        s, U = symmetric_eigen(K)
    s, U = _above_rounding(s, U, n)
    return s, U / s


def _of_landmarks(kernel: Kernel, X: Rows, Z: Rows) -> tuple[Array, Array]:
    """(2): eigenvalues above rounding, falling, and R^-1 v / sqrt(s). O(n p^2)."""
    root = whitening(kernel(Z))

    def moments(block: Rows) -> Array:
        G = root.whiten(kernel(block, Z))
        return G.T @ G

    row_bytes = 8 * (kernel.temporaries + 2) * Z.shape[0]
    total: Array = Stream.inherited().sum(moments, X, row_bytes=row_bytes)
    s, V = _above_rounding(*symmetric_eigen(total), X.shape[0])
    return s, root.unwhiten(V) / np.sqrt(s)


def _above_rounding(s: Array, U: Array, n: int) -> tuple[Array, Array]:
    """What counts of an eigendecomposition with s rising, turned to fall."""
    kept = s > EPS * n * max(s[-1], 0.0)
    return s[kept][::-1], U[:, kept][:, ::-1]
