r"""Picks one by one, none of them a copy of an earlier one.

A row whose function value moves with that of a picked row, with a squared correlation
above 0.999, is a copy: its label would say the same. Copies come last.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from halfmoon.queries.covariance import Posterior
from halfmoon.rows import Array

__all__ = ["Distinct", "best_rows", "spread_out"]

COPY = 1e-3  # 1 less the squared correlation of rows that are as good as equal


class Distinct:
    """How far rows are from being copies of the picks so far.

    Parameters
    ----------
    posterior : Posterior
        Before any pick.
    """

    def __init__(self, posterior: Posterior) -> None:
        self._covariance = posterior.covariance
        self._variance = posterior.variance
        #: 1 less the largest squared correlation with a pick, shape (n,).
        self.left = np.ones(len(posterior.variance))

    def take(self, u: int) -> None:
        """Row u is picked."""
        product = self._variance * self._variance[u]
        squared = np.zeros_like(product)
        column = self._covariance.column(u)
        np.divide(column**2, product, out=squared, where=product > 0)
        self.left = np.minimum(self.left, np.maximum(1.0 - squared, 0.0))
        self.left[u] = 0.0


def best_rows(
    posterior: Posterior,
    free: NDArray[np.bool_],  # (m,)
    n: int,
    score: Callable[[], Array],
    condition: Callable[[int], None],
) -> list[int]:
    """The n rows of largest score, each of them conditioning the next.

    Parameters
    ----------
    posterior : Posterior
    free : ndarray of bool of shape (m,)
        Rows that may be picked.
    n : int
    score : callable
        The scores of all rows after the picks so far, shape (m,).
    condition : callable
        Takes a pick into account.
    """
    free, distinct = free.copy(), Distinct(posterior)
    picks: list[int] = []
    while len(picks) < n:
        fresh = free & (distinct.left > COPY)
        some = np.flatnonzero(fresh if fresh.any() else free)
        u = int(some[np.argmax(score()[some])])
        picks.append(u)
        free[u] = False
        if len(picks) < n:
            distinct.take(u)
            condition(u)
    return picks


def spread_out(
    posterior: Posterior,
    doubt: Array,  # (m,)
    free: NDArray[np.bool_],  # (m,)
    n: int,
) -> list[int]:
    r"""The n rows of largest doubt that differ from each other.

    The next row has the largest :math:`doubt(x) (1 - \max_j r(x, x_j)^2)` over the
    rows :math:`x_j` picked before it, where r is the correlation of the function. With
    one :math:`x_j` the factor is the share of the variance that is left at x once the
    value at :math:`x_j` is known.
    """
    distinct = Distinct(posterior)
    least = np.finfo(np.float64).tiny
    return best_rows(
        posterior,
        free,
        n,
        lambda: np.maximum(doubt, least) * distinct.left,
        distinct.take,
    )
