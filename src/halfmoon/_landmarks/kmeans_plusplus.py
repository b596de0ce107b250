"""Landmarks by k-means++ seeding: rows far from each other.

Each next row is drawn with probability proportional to its squared distance to the
nearest row chosen before. scikit-learn keeps the best of a few draws. Arthur and
Vassilvitskii, "k-means++: the advantages of careful seeding", 2007.
"""

from __future__ import annotations

import numpy as np
from sklearn import cluster

from halfmoon._landmarks.checks import as_count
from halfmoon._rows import Indices, Rows, as_rows, as_table
from halfmoon.kernels._length_scales import squared_distances

__all__ = ["kmeans_plusplus"]


def kmeans_plusplus(
    X: Rows,  # (n, d)
    n_components: int,
    rng: np.random.Generator | int | None = None,
) -> Indices:  # (r,)
    """Return the indices of at most p distinct rows, in the order chosen.

    Distances are Euclidean for any kernel, so columns should have similar scales. A
    table with fewer than p distinct rows gives fewer landmarks. O(n p d log p) time
    and O(n log p + p d) memory, dense also for CSR rows.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Rows of other types than float32 and float64 are converted to float64.
    n_components : int
        p, at most n.
    rng : Generator, int or None

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
