"""The median rule: a length scale from the rows themselves."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from halfmoon.kernels.distances import squared_distances
from halfmoon.rows import Rows, as_rows

__all__ = ["median_distance"]

SAMPLE_ROWS = 1_000  # half a million pairs: the median is then off by 1 or 2 %


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
    X = as_rows(X) if sp.issparse(X) else np.asarray(X)  # so that it has X[rows]
    n = X.shape[0]
    if n > sample_rows:
        chosen = np.random.default_rng(rng).choice(n, sample_rows, replace=False)
        X = X[np.sort(chosen)]
    X = as_rows(X)
    q = squared_distances(X, X)[np.triu_indices(X.shape[0], 1)]
    q = q[q > 0]
    if q.size == 0:
        raise ValueError(
            f"length_scale='median' needs two rows that differ; got {X.shape[0]} "
            f"row(s), all equal. Give the length scale as a number."
        )
    return float(np.sqrt(np.median(q)))
