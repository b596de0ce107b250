"""Landmarks without the kernel: uniform, or by k-means++; and checks for all methods.

By k-means++, each next row is drawn with probability proportional to its squared
distance to the nearest row chosen before. scikit-learn keeps the best of a few draws.
Arthur and Vassilvitskii, "k-means++: the advantages of careful seeding", 2007.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn import cluster

from halfmoon._rows import Indices, Rows, as_rows, as_table
from halfmoon.kernels import Kernel
from halfmoon.kernels._length_scales import squared_distances

__all__ = ["as_count", "as_indices", "kmeans_plusplus", "refuse_conditional", "uniform"]


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


def uniform(
    n: int,
    n_components: int,
    rng: np.random.Generator | int | None = None,
) -> Indices:  # (p,)
    """Return indices of p of n rows, without replacement, in increasing order.

    Examples
    --------
    >>> uniform(3, 5)
    array([0, 1, 2])
    """
    p = as_count(n_components, n)
    return np.sort(np.random.default_rng(rng).choice(n, p, replace=False))


def kmeans_plusplus(
    X: Rows,  # (n, d)
    n_components: int,
    rng: np.random.Generator | int | None = None,
) -> Indices:  # (r,)
    """Return the indices of at most p distinct rows, in the order chosen.

    Distances are Euclidean for any kernel, so columns should have similar scales. A
    table with fewer than p distinct rows gives fewer landmarks. O(n p d log p) time
    and O(n log p + p d) memory, dense also for CSR rows.

    Examples
    --------
    >>> indices = kmeans_plusplus([[0.0], [0.0], [5.0], [5.0]], 3, rng=0)
    >>> len(indices)
    2
    """
    X = as_table(X)
    if X.dtype not in (np.float32, np.float64):
        X = as_rows(X)  # kmeans_plusplus would sum integers as integers
    p = as_count(n_components, X.shape[0])
    seed = int(np.random.default_rng(rng).integers(2**31))
    _, indices = cluster.kmeans_plusplus(X, p, random_state=seed)
    # Once all rows are at distance 0, the seeding repeats rows.
    Z = as_rows(X[indices])
    equal_to_earlier = np.tril(squared_distances(Z, Z) == 0, -1).any(axis=1)
    return np.asarray(indices, dtype=np.intp)[~equal_to_earlier]
