r"""Rows that make the labeled rows a small copy of the table, for columns of numbers.

With k a Gaussian kernel, x_1, ..., x_n all rows and S the labeled ones,

.. math:: \Bigl\| \frac{1}{|S|} \sum_{s \in S} k(\cdot, x_s)
          - \frac{1}{n} \sum_j k(\cdot, x_j) \Bigr\|                               (1)

bounds the error of averages over S, instead of over the table, of all functions with
norm 1. Of all rows that may be asked for, the next one reduces (1) most. It has the
largest

.. math:: \frac{1}{n} \sum_j k(x, x_j) - \frac{1}{|S| + 1} \sum_{s \in S} k(x, x_s)  (2)

a row that is like many others, but not like labeled ones. (Chen, Welling and Smola,
"Super-samples from kernel herding", 2010.) It needs no model, so it is as good with ten
labels as with a hundred. Rows by reduction of variance are extremes of the table; with
numbers, models that learn from them are worse than with random rows
(``benchmarks/labeling.py``).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from halfmoon._rows import Indices, Rows
from halfmoon.blocks import Stream
from halfmoon.kernels import Gaussian

__all__ = ["representative_rows"]


def representative_rows(
    X: Rows,  # (n, d)
    count: int,
    labeled: NDArray[np.bool_],  # (n,)
    free: NDArray[np.bool_],  # (n,)
) -> Indices:
    """Return row numbers of the next rows by (2), each as if those before were labeled.

    Columns are scaled to deviation 1, and the length scale is the median distance of
    rows. O(n^2) time; memory for some rows of the kernel matrix only.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
    count : int
        How many rows; there are fewer if fewer are free.
    labeled : ndarray of bool of shape (n,)
    free : ndarray of bool of shape (n,)
        Rows that may be returned.

    Examples
    --------
    A row of the larger group, then one of the smaller:

    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1]])
    >>> none, every = np.zeros(5, dtype=bool), np.ones(5, dtype=bool)
    >>> representative_rows(X, 2, none, every)
    array([2, 3])
    """
    scaled = StandardScaler(with_mean=False).fit_transform(X)
    try:
        kernel = Gaussian().resolve(scaled, np.random.default_rng(0))
    except ValueError:  # all rows are equal
        return np.flatnonzero(free)[:count]
    n = scaled.shape[0]

    def mean_with(others: Rows) -> NDArray[np.float64]:
        """Return the mean of k(x, z) over the rows z, for each x."""
        return Stream.inherited().map(
            lambda rows: kernel(rows, others).mean(axis=1),
            scaled,
            row_bytes=kernel.row_bytes(others.shape[0]),
        )

    typical, like_labeled = mean_with(scaled), np.zeros(n)
    size = int(labeled.sum())
    if size:
        like_labeled = size * mean_with(scaled[labeled])
    free, picks = free.copy(), []
    for _ in range(min(count, int(free.sum()))):
        score = typical - like_labeled / (size + 1)
        pick = int(np.argmax(np.where(free, score, -np.inf)))
        picks.append(pick)
        free[pick] = False
        like_labeled += kernel(scaled, scaled[pick : pick + 1])[:, 0]
        size += 1
    return np.array(picks, dtype=np.intp)
