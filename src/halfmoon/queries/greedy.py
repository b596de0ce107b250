r"""Picks one by one, none of them a copy of an earlier one.

Two rows are alike by the squared correlation r^2 of the function at them: a row with
r^2 above 0.9999 to a pick is a copy of it, whose label would say the same. Copies come
last, or not at all.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from halfmoon.queries.covariance import Posterior
from halfmoon.rows import Array

__all__ = ["best_rows", "spread_out", "squared_correlation"]

COPY = 1e-4  # 1 less r^2 of rows that are as good as equal


def squared_correlation(posterior: Posterior) -> Callable[[int], Array]:
    """From a row to r^2 of every row with it, before any pick."""
    covariance, variance = posterior.covariance, posterior.variance

    def column(u: int) -> Array:
        product = variance * variance[u]
        out = np.zeros_like(product)
        return np.divide(covariance.column(u) ** 2, product, out=out, where=product > 0)

    return column


def best_rows(
    alike: Callable[[int], Array],
    free: NDArray[np.bool_],  # (m,)
    n: int,
    score: Callable[[Array], Array],
    condition: Callable[[int], None] | None = None,
    *,
    groups: NDArray[np.generic] | None = None,  # (m,)
    with_copies: bool = True,
) -> list[int]:
    """The n rows of largest score, each of them conditioning the next.

    Parameters
    ----------
    alike : callable
        From a row to r^2 of every row with it, shape (m,).
    free : ndarray of bool of shape (m,)
        Rows that may be picked.
    n : int
    score : callable
        From 1 less the largest r^2 of each row with a pick, shape (m,), to the scores
        of all rows after the picks so far.
    condition : callable or None
        Takes a pick into account.
    groups : ndarray of shape (m,) or None
        Rows of one group come after those of groups that are still missing.
    with_copies : bool
        Copies come once nothing else is left; else there are fewer rows.
    """
    free, left = free.copy(), np.ones(len(free))
    missing = np.ones(len(free), dtype=bool)  # rows of groups that are
    picks: list[int] = []
    while len(picks) < n and free.any():
        some = free & (left > COPY)
        if not some.any():
            if not with_copies:
                break
            some = free
        if (some & missing).any():
            some = some & missing
        places = np.flatnonzero(some)
        u = int(places[np.argmax(score(left)[places])])
        picks.append(u)
        free[u] = False
        if groups is not None:
            missing &= groups != groups[u]
        if len(picks) < n:
            left = np.minimum(left, np.maximum(1.0 - alike(u), 0.0))
            if condition is not None:
                condition(u)
    return picks


def spread_out(
    alike: Callable[[int], Array],
    doubt: Array,  # (m,)
    free: NDArray[np.bool_],  # (m,)
    n: int,
    *,
    groups: NDArray[np.generic] | None = None,
    with_copies: bool = True,
) -> list[int]:
    r"""The n rows of largest doubt that differ from each other.

    The next row has the largest :math:`doubt(x) (1 - \max_j r(x, x_j)^2)` over the
    rows :math:`x_j` picked before it. With one :math:`x_j` the factor is the share of
    the variance that is left at x once the value at :math:`x_j` is known.

    Parameters
    ----------
    alike, free, n, groups, with_copies : see `best_rows`
    doubt : ndarray of shape (m,)
        How unsure each row is, 0 or more.
    """
    least = np.finfo(np.float64).tiny
    return best_rows(
        alike,
        free,
        n,
        lambda left: np.maximum(doubt, least) * left,
        groups=groups,
        with_copies=with_copies,
    )
