"""Uniform landmarks: each set of p rows is as likely as any other."""

from __future__ import annotations

import numpy as np

from halfmoon.landmarks.checks import as_count
from halfmoon.rows import Indices

__all__ = ["uniform"]


def uniform(
    n: int,
    n_components: int,
    rng: np.random.Generator | int | None = None,
) -> Indices:  # (p,)
    """Indices of p of n rows, without replacement, in increasing order.

    Parameters
    ----------
    n : int
        Rows to choose from.
    n_components : int
        p; above n, all n are taken.
    rng : Generator, int or None

    Examples
    --------
    >>> uniform(3, 5)
    array([0, 1, 2])
    """
    p = as_count(n_components, n)
    return np.sort(np.random.default_rng(rng).choice(n, p, replace=False))
