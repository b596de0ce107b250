"""Uniform landmarks: all sets of p rows are equally likely."""

from __future__ import annotations

import numpy as np

from halfmoon._landmarks.checks import as_count
from halfmoon._rows import Indices

__all__ = ["uniform"]


def uniform(
    n: int,
    n_components: int,
    rng: np.random.Generator | int | None = None,
) -> Indices:  # (p,)
    """Return indices of p of n rows, without replacement, in increasing order.

    Parameters
    ----------
    n : int
        Number of rows to choose from.
    n_components : int
        p, at most n.
    rng : Generator, int or None

    Examples
    --------
    >>> uniform(3, 5)
    array([0, 1, 2])
    """
    p = as_count(n_components, n)
    return np.sort(np.random.default_rng(rng).choice(n, p, replace=False))
