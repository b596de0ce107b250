"""Ask for near-copies of a row last, since a person gives them the same answer.

Variance reduction assumes that the errors of two labels are independent. Where it takes
much of the labels for noise, a second label of nearly the same row reduces the variance
almost as much as that of another row, so copies would be asked for again and again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import euclidean_distances

from halfmoon._rows import Indices

__all__ = ["copies_last"]

NEAR = 0.02  # of the median distance between rows
SAMPLE_ROWS = 200  # for this median


def copies_last(
    X: Any,  # (n, d), dense or CSR
    picks: Sequence[int] | Indices,
    labeled: NDArray[np.bool_],  # (n,)
) -> list[int]:
    """Return the picks; those near a labeled row or an earlier pick come last.

    O(picks (labeled + picks) d) time.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [1.001], [2.0], [0.001], [3.0]])
    >>> copies_last(X, [4, 1, 2, 3], np.array([True] + [False] * 5))
    [1, 3, 4, 2]
    """
    rows = X[list(picks)]
    some = X[:: max(1, X.shape[0] // SAMPLE_ROWS)]
    near = NEAR * float(np.median(euclidean_distances(rows, some)))
    is_copy = np.zeros(len(picks), dtype=bool)
    if labeled.any():
        is_copy = euclidean_distances(rows, X[labeled]).min(axis=1) < near
    between = euclidean_distances(rows) < near
    for i in range(1, len(picks)):
        is_copy[i] |= bool((between[i, :i] & ~is_copy[:i]).any())
    order = np.argsort(is_copy, kind="stable")
    return [int(picks[i]) for i in order]
