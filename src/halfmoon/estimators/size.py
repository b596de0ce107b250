"""Exact or landmarks: how large a basis fits the memory limit.

What a fit will hold at its peak is counted before anything is allocated, in units of
8-byte numbers, for l labeled of n rows and a basis of p functions:

========================================  =========================================
fit                                       numbers
========================================  =========================================
exact kernel, in the dual                 4 l^2: Gram matrix, its factors, a copy
smoothed exact kernel, in the dual        the same + 3 n l: weights on all rows
exact basis with an energy                6 n^2: norm, energy, factors, copies
landmarks, or random features             6 p^2
random features, by ridge, no energy      6 p min(l, p): their norm is no matrix
smoothed landmarks or random features     the same + 3 n p: values at all rows
========================================  =========================================

More landmarks than rows are as many as there are rows.
"""

from __future__ import annotations

import logging
from numbers import Integral
from typing import Any

import numpy as np

from halfmoon.bases import Basis, Exact, Nystrom, RandomFeatures, WithDerivatives
from halfmoon.kernels import Kernel
from halfmoon.memory import format_bytes, parse_bytes

__all__ = ["kernel_basis"]

logger = logging.getLogger("halfmoon")

NUMBER = 8  # bytes
DUAL, PRIMAL, SMOOTHED = 4, 6, 3  # matrices held at once; see the table
MOST_LANDMARKS = 1_000  # of rows in partitions, unless told: work grows as p^2
BASES = ("auto", "exact", "nystrom", "random_features", "derivatives")


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
    """The basis that an estimator's parameters ask for, within the memory limit.

    Parameters
    ----------
    kernel : Kernel
    basis : {"auto", "exact", "nystrom", "random_features", "derivatives"} or Basis
        "auto" is exact where `n_components` and `landmarks` ask for nothing else and
        the memory limit allows it.
    n_components, landmarks : see Nystrom
    n, l : int
        Numbers of rows and of labeled rows.
    in_dual : bool
        A fit with the exact basis needs only the l-by-l matrix.
    smoothed : bool
        The basis will be averaged over all rows.
    by_ridge : bool
        The fit is by ridge, which needs no more of random features than their values
        at the labeled rows, unless there is an energy.
    all_at_hand : bool
        False of rows in partitions, of which a sample is at hand: where there is an
        energy, landmarks take the place of the exact basis.
    memory_limit : int or str
    """
    if isinstance(basis, Basis):
        return basis
    if not isinstance(basis, str) or basis not in BASES:
        raise ValueError(
            f"basis is {basis!r}; one of {', '.join(map(repr, BASES))}, or a basis of "
            f"halfmoon.bases, is needed."
        )
    if basis == "derivatives":
        return WithDerivatives(kernel)
    limit = parse_bytes(memory_limit)
    chosen = n_components is not None or not isinstance(landmarks, str)
    possible = all_at_hand or in_dual
    if possible and (basis == "exact" or (basis == "auto" and not chosen)):
        side = n * l * SMOOTHED if smoothed else 0
        need = NUMBER * (side + DUAL * l * l if in_dual else PRIMAL * n * n)
        if need <= limit:
            return Exact(kernel)
        if basis == "exact" or kernel.conditional_degree >= 0:
            raise MemoryError(
                f"The exact basis of {l:,} labeled among {n:,} rows needs "
                f"{format_bytes(need)}, beyond memory_limit={format_bytes(limit)}. "
                f"Raise memory_limit, or use landmarks: n_components=1000, say, with a "
                f"positive definite kernel."
            )
    by_rows = basis == "random_features" and in_dual and by_ridge
    thin = l if by_rows else None
    p = _largest(limit, n if smoothed else 0, thin)
    if n_components is not None:
        n_components = _whole(n_components)
        if basis != "random_features":
            n_components = min(n_components, n)
        _refuse_large(n_components, p, n if smoothed else 0, thin, limit)
    elif isinstance(landmarks, str):
        n_components = min(p, n)
        if possible:
            logger.info(
                "An exact basis of %d rows does not fit memory_limit=%s: %d landmarks.",
                *(n, format_bytes(limit), n_components),
            )
        else:
            n_components = min(n_components, MOST_LANDMARKS)
            logger.info(
                "Rows in partitions have no exact basis with an energy: %d landmarks.",
                n_components,
            )
        if n_components < 1:
            raise MemoryError(
                f"Not even one landmark for {n:,} rows fits memory_limit="
                f"{format_bytes(limit)}; {format_bytes(NUMBER * SMOOTHED * n)} are "
                f"needed. Raise memory_limit."
            )
    if basis == "random_features":
        return RandomFeatures(kernel, 500 if n_components is None else n_components)
    whole = n_components == n and possible
    if basis == "auto" and whole and isinstance(landmarks, str):
        return Exact(kernel)
    return Nystrom(kernel, n_components, landmarks, memory_limit)


def _largest(limit: int, n_smoothed: int, thin: int | None) -> int:
    """The largest p whose numbers, those of `_numbers`, are within the limit."""
    a, b = float(PRIMAL), float(SMOOTHED * n_smoothed)
    square = int((np.sqrt(b * b + 4 * a * limit / NUMBER) - b) / (2 * a))
    if thin is None:
        return square
    # Beyond l functions there are only l numbers for each.
    return max(square, int(limit / NUMBER / (PRIMAL * thin + b)))


def _numbers(p: int, n_smoothed: int, thin: int | None) -> int:
    """What a fit in p functions holds; `thin` is l where l-by-p is enough."""
    side = p if thin is None else min(thin, p)
    return PRIMAL * p * side + SMOOTHED * n_smoothed * p


def _whole(n_components: Any) -> int:
    if isinstance(n_components, bool) or not isinstance(n_components, Integral):
        raise ValueError(f"n_components is {n_components!r}; 1, 2, ... is needed.")
    return int(n_components)


def _refuse_large(
    p: int, largest: int, n_smoothed: int, thin: int | None, limit: int
) -> None:
    need = NUMBER * _numbers(p, n_smoothed, thin)
    if p > largest and need > limit:
        raise MemoryError(
            f"n_components={p} needs {format_bytes(need)}, beyond memory_limit="
            f"{format_bytes(limit)}; {largest} functions would fit. Lower n_components "
            f"or raise memory_limit."
        )
