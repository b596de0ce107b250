"""Distances between rows, and length scales that are read off them.

.. math:: q(x, z) = |x - m|^2 + |z - m|^2 - 2 <x - m, z - m>

for any m. The product is off by a few roundings of its largest term, so m is the median
of the z in each column: neither an offset of the whole table nor a few rows far from
all others cost digits. Pairs of rows that are much nearer to each other than to m are
compared column by column instead. So every distance has at least nine correct digits,
and equal rows have distance exactly 0; kernels with a kink at 0 (Laplace, thin plate)
need it. In CSR rows, only columns that are mostly filled have a median other than 0, so
these rows stay sparse.

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

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, NoReturn, Self, TypeAlias, cast

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from halfmoon._rows import (
    MAX_ENTRY,
    Array,
    Rows,
    as_float_rows,
    inner_products,
    some_rows,
)

__all__ = [
    "RULES",
    "DistancesTo",
    "LengthScale",
    "WithLengthScale",
    "large_offset",
    "median_distance",
    "median_of_positive",
    "middle_of",
    "minus",
    "neighbor_distance",
    "of_distances",
    "refuse_equal_samples",
    "squared_distances",
    "squared_norms",
]

CACHED_ENTRIES = 2**16  # half a megabyte: fits in the cache of a core
TILE_ROWS, TILE_COLUMNS = 512, 1024  # of wide rows: 4 MB
WIDE_ENTRIES = 2**21  # fewer are centered all at once
MIDDLE_ROWS = 100  # for the median of each column
LARGE_OFFSET = 100.0  # of a table, relative to the median distance from its middle
NEAR = 1e-5  # squared distance over squared norms, below which five digits are lost
MANY_NEAR = 0.05  # share of near pairs from which comparing all of them is faster

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
    """Return the squared distance of each pair of rows, (n, p), in float64.

    O(n p d) time, by matrix products. Temporaries take 16 MB at most.
    """
    return of_distances(lambda q: q, X, Z)


def of_distances(
    function: Callable[[Array], Array],
    X: Rows,  # (n, d)
    Z: Rows,  # (p, d)
) -> Array:  # (n, p)
    """Return a function of the squared distances, which it may overwrite."""
    values = np.empty((X.shape[0], Z.shape[0]))
    for _, q in DistancesTo(Z).blocks(X, values):
        found = function(q)
        if found is not q:
            q[:] = found
    return values


class DistancesTo:
    """Squared distances of any rows to given rows, dense (of any float dtype) or CSR.

    Wide rows are centered and converted to float64 tile by tile, never all at once.
    """

    def __init__(self, Z: Rows) -> None:
        self.Z = Z
        self._middle = middle_of(Z)
        self._centered: Rows | None = None
        self._factor: Array | None = None
        if sp.issparse(Z):
            self._centered = minus(Z, self._middle)
            self._norms = squared_norms(self._centered)
        elif Z.size > WIDE_ENTRIES:
            self._norms = self._norms_of(Z)
        else:
            # (x, |x|^2, 1) times (-2 z, 1, |z|^2) gives the three terms in one product
            right = self._bordered(Z)
            self._norms = right[:, -2].copy()
            right[:, :-2] *= -2.0
            right[:, -2], right[:, -1] = 1.0, self._norms
            self._factor = right.T

    def blocks(
        self,
        X: Rows,  # (n, d)
        out: Array | None = None,  # (n, p)
    ) -> Iterator[tuple[slice, Array]]:
        """Yield rows and their distances, a few at a time so that they stay in cache.

        They are written into `out`. If it is None, each block overwrites the last one.
        """
        (n, d), p = X.shape, self.Z.shape[0]
        # Operations on CSR or wide rows take so long that the cache is no matter.
        step = TILE_ROWS
        if sp.issparse(X) or sp.issparse(self.Z):
            step = max(1, SLICE_ENTRIES // p)
        elif self._factor is not None:
            step = max(1, min(CACHED_ENTRIES // p, TILE_ROWS * TILE_COLUMNS // d))
        held = np.empty((min(n, step), p)) if out is None else out
        for start in range(0, n, step):
            rows = slice(start, min(start + step, n))
            q = held[: rows.stop - start] if out is None else held[rows]
            some = X[rows]
            norms = self._multiply(some, q)
            if X is self.Z:  # not to be found among near pairs
                np.fill_diagonal(q[:, start:], np.inf)
            self._compare_near_rows(some, norms, q)
            if X is self.Z:
                np.fill_diagonal(q[:, start:], 0.0)
            yield rows, q

    def _multiply(self, X: Rows, q: Array) -> Array:
        """Write the three terms into q. Returns the squared norms of centered X."""
        if self._factor is not None and not sp.issparse(X):
            left = self._bordered(X)
            np.matmul(left, self._factor, out=q)
            return left[:, -2]
        if sp.issparse(X) or sp.issparse(self.Z):
            X = minus(X, self._middle)
            norms = squared_norms(X)
            Z = self._centered if sp.issparse(self.Z) else minus(self.Z, self._middle)
            q[:] = inner_products(X, Z)
        else:
            norms = self._norms_of(X)
            self._multiply_tiles(X, q)
        q *= -2.0
        q += self._norms
        q += norms[:, None]
        return norms

    def _multiply_tiles(self, X: Rows, q: Array) -> None:
        """Write the products of centered rows into q, tile by tile."""
        q[:] = 0.0
        for columns in _slices(X.shape[1], TILE_COLUMNS):
            middle = self._middle[columns]
            for rows in _slices(q.shape[0], TILE_ROWS):
                left = X[rows, columns] - middle
                for others in _slices(q.shape[1], TILE_ROWS):
                    q[rows, others] += left @ (self.Z[others, columns] - middle).T

    def _norms_of(self, X: Rows) -> Array:
        """Return the squared norms of centered dense rows, tile by tile."""
        parts = _slices(X.shape[0], max(1, TILE_ROWS * TILE_COLUMNS // X.shape[1]))
        return np.concatenate([squared_norms(X[some] - self._middle) for some in parts])

    def _bordered(self, X: Rows) -> Array:
        """Return centered dense rows, their squared norms and 1 as columns."""
        n, d = X.shape
        bordered = np.empty((n, d + 2))
        centered = np.subtract(X, self._middle, out=bordered[:, :d])
        bordered[:, d], bordered[:, d + 1] = squared_norms(centered), 1.0
        return bordered

    def _compare_near_rows(self, X: Rows, norms: Array, q: Array) -> None:
        """Compute the distances of near pairs as sums of squared differences."""
        some = np.flatnonzero(q.min(axis=1) < NEAR * (norms + self._norms.max()))
        if some.size == 0:
            return
        near = q[some] < NEAR * norms[some, None] + NEAR * self._norms
        pairs = np.flatnonzero(near)  # far faster than nonzero of a matrix
        Z, sparse = self.Z, sp.issparse(X) or sp.issparse(self.Z)
        wide = Z.size > WIDE_ENTRIES  # cdist would convert all of Z
        if not (sparse or wide) and len(pairs) > MANY_NEAR * q.size:
            q[some] = np.where(near, cdist(X[some], Z, "sqeuclidean"), q[some])
            return
        if sparse:
            X, Z = sp.csr_array(X), sp.csr_array(Z)
        step = max(1, CACHED_ENTRIES // X.shape[1])
        for start in range(0, len(pairs), step):
            i, j = np.divmod(pairs[start : start + step], q.shape[1])
            q[some[i], j] = squared_norms(X[some[i]].astype(np.float64) - Z[j])


def _slices(n: int, step: int) -> list[slice]:
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def large_offset(X: Rows, times: float = LARGE_OFFSET) -> Array | None:  # (d,)
    """Return the middle of the rows if it is many times as large as their spread.

    Products of rows lose digits to such an offset.
    """
    some = _some(X).astype(np.float64)
    middle = middle_of(some)
    spread = np.median(squared_norms(minus(some, middle)))
    return middle if middle @ middle > times**2 * spread else None


def _some(X: Rows) -> Rows:
    return X[:: -(-X.shape[0] // MIDDLE_ROWS)]


def middle_of(Z: Rows) -> Array:  # (d,)
    """Return about the median of each column, from some rows."""
    some = _some(Z)
    half = some.shape[0] // 2
    if not sp.issparse(some):
        parts = (some[:, part] for part in _slices(some.shape[1], TILE_COLUMNS))
        medians = [np.partition(part, half, axis=0)[half] for part in parts]
        return np.concatenate(medians).astype(np.float64)
    middle = np.zeros(some.shape[1])
    filled = np.flatnonzero(np.bincount(some.indices, minlength=len(middle)) > half)
    if filled.size:
        middle[filled] = np.partition(some[:, filled].toarray(), half, axis=0)[half]
    return middle


def minus(X: Rows, middle: Array) -> Rows:
    """Return the rows minus a row. CSR stays CSR, with only its nonzeros filled in."""
    if not sp.issparse(X):
        return X - middle
    filled = np.flatnonzero(middle)
    if filled.size == 0:
        return X
    n, k = X.shape[0], len(filled)
    entries = np.tile(middle[filled], n), np.tile(filled, n), k * np.arange(n + 1)
    return X - sp.csr_array(entries, shape=X.shape)


#: Estimators choose among several numbers, or among those that "auto" stands for.
LengthScale: TypeAlias = (
    float | Sequence[float] | Literal["median", "neighbors", "local", "auto"]
)


def median_distance(
    X: Rows,  # (n, d)
    rng: np.random.Generator | int | None = None,
) -> float:
    """Return the median distance between two rows, from a sample of the rows.

    Pairs of equal rows are ignored, so a table of mostly repeated rows has a scale too.

    Examples
    --------
    >>> median_distance([[0.0], [3.0], [3.0], [3.0]])
    3.0
    """
    X = as_float_rows(some_rows(_indexable(X), PAIRED_ROWS, rng))
    places = np.arange(X.shape[0])
    q = squared_distances(X, X)[places[:, None] < places]  # each pair once
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
    sample = as_float_rows(some_rows(X, NEIGHBOR_ROWS, rng))
    n = X.shape[0]
    step = max(1, SLICE_ENTRIES // sample.shape[0])
    k = min(neighbor, n - 1)
    nearest = np.empty((sample.shape[0], 0))
    for start in range(0, n, step):  # the k + 1 nearest so far, the row itself first
        block = as_float_rows(X[start : start + step])
        q = np.hstack([nearest, squared_distances(sample, block)])
        if q.shape[1] > k + 1:
            q = np.partition(q, k, axis=1)[:, : k + 1]
        nearest = cast(Array, q)
    q = nearest.max(axis=1)
    q = q[q > 0]
    return float(np.sqrt(np.median(q))) if q.size else median_distance(X, rng)


def _indexable(X: Rows) -> Rows:
    """Return rows that can be indexed; a memory map is not read."""
    return as_float_rows(X) if sp.issparse(X) else np.asarray(X)


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
