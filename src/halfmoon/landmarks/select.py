"""Landmarks: the p of n rows that a basis is built on, by any of the methods."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from halfmoon.kernels import Kernel
from halfmoon.landmarks.checks import as_count, as_indices, refuse_conditional
from halfmoon.landmarks.kmeans import kmeans
from halfmoon.landmarks.leverage import leverage
from halfmoon.landmarks.rpcholesky import randomly_pivoted_cholesky
from halfmoon.landmarks.uniform import uniform
from halfmoon.rows import Indices, Rows, as_table, refuse_non_finite

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
    memory_limit: int = 512 * 2**20,
) -> Rows:  # (r, d)
    """Rows Z to build a basis k(., z) on: at most p of the rows of X, or rows given.

    ============== ============================================== ====================
    method         each next row is drawn                         time
    ============== ============================================== ====================
    ``rpcholesky`` by what the rows before leave unexplained      O(n p^2 + n p d)
    ``leverage``   by approximate ridge leverage scores           O(n p^2 + n p d)
    ``kmeans++``   by its distance to the rows before             O(n p d log p)
    ``uniform``    with equal chances                             O(n)
    ============== ============================================== ====================

    The first two use the kernel, which must be positive definite.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Any real dtype, or a memory map; lifted to float64 only in parts.
    n_components : int or None
        p. None, or n and above: all rows, in order. Not used where `method` gives the
        rows or their numbers.
    method : str, or array of whole numbers (p,), or rows (p, d)
        A name in the table; or which rows of X; or the landmarks themselves, dense or
        CSR, which need not be rows of X.
    kernel : Kernel
        Its parameters resolved.
    rng : Generator, int or None
    memory_limit : int
        Bytes. Where the n-by-p factor of ``rpcholesky`` would take more, it runs on a
        uniform sample of as many rows as fit (and no fewer than p).

    Returns
    -------
    ndarray or csr_array of shape (r, d), in the dtype of X
        Fewer than p rows where those explain all others to rounding (``rpcholesky``),
        or where fewer are different (``kmeans++``); never none.

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
        return _given(X, method)
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
    indices = METHODS[method](kernel, X, p, rng, memory_limit)
    if indices.size == 0:  # K is 0: any one row stands for all
        indices = uniform(n, 1, rng)
    return X[indices]


def _given(X: Rows, landmarks: Any) -> Rows:
    """Landmarks that the user names: rows, or numbers of rows of X."""
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
    # The sample is a copy, so its rows count beside those of the factor.
    fit = int(memory_limit / (FLOAT64_BYTES * p + _row_bytes(X)))
    sample = uniform(n, max(fit, p), rng)
    logger.info(
        "The factor of %d rows and %d landmarks takes %d MB, above the limit of %d MB: "
        "landmarks are chosen from a uniform sample of %d rows.",
        *(n, p, FLOAT64_BYTES * n * p // 2**20, memory_limit // 2**20, sample.size),
    )
    return sample[randomly_pivoted_cholesky(kernel, X[sample], p, rng).indices]


def _row_bytes(X: Rows) -> float:
    if sp.issparse(X):
        return X.nnz / X.shape[0] * (X.data.itemsize + X.indices.itemsize)
    return X.shape[1] * X.dtype.itemsize


#: Each takes (kernel, X, p, rng, memory_limit) and returns numbers of rows.
METHODS: dict[str, Callable[[Kernel, Rows, int, np.random.Generator, int], Indices]] = {
    "rpcholesky": _rpcholesky,
    "uniform": lambda kernel, X, p, rng, limit: uniform(X.shape[0], p, rng),
    "kmeans++": lambda kernel, X, p, rng, limit: kmeans(X, p, rng),
    "leverage": lambda kernel, X, p, rng, limit: leverage(kernel, X, p, rng),
}
