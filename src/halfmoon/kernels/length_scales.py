"""Length scales from the rows themselves: far enough to see most, or only the nearest.

===========  =========================================  =============================
rule         length scale                               for
===========  =========================================  =============================
"median"     median distance between two rows           a kernel to learn with
"neighbors"  a third of the median distance of a row    a kernel to average with
             to the tenth nearest other one
"local"      three times the median distance of a row   gradients: gaps between rows
             to the third nearest other one, at most    are to be seen
             the median distance between two rows
===========  =========================================  =============================

"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
import scipy.sparse as sp

from halfmoon.kernels.distances import squared_distances
from halfmoon.rows import Array, Rows, as_rows, some_rows

__all__ = ["RULES", "median_distance", "neighbor_distance"]

SAMPLE_ROWS = 1_000  # half a million pairs: the median is then off by 1 or 2 %
NEIGHBOR_ROWS = 200  # whose neighbors are looked for among all rows
NEIGHBOR = 10
SLICE_ENTRIES = 2**20  # distances held at once


def median_distance(
    X: Rows,  # (n, d)
    rng: np.random.Generator | int | None = None,
    *,
    sample_rows: int = SAMPLE_ROWS,
) -> float:
    """Median distance between two rows, over a sample of at most `sample_rows` rows.

    Equal rows do not count: a table in which most rows repeat still has a scale.

    Examples
    --------
    >>> median_distance([[0.0], [3.0], [3.0], [3.0]])
    3.0
    """
    X = as_rows(some_rows(_indexable(X), sample_rows, rng))
    q = squared_distances(X, X)[np.triu_indices(X.shape[0], 1)]
    q = q[q > 0]
    if q.size == 0:
        raise ValueError(
            f"length_scale='median' needs two rows that differ; got n_samples = "
            f"{X.shape[0]}, all equal. Give the length scale as a number."
        )
    return float(np.sqrt(np.median(q)))


def neighbor_distance(
    X: Rows,  # (n, d)
    rng: np.random.Generator | int | None = None,
    *,
    neighbor: int = NEIGHBOR,
) -> float:
    """Median distance of a row to its k-th nearest other row, over 200 of the rows.

    Rows with as many equal ones do not count. Of a table with fewer rows the farthest
    other row is taken.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
    rng : Generator, int or None
    neighbor : int
        k.

    Examples
    --------
    >>> neighbor_distance([[0.0], [1.0], [5.0]], neighbor=1)
    1.0
    """
    X = _indexable(X)
    some = as_rows(some_rows(X, NEIGHBOR_ROWS, rng))
    n = X.shape[0]
    step = max(1, SLICE_ENTRIES // some.shape[0])
    k = min(neighbor, n - 1)
    nearest = np.empty((some.shape[0], 0))
    for start in range(0, n, step):  # the k + 1 nearest so far, the row itself first
        block = as_rows(X[start : start + step])
        q = np.hstack([nearest, squared_distances(some, block)])
        if q.shape[1] > k + 1:
            q = np.partition(q, k, axis=1)[:, : k + 1]
        nearest = cast(Array, q)
    q = nearest.max(axis=1)
    q = q[q > 0]
    return float(np.sqrt(np.median(q))) if q.size else median_distance(X, rng)


def _indexable(X: Rows) -> Rows:
    """Rows that have X[rows]; what is dense is not read yet."""
    return as_rows(X) if sp.issparse(X) else np.asarray(X)


#: What a `length_scale` may be called.
RULES: dict[str, Callable[[Rows, np.random.Generator | int | None], float]] = {
    "median": median_distance,
    # By a third the nearest rows weigh in, and the many at twice their distance, which
    # there are in many columns, do not.
    "neighbors": lambda X, rng: neighbor_distance(X, rng) / 3,
    # In many columns the third row is nearly as far as any: the median is enough then.
    "local": lambda X, rng: min(
        3 * neighbor_distance(X, rng, neighbor=3), median_distance(X, rng)
    ),
}
