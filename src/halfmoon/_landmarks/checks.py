"""Checks of the arguments for choosing landmarks."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from halfmoon._rows import Indices
from halfmoon.kernels import Kernel

__all__ = ["as_count", "as_indices", "refuse_conditional"]


def as_count(n_components: Any, n: int) -> int:
    """Return the number of landmarks: n_components, or n if that is less."""
    if isinstance(n_components, (bool, np.bool_)) or not isinstance(
        n_components, Integral
    ):
        raise ValueError(
            f"n_components is {n_components!r}; a whole number of landmarks is needed, "
            f"or None for all rows."
        )
    if n_components < 1:
        raise ValueError(
            f"n_components is {n_components}; at least 1 landmark is needed, or None "
            f"for all rows."
        )
    return min(int(n_components), n)


def refuse_conditional(kernel: Kernel, method: str) -> None:
    """Raise a ValueError for a kernel whose residuals are not variances."""
    if kernel.conditional_degree >= 0:
        raise ValueError(
            f"landmarks={method!r} needs a positive definite kernel, and {kernel!r} is "
            f"only conditionally so (degree {kernel.conditional_degree}). Use "
            f"'uniform' or 'kmeans++', which do not need the kernel."
        )


def as_indices(indices: Any, n: int) -> Indices:
    """Return row numbers: distinct integers from 0 to n - 1, at least one."""
    J = np.asarray(indices)
    if J.ndim != 1 or J.dtype.kind not in "iu" or J.size == 0:
        raise ValueError(
            f"landmarks have shape {J.shape} and dtype {J.dtype}; row numbers, a "
            f"one-dimensional array of at least one, or a table of rows is needed. For "
            f"a mask use np.flatnonzero(mask)."
        )
    if J.min() < 0 or J.max() >= n:
        raise ValueError(
            f"landmarks range from row {J.min()} to {J.max()}; numbers from 0 to "
            f"{n - 1} are needed, as there are {n} rows."
        )
    values, counts = np.unique(J, return_counts=True)
    if (counts > 1).any():
        raise ValueError(
            f"landmarks contain row {values[counts > 1][0]} more than once; each is "
            f"needed once. Use np.unique(landmarks)."
        )
    return J.astype(np.intp, copy=False)
