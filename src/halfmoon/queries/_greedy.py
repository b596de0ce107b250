r"""Greedy picks of rows, without near-duplicates.

The similarity of two rows is the squared correlation r^2 of the function at them. A row
whose r^2 with a pick is above 0.9999 is a duplicate, whose label would say the same.
Duplicates come last, or not at all.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from halfmoon._rows import Array
from halfmoon.queries._pool_covariance import Posterior

__all__ = ["best_rows", "spread_out", "squared_correlation"]

DUPLICATE = 1e-4  # largest 1 - r^2 of rows that count as equal


def squared_correlation(posterior: Posterior) -> Callable[[int], Array]:
    """Return a function from a row to its r^2 with every row, before any pick."""
    covariance, variance = posterior.covariance, posterior.variance

    def column(u: int) -> Array:
        product = variance * variance[u]
        out = np.zeros_like(product)
        return np.divide(covariance.column(u) ** 2, product, out=out, where=product > 0)

    return column


def best_rows(
    similarity: Callable[[int], Array],
    free: NDArray[np.bool_],  # (m,)
    n: int,
    score: Callable[[Array], Array],
    condition: Callable[[int], None] | None = None,
    *,
    groups: NDArray[np.generic] | None = None,  # (m,)
    with_copies: bool = True,
) -> list[int]:
    """Return the n rows with the largest scores, picked one by one.

    Parameters
    ----------
    similarity : callable
        Maps a row to its r^2 with every row, shape (m,).
    free : ndarray of bool of shape (m,)
        Rows that may be picked.
    n : int
    score : callable
        Maps the novelty of each row, 1 minus its largest r^2 with a pick, to the scores
        of all rows, both of shape (m,).
    condition : callable or None
        Updates the scores for a pick.
    groups : ndarray of shape (m,) or None
        Rows of groups without a pick come first.
    with_copies : bool
        Pick duplicates once nothing else is left; else return fewer rows.
    """
    free, novelty = free.copy(), np.ones(len(free))
    missing = np.ones(len(free), dtype=bool)  # the row's group has no pick yet
    picks: list[int] = []
    while len(picks) < n and free.any():
        some = free & (novelty > DUPLICATE)
        if not some.any():
            if not with_copies:
                break
            some = free
        if (some & missing).any():
            some = some & missing
        places = np.flatnonzero(some)
        u = int(places[np.argmax(score(novelty)[places])])
        picks.append(u)
        free[u] = False
        if groups is not None:
            missing &= groups != groups[u]
        if len(picks) < n:
            novelty = np.minimum(novelty, np.maximum(1.0 - similarity(u), 0.0))
            if condition is not None:
                condition(u)
    return picks


def spread_out(
    similarity: Callable[[int], Array],
    uncertainty: Array,  # (m,)
    free: NDArray[np.bool_],  # (m,)
    n: int,
    *,
    groups: NDArray[np.generic] | None = None,
    with_copies: bool = True,
) -> list[int]:
    r"""Return the n most uncertain rows that differ from each other.

    The next row has the largest :math:`uncertainty(x) (1 - \max_j r(x, x_j)^2)` over
    the earlier picks :math:`x_j`. With one :math:`x_j` the factor is the share of the
    variance that remains at x once the value at :math:`x_j` is known.

    Parameters
    ----------
    similarity, free, n, groups, with_copies : see `best_rows`
    uncertainty : ndarray of shape (m,)
        At least 0.
    """
    least = np.finfo(np.float64).tiny
    return best_rows(
        similarity,
        free,
        n,
        lambda novelty: np.maximum(uncertainty, least) * novelty,
        groups=groups,
        with_copies=with_copies,
    )
