"""Functions made of kernel sections at rows, all of them or landmarks among them.

What eigenfunctions and draws of a Gaussian process have in common: they are
k(x, Z) C for rows Z and a matrix C, found from the kernel and the rows alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from halfmoon.blocks import Stream
from halfmoon.kernels import Gaussian, Kernel
from halfmoon.landmarks import select_landmarks
from halfmoon.rows import Array, Rows

__all__ = ["EXACT_ROWS", "Expansion", "as_dimension", "cap", "resolved", "support"]

EXACT_ROWS = 3_000  # above it landmarks stand for the rows: no larger square matrix
LANDMARKS = 1_000
LANDMARKS_EACH = 4  # for one function asked for, so that the last ones are good too


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
        """Values at any rows, holding few rows of k(X, Z) at a time."""
        return Stream.inherited().map(
            lambda block: self.kernel(block, self.rows) @ self.weights,
            X,
            row_bytes=8 * (self.kernel.temporaries * self.rows.shape[0] + X.shape[1]),
        )


def as_dimension(k: Any) -> int:
    """The number of functions, or an error that says what a sequence is for."""
    if isinstance(k, (Sequence, np.ndarray)) and not isinstance(k, str):
        raise ValueError(
            f"k is {k!r}, several numbers of features, among which an estimator "
            f"chooses by K-fold cross-validation. One whole number is needed here: "
            f"give the sequence to an estimator, or try each number yourself."
        )
    if isinstance(k, (bool, np.bool_)) or not isinstance(k, Integral) or k < 0:
        raise ValueError(f"k is {k!r}; a whole number, 0 or more, is needed.")
    return int(k)


def resolved(kernel: Kernel | None, X: Rows, rng: np.random.Generator) -> Kernel:
    """The kernel with its length scale as a number; Gaussian if None."""
    kernel = (Gaussian() if kernel is None else kernel).resolve(X, rng)
    if kernel.conditional_degree >= 0:
        raise ValueError(
            f"{kernel!r} is only conditionally positive definite (degree "
            f"{kernel.conditional_degree}), so it is no covariance and has no falling "
            f"spectrum. Use a positive definite kernel for these features; the "
            f"penalized part may keep this one, beside Polynomials."
        )
    return kernel


def support(
    kernel: Kernel,
    X: Rows,  # (n, d)
    k: int,
    n_components: int | None,
    rng: np.random.Generator,
) -> Rows:  # (p, d)
    """Rows to build k functions on: X itself, or landmarks where it has too many."""
    n = X.shape[0]
    if n_components is None and n > EXACT_ROWS:
        n_components = min(max(LANDMARKS, LANDMARKS_EACH * k), EXACT_ROWS)
    return select_landmarks(X, n_components, "rpcholesky", kernel=kernel, rng=rng)


def cap(k: int, rank: int, kernel: Kernel, n: int, p: int) -> int:
    """k, or the numerical rank with a warning where k is beyond it.

    A direction beyond it is made of rounding: k(x, Z) u / s divides by what should
    be 0.
    """
    if k <= rank:
        return k
    where = f"{n} rows" if p == n else f"{n} rows seen through {p} landmarks"
    warnings.warn(
        f"k is {k}, but {kernel!r} has numerical rank {rank} on the {where}: k is "
        f"capped at {rank}. Ask for no more than that, or use a kernel with a slower "
        f"spectrum: a shorter length scale, or a less smooth one.",
        stacklevel=3,
    )
    return rank
