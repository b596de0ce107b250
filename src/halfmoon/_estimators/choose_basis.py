"""Choose the basis: exact if it fits in the memory limit, else landmarks.

The peak memory of a fit is counted before anything is allocated, in 8-byte numbers, for
l labeled of n rows and a basis of p functions:

========================================  =========================================
fit                                       numbers
========================================  =========================================
exact kernel, in the dual                 4 l^2: Gram matrix, its factors, a copy
smoothed exact kernel, in the dual        the same + 3 n l: weights of all rows
exact basis with an energy                6 n^2: norm, energy, factors, copies
landmarks, or random features             6 p^2
random features, by ridge, no energy      6 p min(l, p): their norm needs no matrix
smoothed landmarks or random features     the same + 3 n p: values at all rows
========================================  =========================================

The number of landmarks is at most the number of rows.
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from halfmoon._memory import format_bytes, parse_bytes
from halfmoon.bases import Basis, Exact, Nystrom, RandomFeatures, WithDerivatives
from halfmoon.kernels import Kernel
from halfmoon.problem._solve_ridge import DUAL_MATRICES

__all__ = ["kernel_basis"]

logger = logging.getLogger("halfmoon")

NUMBER_BYTES = 8
PRIMAL, SMOOTHED = 6, 3  # matrices held at once; see the table
MAX_PARTITIONED_LANDMARKS = 1_000  # by default: work grows as p^2


def kernel_basis(
    kernel: Kernel,
    basis: Any,
    n_components: int | None,
    landmarks: Any,
    *,
    n: int,
    l: int,
    in_dual: bool,
    smoothed: bool = False,
    by_ridge: bool = False,
    all_at_hand: bool = True,
    memory_limit: int | str,
) -> Basis:
    """Return the basis that the parameters ask for, within the memory limit.

    Parameters
    ----------
    kernel : Kernel
    basis : {"auto", "exact", "nystrom", "random_features", "derivatives"} or Basis
        "auto" is exact if `n_components` and `landmarks` have their defaults and the
        memory limit allows it.
    n_components, landmarks : see Nystrom
    n, l : int
        Numbers of rows and of labeled rows.
    in_dual : bool
        Whether a fit with the exact basis needs only the l-by-l matrix.
    smoothed : bool
        Whether the basis will be averaged over all rows.
    by_ridge : bool
        Whether the fit is by ridge. Without an energy it then needs random features
        only at the labeled rows.
    all_at_hand : bool
        False if rows are in partitions and only a sample is in memory. With an energy,
        landmarks then replace the exact basis.
    memory_limit : int or str
    """
    if isinstance(basis, Basis):
        return basis
    if basis == "derivatives":
        return WithDerivatives(kernel)
    limit = parse_bytes(memory_limit)
    by_default = n_components is None and isinstance(landmarks, str)
    possible = all_at_hand or in_dual
    if possible and (basis == "exact" or (basis == "auto" and by_default)):
        weights = n * l * SMOOTHED if smoothed else 0
        need = NUMBER_BYTES * (
            weights + DUAL_MATRICES * l * l if in_dual else PRIMAL * n * n
        )
        if need <= limit:
            return Exact(kernel)
        if basis == "exact" or kernel.conditional_degree >= 0:
            raise MemoryError(
                f"The exact basis of {l:,} labeled among {n:,} rows needs "
                f"{format_bytes(need)}, beyond memory_limit={format_bytes(limit)}. "
                f"Raise memory_limit, or use a positive definite kernel and landmarks, "
                f"such as n_components=1000."
            )
    by_rows = basis == "random_features" and in_dual and by_ridge
    thin = l if by_rows else None
    n_smoothed = n if smoothed else 0
    p = _largest(limit, n_smoothed, thin)
    if n_components is not None:
        if basis != "random_features":
            n_components = min(n_components, n)
        need = NUMBER_BYTES * _numbers(n_components, n_smoothed, thin)
        if n_components > p and need > limit:
            raise MemoryError(
                f"n_components={n_components} needs {format_bytes(need)}, beyond "
                f"memory_limit={format_bytes(limit)}; {p} functions would fit. Lower "
                f"n_components or raise memory_limit."
            )
    elif isinstance(landmarks, str):
        n_components = min(p, n)
        if possible:
            logger.info(
                "An exact basis of %d rows does not fit memory_limit=%s: %d landmarks.",
                *(n, format_bytes(limit), n_components),
            )
        else:
            n_components = min(n_components, MAX_PARTITIONED_LANDMARKS)
            logger.info(
                "Rows in partitions have no exact basis with an energy: %d landmarks.",
                n_components,
            )
        if n_components < 1:
            raise MemoryError(
                f"Not even one landmark for {n:,} rows fits memory_limit="
                f"{format_bytes(limit)}; {format_bytes(NUMBER_BYTES * SMOOTHED * n)} "
                f"are needed. Raise memory_limit."
            )
    if basis == "random_features":
        return RandomFeatures(kernel, 500 if n_components is None else n_components)
    whole = n_components == n and possible
    if basis == "auto" and whole and isinstance(landmarks, str):
        return Exact(kernel)
    return Nystrom(kernel, n_components, landmarks, memory_limit)


def _largest(limit: int, n_smoothed: int, thin: int | None) -> int:
    """Return the largest p for which `_numbers` is within the limit."""
    a, b = float(PRIMAL), float(SMOOTHED * n_smoothed)
    square = int((np.sqrt(b * b + 4 * a * limit / NUMBER_BYTES) - b) / (2 * a))
    if thin is None:
        return square
    # From l functions on, each needs only l numbers.
    return max(square, int(limit / NUMBER_BYTES / (PRIMAL * thin + b)))


def _numbers(p: int, n_smoothed: int, thin: int | None) -> int:
    """Return how many numbers a fit holds; `thin` is l if l-by-p is enough."""
    side = p if thin is None else min(thin, p)
    return PRIMAL * p * side + SMOOTHED * n_smoothed * p
