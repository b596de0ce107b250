"""What a choice of landmarks needs of its arguments, and the errors that say so."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from halfmoon.kernels import Kernel
from halfmoon.rows import Indices

__all__ = ["as_count", "as_indices", "refuse_conditional"]


def as_count(n_components: Any, n: int) -> int:
    """The number of landmarks: n_components, and never more than the n rows."""
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
    """These methods read the residual of K as variances, which must not be negative."""
    if kernel.conditional_degree >= 0:
        raise ValueError(
            f"landmarks={method!r} needs a positive definite kernel, and {kernel!r} is "
            f"only conditionally so (degree {kernel.conditional_degree}). Choose the "
            f"landmarks by 'uniform' or 'kmeans++', which do not use the kernel."
        )


def as_indices(indices: Any, n: int) -> Indices:
    """Numbers of rows: whole, different, from 0 to n - 1, at least one."""
    J = np.asarray(indices)
    if J.ndim != 1 or J.dtype.kind not in "iu" or J.size == 0:
        raise ValueError(
            f"indices have shape {J.shape} and dtype {J.dtype}; a one-dimensional "
            f"array of whole numbers is needed. For a mask take np.flatnonzero(mask)."
        )
    if J.min() < 0 or J.max() >= n:
        raise ValueError(
            f"indices run from {J.min()} to {J.max()}, and there are {n} rows, "
            f"numbered from 0 to {n - 1}."
        )
    values, counts = np.unique(J, return_counts=True)
    if (counts > 1).any():
        raise ValueError(
            f"indices name row {values[counts > 1][0]} more than once; a landmark "
            f"counts once. Take np.unique(indices)."
        )
    return J.astype(np.intp, copy=False)
