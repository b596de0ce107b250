"""Choice of landmarks, the rows that a basis is built on, by any of the methods."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from halfmoon._landmarks.rpcholesky import randomly_pivoted_cholesky
from halfmoon._landmarks.sampling import (
    as_count,
    as_indices,
    kmeans_plusplus,
    leverage,
    refuse_conditional,
    uniform,
)
from halfmoon._memory import MEMORY_LIMIT, format_bytes, parse_bytes
from halfmoon._rows import Indices, Rows, as_table, refuse_non_finite
from halfmoon.kernels import Kernel

__all__ = ["METHODS", "select_landmarks"]

logger = logging.getLogger(__name__)

FLOAT64_BYTES = 8


def select_landmarks(
    X: Rows,  # (n, d)
    n_components: int | None,
    method: Any = "rpcholesky",
    *,
    kernel: Kernel,
    rng: np.random.Generator | int | None = None,
    memory_limit: int | str = MEMORY_LIMIT,
) -> Rows:  # (r, d)
    """Return rows Z for a basis k(., z): at most p rows of X, or the given rows.

    ============== ============================================== ====================
    method         probability of each next row                   time
    ============== ============================================== ====================
    ``rpcholesky`` its residual, given the rows before            O(n p^2 + n p d)
    ``leverage``   its approximate ridge leverage score           O(n p^2 + n p d)
    ``kmeans++``   its squared distance to the rows before        O(n p d log p)
    ``uniform``    equal                                          O(n)
    ============== ============================================== ====================

    The first two need a positive definite kernel, with resolved parameters. Without a
    name, `method` is row numbers of X, or the landmarks themselves, dense or CSR.
    Otherwise p is `n_components`; None, or n and above, returns all rows in order. A
    memory map is read in blocks. If the n-by-p factor of ``rpcholesky`` needs more than
    `memory_limit`, it uses a uniform sample of as many rows as fit (and at least p).

    There are fewer than p rows, but at least one, if they explain all others to
    rounding (``rpcholesky``), or if fewer rows are distinct (``kmeans++``).

    Examples
    --------
    >>> from halfmoon.kernels import Gaussian
    >>> X = np.arange(10.0).reshape(5, 2)
    >>> select_landmarks(X, 2, [0, 3], kernel=Gaussian(1.0))
    array([[0., 1.],
           [6., 7.]])
    """
    X = as_table(X)
    n = X.shape[0]
    refuse_non_finite(X)
    if not isinstance(method, str):
        return _given_landmarks(X, method)
    if method not in METHODS:
        known = ", ".join(repr(name) for name in METHODS)
        raise ValueError(
            f"landmarks={method!r} is not a method; {known}, an array of row numbers "
            f"or an array of rows is needed."
        )
    if n_components is None:
        return X
    p = as_count(n_components, n)
    if method in ("rpcholesky", "leverage"):
        refuse_conditional(kernel, method)
    if p == n:
        return X
    rng = np.random.default_rng(rng)
    indices = METHODS[method](kernel, X, p, rng, parse_bytes(memory_limit))
    if indices.size == 0:  # K is 0: any row will do
        indices = uniform(n, 1, rng)
    return X[indices]


def _given_landmarks(X: Rows, landmarks: Any) -> Rows:
    """Return landmarks given by the user, as rows or as row numbers of X."""
    if not sp.issparse(landmarks):
        landmarks = np.asarray(landmarks)
        if landmarks.ndim != 2:
            return X[as_indices(landmarks, X.shape[0])]
    Z = as_table(landmarks, name="landmarks")
    if Z.shape[1] != X.shape[1]:
        raise ValueError(
            f"landmarks have {Z.shape[1]} columns and X has {X.shape[1]}; rows with "
            f"the same columns are needed."
        )
    refuse_non_finite(Z, name="landmarks")
    return Z


def _rpcholesky(
    kernel: Kernel, X: Rows, p: int, rng: np.random.Generator, memory_limit: int
) -> Indices:
    n = X.shape[0]
    if FLOAT64_BYTES * n * p <= memory_limit:
        return randomly_pivoted_cholesky(kernel, X, p, rng).indices
    # The sample is a copy, so its rows count in addition to those of the factor.
    fit = int(memory_limit / (FLOAT64_BYTES * p + _row_bytes(X)))
    sample = uniform(n, max(fit, p), rng)
    logger.info(
        "The factor of %d rows and %d landmarks needs %s, more than memory_limit=%s: "
        "landmarks are chosen from a uniform sample of %d rows.",
        n,
        p,
        format_bytes(FLOAT64_BYTES * n * p),
        format_bytes(memory_limit),
        sample.size,
    )
    return sample[randomly_pivoted_cholesky(kernel, X[sample], p, rng).indices]


def _row_bytes(X: Rows) -> float:
    if sp.issparse(X):
        return X.nnz / X.shape[0] * (X.data.itemsize + X.indices.itemsize)
    return X.shape[1] * X.dtype.itemsize


#: Functions of (kernel, X, p, rng, memory_limit) that return row numbers.
METHODS: dict[str, Callable[[Kernel, Rows, int, np.random.Generator, int], Indices]] = {
    "rpcholesky": _rpcholesky,
    "uniform": lambda kernel, X, p, rng, limit: uniform(X.shape[0], p, rng),
    "kmeans++": lambda kernel, X, p, rng, limit: kmeans_plusplus(X, p, rng),
    "leverage": lambda kernel, X, p, rng, limit: leverage(kernel, X, p, rng),
}
