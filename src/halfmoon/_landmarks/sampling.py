r"""Landmarks by sampling: uniform, by k-means++ or by leverage scores; and all checks.

By k-means++, each next row is drawn with probability proportional to its squared
distance to the nearest row chosen before. scikit-learn keeps the best of a few draws.
Arthur and Vassilvitskii, "k-means++: the advantages of careful seeding", 2007.

A ridge leverage score says how much a row adds that the other rows do not explain:

.. math:: s_i = (K (K + lam I)^{-1})_{ii}
              = (K_{ii} - K_{i:} (K + lam I)^{-1} K_{:i}) / lam                     (1)

They lie in [0, 1] and sum to the effective dimension d(lam). `lam` is added to the
n-by-n matrix, so it is n times the penalty of an averaged loss. With a uniform sample J
of m rows, K is about n/m times the sum of the contributions of J, and (1) becomes

.. math:: s_i ~ (K_{ii} - K_{iJ} (K_{JJ} + (m / n) lam I)^{-1} K_{Ji}) / lam        (2)

which equals (1) if J is all rows. Unlike the scores of the Nystrom matrix, (2) is
large, not 0, for a row that resembles nothing in J. Rudi, Calandriello, Carratino and
Rosasco, "On fast leverage score sampling and optimal learning", 2018.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh
from sklearn import cluster

from halfmoon._rows import EPS, Array, Indices, Rows, as_rows, as_table
from halfmoon._whitening import whitening
from halfmoon.blocks import Stream
from halfmoon.kernels import Kernel
from halfmoon.kernels._length_scales import large_offset, minus, squared_distances

__all__ = [
    "as_count",
    "as_indices",
    "kmeans_plusplus",
    "leverage",
    "refuse_conditional",
    "ridge_leverage_scores",
    "uniform",
]

# d(lam) = p / 4: random draws need a multiple of d rows to resolve d dimensions, and a
# small lam spends the draws on outliers. Compared with 1, 1/2 and 1/10, it left the
# least residual trace, or nearly, on two real tables (benchmarks/landmarks.py).
DIMENSION_SHARE = 0.25
SKETCH_PER_LANDMARK = 2  # rows: d(lam) is then an eighth of the sketch
MIN_SKETCH = 200
BISECTIONS = 60  # of log lam: reaches rounding from any bracket


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
    offset = large_offset(X)
    if offset is not None:
        X = minus(X, offset)
    _, indices = cluster.kmeans_plusplus(X, p, random_state=seed)
    # Once all rows are at distance 0, the seeding repeats rows.
    Z = as_rows(X[indices])
    equal_to_earlier = np.tril(squared_distances(Z, Z) == 0, -1).any(axis=1)
    return np.asarray(indices, dtype=np.intp)[~equal_to_earlier]


def ridge_leverage_scores(
    kernel: Kernel,
    X: Rows,  # (n, d)
    lam: float,
    *,
    indices: Any = None,  # (m,)
) -> Array:  # (n,)
    """Return diag(K (K + lam I)^-1) by eq. (2); exact if the sketch is all rows.

    The rows J of the sketch, `indices`, are assumed to be a uniform sample; None means
    all rows. O(n m^2 + n m d) time; O(n + m^2) memory plus row blocks.

    Examples
    --------
    >>> from halfmoon.kernels import Linear
    >>> ridge_leverage_scores(Linear(), [[1.0, 0.0], [0.0, 2.0]], lam=1.0)
    array([0.5, 0.8])
    """
    refuse_conditional(kernel, "leverage")
    X = as_table(X)
    n = X.shape[0]
    if not 0 < lam < np.inf:
        raise ValueError(f"lam is {lam}; a positive number is needed.")
    J = np.arange(n) if indices is None else as_indices(indices, n)
    Z = X[J]
    m = J.size
    K_JJ = kernel(Z)
    K_JJ[np.diag_indices(m)] += lam * m / n
    root = whitening(K_JJ)

    def unexplained(rows: Rows) -> Array:
        half = root.whiten(kernel(rows, Z))  # squares sum to the last term of (2)
        return kernel.diag(rows) - np.einsum("ij,ij->i", half, half)

    scores = Stream.inherited().map(unexplained, X, row_bytes=16 * (m + X.shape[1]))
    scores /= lam
    return np.clip(scores, 0.0, 1.0, out=scores)


def leverage(
    kernel: Kernel,
    X: Rows,  # (n, d)
    n_components: int,
    rng: np.random.Generator | int | None = None,
) -> Indices:  # (r,)
    """Return indices of p rows drawn without replacement by leverage scores (2).

    The scores come from a uniform sketch of 2 p rows (at least 200, at most n). lam is
    chosen so that the effective dimension, by the eigenvalues of the sketch, is p / 4:
    four random landmarks for each dimension. If the rank of K is smaller, lam is the
    rounding of its largest eigenvalue. Rows of score 0 are never drawn, so there may be
    fewer than p rows.

    O(n p^2 + n p d) time, O(n + p^2) memory.
    """
    refuse_conditional(kernel, "leverage")
    X = as_table(X)
    n = X.shape[0]
    p = as_count(n_components, n)
    rng = np.random.default_rng(rng)
    J = uniform(n, max(SKETCH_PER_LANDMARK * p, MIN_SKETCH), rng)
    eigenvalues = eigvalsh(kernel(X[J])) * (n / J.size)  # about those of K
    if not eigenvalues[-1] > 0:
        return np.empty(0, dtype=np.intp)  # K is 0
    lam = ridge_of_dimension(eigenvalues, DIMENSION_SHARE * p)
    scores = ridge_leverage_scores(kernel, X, lam, indices=J)
    return _draw_without_replacement(scores, p, rng)


def ridge_of_dimension(eigenvalues: Array, dimension: float) -> float:
    """Return lam with sum of s / (s + lam) = dimension, at least rounding of max s."""
    s = eigenvalues[eigenvalues > 0]
    low, high = EPS * s.size * s.max(), max(s.sum() / dimension, s.max())
    for _ in range(BISECTIONS):
        lam = float(np.sqrt(low * high))
        if (s / (s + lam)).sum() > dimension:
            low = lam
        else:
            high = lam
    return lam


def _draw_without_replacement(
    weight: Array,  # (n,)
    size: int,
    rng: np.random.Generator,
) -> Indices:  # (at most size,)
    """Draw rows one after the other, each in proportion to the remaining weights.

    Sorting independent exponential times with rates `weight` gives such draws.
    """
    positive = np.flatnonzero(weight > 0)
    times = rng.exponential(size=positive.size) / weight[positive]
    return positive[np.argsort(times, kind="stable")[:size]]
