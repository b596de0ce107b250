"""Features that are combinations of kernel sections: k(x, Z) C.

Eigenfunctions and draws of a Gaussian process have this form. Z are all rows, or
landmarks among them, and the matrix C follows from the kernel and the rows alone.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np

from halfmoon._landmarks import select_landmarks
from halfmoon._rows import Array, Rows, as_table
from halfmoon.blocks import Stream
from halfmoon.kernels import Gaussian, Kernel
from halfmoon.unpenalized._base import Unpenalized

__all__ = ["MAX_EXACT_ROWS", "Expansion", "KernelFeatures"]

MAX_EXACT_ROWS = 3_000  # with more rows, landmarks: no larger square matrix
MIN_LANDMARKS = 1_000
LANDMARKS_PER_FEATURE = 4  # so that the last features are accurate too


@dataclass(frozen=True, eq=False)
class Expansion:
    """The functions x -> k(x, Z) C.

    Attributes
    ----------
    kernel : Kernel
    rows : array or CSR of shape (p, d)
        Z.
    weights : ndarray of shape (p, k)
        C.
    """

    kernel: Kernel
    rows: Rows
    weights: Array

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
