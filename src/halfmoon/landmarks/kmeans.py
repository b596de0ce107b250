"""Landmarks by k-means++ seeding: rows far from those already chosen.

Each next row is drawn with probability proportional to its squared distance to the
nearest row chosen before; scikit-learn keeps the best of a few draws. Arthur and
Vassilvitskii, "k-means++: the advantages of careful seeding", 2007.
"""

from __future__ import annotations

import numpy as np
from sklearn.cluster import kmeans_plusplus

from halfmoon.kernels.distances import squared_distances
from halfmoon.landmarks.checks import as_count
from halfmoon.rows import Indices, Rows, as_rows, as_table

__all__ = ["kmeans"]


def kmeans(
    X: Rows,  # (n, d)
    n_components: int,
    rng: np.random.Generator | int | None = None,
) -> Indices:  # (r,)
    """Indices of at most p rows, no two of them equal, in the order chosen.

    Distances are Euclidean, whatever the kernel: columns should be of like scale. A
    table with fewer than p different rows gives fewer landmarks. O(n p d log p) time
    and O(n log p + p d) memory, dense also for CSR rows.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Rows that are neither float32 nor float64 are lifted to float64, all at once.
    n_components : int
        p; above n, it is n.
    rng : Generator, int or None

    Examples
    --------
    >>> indices = kmeans([[0.0], [0.0], [5.0], [5.0]], 3, rng=0)
    >>> len(indices)
    2
    """
    X = as_table(X)
    if X.dtype not in (np.float32, np.float64):
        X = as_rows(X)  # kmeans_plusplus would sum integers as integers
    p = as_count(n_components, X.shape[0])
    seed = int(np.random.default_rng(rng).integers(2**31))
    _, indices = kmeans_plusplus(X, p, random_state=seed)
    # Once every row is at distance 0, the seeding goes on with rows it already has.
    Z = as_rows(X[indices])
    equal_to_earlier = np.tril(squared_distances(Z, Z) == 0, -1).any(axis=1)
    return np.asarray(indices, dtype=np.intp)[~equal_to_earlier]
