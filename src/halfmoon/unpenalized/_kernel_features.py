r"""Unpenalized features of a kernel, k(x, Z) C: eigenfunctions, and random draws.

Z are all rows, or landmarks among them, and C follows from the kernel and the rows.

**Eigenfunctions, the hard threshold.** With K = k(X, X) = U diag(s) U', s decreasing,
over all n rows, labeled or not,

.. math:: f_i(x) = \sqrt n \, k(x, X) u_i / s_i, \quad i = 1, ..., k                (1)

At the rows the values are :math:`\sqrt n \, u_i`, so over the rows the mean of
:math:`f_i f_j` is 1 for i = j and 0 otherwise. Landmarks Z approximate the kernel by
k(x, Z) K_ZZ^-1 k(Z, z) = G G' with G = k(x, Z) R^-1 and K_ZZ = R'R. Equation (1) for
this kernel, over all rows, is

.. math:: G'G = V diag(s) V', \quad
          f_i(x) = \sqrt n \, k(x, Z) R^{-1} v_i / \sqrt{s_i}                       (2)

where G'G is a sum over row blocks. O(n p^2) time, O(p^2) memory.

**Draws of the Gaussian process, the soft threshold.** A draw of the process with
covariance k at rows Z is g = R'z with K = k(Z, Z) = R'R and z standard normal.
Elsewhere, the function of least norm with these values is

.. math:: f(x) = k(x, Z) K^{-1} g = k(x, Z) R^{-1} z                                (3)

with covariance k(x, Z) K^-1 k(Z, x'), which is k itself if x or x' is one of the rows
Z. For a singular K = U diag(s) U', R^-1 is :math:`U diag(s)^{-1/2}` over the s above
rounding. The more variance a mode of the kernel carries, the more of it is in the span
of k draws.

Takhanov, Assylbekov, "Conditional KRR", 2026, sections 5.1, 5.2 and H.2.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import scipy.linalg as sla

from halfmoon._landmarks.methods import select_landmarks
from halfmoon._rows import EPS, Array, Rows, as_table
from halfmoon._whitening import whitening
from halfmoon.blocks import Stream
from halfmoon.kernels import Gaussian, Kernel
from halfmoon.unpenalized._base import Unpenalized

__all__ = [
    "MAX_EXACT_ROWS",
    "Eigenfunctions",
    "Expansion",
    "GaussianDraws",
    "KernelFeatures",
]

MAX_EXACT_ROWS = 3_000  # with more rows, landmarks: no larger square matrix
MIN_LANDMARKS = 1_000
LANDMARKS_PER_FEATURE = 4  # so that the last features are accurate too

SUBSET_FACTOR = 4  # for n / 4 eigenvectors or fewer, a partial decomposition is faster


@dataclass(frozen=True, eq=False)
class Expansion:
    """The functions x -> k(x, Z) C."""

    kernel: Kernel
    rows: Rows  # (p, d), Z
    weights: Array  # (p, k), C

    def __call__(self, X: Rows) -> Array:  # (b, k)
        """Return the values at any rows, holding few rows of k(X, Z) at a time."""
        return Stream.inherited().map(
            self.kernel.combination(self.rows, self.weights),
            X,
            row_bytes=self.kernel.row_bytes(self.rows.shape[0]) + 8 * X.shape[1],
        )


@dataclass(eq=False, repr=False)
class KernelFeatures(Unpenalized):
    """Base class of features k(x, Z) C of a kernel."""

    k: int | Sequence[int]
    kernel: Kernel | None = None
    constant: bool = True
    n_components: int | None = None

    _name: ClassVar[str]

    def fit(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        """Find the functions from the kernel and the rows."""
        rng = np.random.default_rng(rng)
        X, k = as_table(X), _checked_count(self.k)
        self.kernel_ = _resolved(self.kernel, X, rng)
        Z = self._select_rows(X, k, rng)
        weights = self._weights(X, Z, k, rng)
        self.k_ = weights.shape[1]
        self.expansion_ = Expansion(self.kernel_, Z, weights)
        self._set_names([f"{self._name} {i}" for i in range(1, self.k_ + 1)])
        return self

    def transform(self, X: Rows) -> Array:
        """Return the values, shape (b, k), after a constant if there is one."""
        return self._after_constant(self.expansion_(as_table(X)))

    @abstractmethod
    def _weights(self, X: Rows, Z: Rows, k: int, rng: np.random.Generator) -> Array:
        """Return C, shape (p, k), or fewer columns by `_capped`."""

    def _select_rows(self, X: Rows, k: int, rng: np.random.Generator) -> Rows:
        """Return Z: X itself, or landmarks if it has too many rows."""
        p = self.n_components
        if p is None and X.shape[0] > MAX_EXACT_ROWS:
            p = min(max(MIN_LANDMARKS, LANDMARKS_PER_FEATURE * k), MAX_EXACT_ROWS)
        return select_landmarks(X, p, "rpcholesky", kernel=self.kernel_, rng=rng)

    def _capped(self, k: int, rank: int, n: int, p: int) -> int:
        """Return k, or the numerical rank with a warning if k is larger.

        Directions beyond the rank are rounding noise: k(x, Z) u / s divides by what
        should be 0.
        """
        if k <= rank:
            return k
        where = f"{n} rows" if p == n else f"{n} rows seen through {p} landmarks"
        warnings.warn(
            f"k is {k}, but {self.kernel_!r} has numerical rank {rank} on the {where}: "
            f"k is capped at {rank}. Ask for no more than that, or use a kernel with a "
            f"slower spectrum: a shorter length scale, or a less smooth one.",
            stacklevel=4,
        )
        return rank


def _checked_count(k: Any) -> int:
    if isinstance(k, (Sequence, np.ndarray)) and not isinstance(k, str):
        raise ValueError(
            f"k is {k!r}, several numbers of features, among which an estimator "
            f"chooses by K-fold cross-validation. One whole number is needed here: "
            f"give the sequence to an estimator, or try each number yourself."
        )
    if isinstance(k, (bool, np.bool_)) or not isinstance(k, Integral) or k < 0:
        raise ValueError(f"k is {k!r}; a whole number, 0 or more, is needed.")
    return int(k)


def _resolved(kernel: Kernel | None, X: Rows, rng: np.random.Generator) -> Kernel:
    kernel = (Gaussian() if kernel is None else kernel).resolve(X, rng)
    if kernel.conditional_degree >= 0:
        raise ValueError(
            f"{kernel!r} is only conditionally positive definite (degree "
            f"{kernel.conditional_degree}), so it is no covariance and has no falling "
            f"spectrum. Use a positive definite kernel for these features; the "
            f"penalized part may use this one, together with Polynomials."
        )
    return kernel


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
        s, U = np.linalg.eigh(K)
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
    s, V = _above_rounding(*np.linalg.eigh(total), X.shape[0])
    return s, root.unwhiten(V) / np.sqrt(s)


def _above_rounding(s: Array, U: Array, n: int) -> tuple[Array, Array]:
    """Reverse an eigendecomposition with increasing s and drop what is rounding."""
    above = s > EPS * n * max(s[-1], 0.0)
    return s[above][::-1], U[:, above][:, ::-1]


@dataclass(eq=False, repr=False)
class GaussianDraws(KernelFeatures):
    """k independent draws (3) of the Gaussian process with covariance k.

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
