"""Distances between rows, and length scales that are read off them.

.. math:: q(x, z) = |x - m|^2 + |z - m|^2 - 2 <x - m, z - m>

for any m; with m the mean of the z the three terms are of the size of the spread of
the rows, so an offset of the whole table costs no digits. CSR rows are not centered:
that would make them dense. Equal rows have distance exactly 0, because the rounding
error of the product is subtracted before clipping at 0. Kernels with a kink at 0
(Laplace, thin plate) need it.

A length scale is a number, or a rule:

===========  ==========================================  ===========================
rule         length scale                                used for
===========  ==========================================  ===========================
"median"     median distance between two rows            kernels to learn with
"neighbors"  a third of the median distance from a row   kernels to average with
             to its tenth nearest neighbor
"local"      three times the median distance from a row  gradients, which must see
             to its third nearest neighbor, at most the  the gaps between rows
             median distance between two rows
===========  ==========================================  ===========================
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal, NoReturn, Self, TypeAlias, cast

import numpy as np
import scipy.sparse as sp

from halfmoon._rows import MAX_ENTRY, Array, Rows, as_rows, inner_products, some_rows

__all__ = [
    "RULES",
    "LengthScale",
    "WithLengthScale",
    "median_distance",
    "median_of_positive",
    "neighbor_distance",
    "of_distances",
    "refuse_equal_samples",
    "squared_distances",
    "squared_norms",
]

CACHED_ENTRIES = 2**16  # half a megabyte: fits in the cache of a core

PAIRED_ROWS = 1_000  # half a million pairs: the median is then off by 1 or 2 %
NEIGHBOR_ROWS = 200  # rows whose neighbors are searched for among all rows
NEIGHBOR = 10
SLICE_ENTRIES = 2**20  # distances held at once


def squared_norms(X: Rows) -> Array:
    """Return the squared length of each row, shape (n,)."""
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


def squared_distances(X: Rows, Z: Rows) -> Array:
    """Return the squared distance of each pair of float64 rows, (n, p), at least 0.

    O(n p d) time, by one matrix product. Temporaries are of the size of X and Z.
    """
    return of_distances(lambda q: q, X, Z)


def of_distances(
    function: Callable[[Array], Any],
    X: Rows,  # (n, d)
    Z: Rows,  # (p, d)
) -> Array:  # (n, p)
    """Return a function of the squared distances, which it overwrites."""
    # A product of d terms is off by about sqrt(d) roundings.
    shrink = 1.0 - (4.0 + np.sqrt(X.shape[1])) * np.finfo(np.float64).eps
    if sp.issparse(X) or sp.issparse(Z):
        q = inner_products(X, Z)
        q *= -2.0
        q += shrink * squared_norms(X)[:, None]
        q += shrink * squared_norms(Z)
        _finish(q, function, 0, X is Z)
        return q
    n, d = X.shape
    m = Z.mean(axis=0)
    # (x, |x|^2, 1) times (-2 z, 1, |z|^2) gives the three terms in one product
    left, right = np.ones((n, d + 2)), np.ones((Z.shape[0], d + 2))
    np.subtract(X, m, out=left[:, :d])
    np.subtract(Z, m, out=right[:, :d])
    left[:, d] = shrink * squared_norms(left[:, :d])
    right[:, d + 1] = shrink * squared_norms(right[:, :d])
    right[:, :d] *= -2.0
    q = np.empty((n, Z.shape[0]))
    # A few rows at a time, so that the function finds them in the cache.
    step = max(1, CACHED_ENTRIES // Z.shape[0])
    for start in range(0, n, step):
        block = q[start : start + step]
        np.matmul(left[start : start + step], right.T, out=block)
        _finish(block, function, start, X is Z)
    return q


def _finish(q: Array, function: Callable[[Array], Any], start: int, same: bool) -> None:
    np.maximum(q, 0.0, out=q)
    if same:
        np.fill_diagonal(q[:, start:], 0.0)
    function(q)


#: Estimators choose among several numbers, or among those that "auto" stands for.
LengthScale: TypeAlias = (
    float | Sequence[float] | Literal["median", "neighbors", "local", "auto"]
)


def median_distance(
    X: Rows,  # (n, d)
    rng: np.random.Generator | int | None = None,
    *,
    sample_rows: int = PAIRED_ROWS,
) -> float:
    """Return the median distance between two rows, from a sample of the rows.

    Pairs of equal rows are ignored, so a table of mostly repeated rows has a scale too.

    Examples
    --------
    >>> median_distance([[0.0], [3.0], [3.0], [3.0]])
    3.0
    """
    X = as_rows(some_rows(_indexable(X), sample_rows, rng))
    q = squared_distances(X, X)[np.triu_indices(X.shape[0], 1)]
    scale = float(np.sqrt(median_of_positive(q)))
    return scale if scale > 0 else refuse_equal_samples(X.shape[0])


def median_of_positive(distances: Array) -> float:
    """Return the median of the distances above 0, or 0 if there are none."""
    positive = distances[distances > 0]
    return float(np.median(positive)) if positive.size else 0.0


def refuse_equal_samples(n: int) -> NoReturn:
    """Raise the error of the median rule for n equal rows."""
    raise ValueError(
        f"length_scale='median' needs two rows that differ; got n_samples = {n}, all "
        f"equal. Give the length scale as a number."
    )


def neighbor_distance(
    X: Rows,  # (n, d)
    rng: np.random.Generator | int | None = None,
    *,
    neighbor: int = NEIGHBOR,
) -> float:
    """Return the median distance from a row to its k-th nearest neighbor.

    The median is over 200 rows. Rows with k or more equal copies are ignored. A table
    with fewer than k + 1 rows uses the farthest one.

    Examples
    --------
    >>> neighbor_distance([[0.0], [1.0], [5.0]], neighbor=1)
    1.0
    """
    X = _indexable(X)
    sample = as_rows(some_rows(X, NEIGHBOR_ROWS, rng))
    n = X.shape[0]
    step = max(1, SLICE_ENTRIES // sample.shape[0])
    k = min(neighbor, n - 1)
    nearest = np.empty((sample.shape[0], 0))
    for start in range(0, n, step):  # the k + 1 nearest so far, the row itself first
        block = as_rows(X[start : start + step])
        q = np.hstack([nearest, squared_distances(sample, block)])
        if q.shape[1] > k + 1:
            q = np.partition(q, k, axis=1)[:, : k + 1]
        nearest = cast(Array, q)
    q = nearest.max(axis=1)
    q = q[q > 0]
    return float(np.sqrt(np.median(q))) if q.size else median_distance(X, rng)


def _indexable(X: Rows) -> Rows:
    """Return rows that can be indexed; a memory map is not read."""
    return as_rows(X) if sp.issparse(X) else np.asarray(X)


#: The rules by name.
RULES: dict[str, Callable[[Rows, np.random.Generator | int | None], float]] = {
    "median": median_distance,
    # With a third, the nearest rows count, and the many rows at twice their distance,
    # which a table of many columns has, do not.
    "neighbors": lambda X, rng: neighbor_distance(X, rng) / 3,
    # With many columns the third neighbor is nearly as far as any row.
    "local": lambda X, rng: min(
        3 * neighbor_distance(X, rng, neighbor=3), median_distance(X, rng)
    ),
}


class WithLengthScale:
    """A kernel with a parameter `length_scale`: a number, or the name of a rule."""

    length_scale: LengthScale

    @property
    def width(self) -> float:
        """The length scale as a checked number."""
        if isinstance(self.length_scale, str):
            self._check_rule()
            raise ValueError(
                f"length_scale={self.length_scale!r} is not a number yet: call "
                f"kernel.resolve(X) with the rows it should come from, or give a "
                f"number."
            )
        if np.ndim(self.length_scale):
            raise ValueError(
                f"length_scale is {self.length_scale!r}; one number is needed here. "
                f"Estimators choose among several."
            )
        width = cast(float, self.length_scale)
        if not 0 < width < np.inf:
            raise ValueError(f"length_scale is {width}; a positive number is needed.")
        if not 1 / MAX_ENTRY < width < MAX_ENTRY:
            raise ValueError(
                f"length_scale is {width}, and powers of it leave the range of "
                f"floating-point numbers. Rescale the columns of X."
            )
        return float(width)

    def resolve(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        """Return the kernel with the rule replaced by a number from these rows."""
        if not isinstance(self.length_scale, str):
            return self
        self._check_rule()
        return replace(cast(Any, self), length_scale=RULES[self.length_scale](X, rng))

    def _check_rule(self) -> None:
        if self.length_scale not in RULES:
            raise ValueError(
                f"length_scale is {self.length_scale!r}; a positive number, or one of "
                f"{', '.join(map(repr, RULES))}, is needed."
            )
