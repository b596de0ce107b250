r"""Eigenfunctions of the kernel, unpenalized: the hard threshold.

With K = k(X, X) = U diag(s) U', s decreasing, over all n rows, labeled or not,

.. math:: f_i(x) = \sqrt n \, k(x, X) u_i / s_i, \quad i = 1, ..., k                (1)

At the rows the values are :math:`\sqrt n \, u_i`, so over the rows the mean of
:math:`f_i f_j` is 1 for i = j and 0 otherwise. Takhanov, Assylbekov, "Conditional
KRR", 2026, sections 5.1 and H.2.

**Many rows.** Landmarks Z approximate the kernel by k(x, Z) K_ZZ^-1 k(Z, z) = G G'
with G = k(x, Z) R^-1 and K_ZZ = R'R. Equation (1) for this kernel, over all rows, is

.. math:: G'G = V diag(s) V', \quad
          f_i(x) = \sqrt n \, k(x, Z) R^{-1} v_i / \sqrt{s_i}                       (2)

where G'G is a sum over row blocks. O(n p^2) time, O(p^2) memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg as sla

from halfmoon._rows import EPS, Array, Rows
from halfmoon._whitening import symmetric_eigen, whitening
from halfmoon.blocks import Stream
from halfmoon.kernels import Kernel
from halfmoon.unpenalized._kernel_expansion import KernelFeatures

__all__ = ["Eigenfunctions"]


SUBSET_FACTOR = 4  # for n / 4 eigenvectors or fewer, a partial decomposition is faster


@dataclass(eq=False, repr=False)
class Eigenfunctions(KernelFeatures):
    """The top k eigenfunctions (1) of a kernel over all rows, labeled or not.

    They depend on all rows, so leaving a row out would change them. Closed-form
    leave-one-out ignores that and must not choose k.

    Parameters
    ----------
    k : int or sequence of int
        Number of functions. An estimator chooses among several by cross-validation. k
        is capped at the numerical rank, with a warning.
    kernel : Kernel or None
        None means the kernel of the estimator, or Gaussian() without an estimator.
    constant : bool
        Add the constant 1 as the first column.
    n_components : int or None
        Number of landmarks, chosen by randomly pivoted Cholesky. None means all rows
        up to 3,000 rows; with more rows, 1,000 landmarks or 4 k, the larger, but at
        most 3,000. That is enough for a kernel with a fast spectrum, such as the
        Gaussian; a slow one, such as Laplace, needs more for the same accuracy.

    Attributes
    ----------
    k_ : int
        Number of functions: k, or the numerical rank.
    kernel_ : Kernel
        With its length scale as a number.
    eigenvalues_ : ndarray of shape (k,)
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

    _name = "eigenfunction"

    def _weights(self, X: Rows, Z: Rows, k: int, rng: np.random.Generator) -> Array:
        n, kernel = X.shape[0], self.kernel_
        s, weights = _of_rows(kernel, X, k) if Z is X else _of_landmarks(kernel, X, Z)
        k = self._capped(k, len(s), n, Z.shape[0])
        self.eigenvalues_ = s[:k] / n
        return np.asarray(np.sqrt(n) * weights[:, :k])


def _of_rows(kernel: Kernel, X: Rows, k: int) -> tuple[Array, Array]:
    """Return the decreasing eigenvalues above rounding, and u / s of (1). O(n^3)."""
    K, n = kernel(X), X.shape[0]
    if 0 < k <= n // SUBSET_FACTOR:
        top = [n - k, n - 1]
        s, U = sla.eigh(K, subset_by_index=top, driver="evr", check_finite=False)
    else:
        s, U = symmetric_eigen(K)
    s, U = _above_rounding(s, U, n)
    return s, U / s


def _of_landmarks(kernel: Kernel, X: Rows, Z: Rows) -> tuple[Array, Array]:
    """Return the same by landmarks, with R^-1 v / sqrt(s) of (2). O(n p^2)."""
    root = whitening(kernel(Z))

    def moments(block: Rows) -> Array:
        G = root.whiten(kernel(block, Z))
        return G.T @ G

    row_bytes = 8 * (kernel.temporaries + 2) * Z.shape[0]
    total: Array = Stream.inherited().sum(moments, X, row_bytes=row_bytes)
    s, V = _above_rounding(*symmetric_eigen(total), X.shape[0])
    return s, root.unwhiten(V) / np.sqrt(s)


def _above_rounding(s: Array, U: Array, n: int) -> tuple[Array, Array]:
    """Reverse an eigendecomposition with increasing s and drop what is rounding."""
    above = s > EPS * n * max(s[-1], 0.0)
    return s[above][::-1], U[:, above][:, ::-1]
