"""Synthetic tables of the papers, drawn anew from a seed."""

from __future__ import annotations

import numpy as np

from halfmoon.rows import Array, Indices

__all__ = ["concentric_circles", "reveal", "two_gaussians"]


def concentric_circles(
    n_samples: int = 2_000,
    n_circles: int = 4,
    rng: np.random.Generator | int | None = None,
) -> tuple[Array, Array, Indices]:  # (n, 2), (n,), (n,)
    """Rows on concentric circles of radius 1, 2, ..., as many on each.

    Figure 1 of Cabannes et al., "Overcoming the curse of dimensionality with Laplacian
    regularization", 2021.

    Returns
    -------
    X : ndarray of shape (n, 2)
    y : ndarray of shape (n,)
        -1 and 1 by turns, from the innermost circle outwards.
    circle : ndarray of shape (n,)
        Which circle a row is on, from 0.
    """
    rng = np.random.default_rng(rng)
    circle = np.arange(n_samples) * n_circles // n_samples
    angle = rng.uniform(0, 2 * np.pi, n_samples)
    X = (circle + 1.0)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X, np.where(circle % 2 == 0, -1.0, 1.0), circle


def two_gaussians(
    n_samples: int = 1_000,
    n_features: int = 10,
    distance: float = 3.0,
    rng: np.random.Generator | int | None = None,
) -> tuple[Array, Array]:  # (n, d), (n,)
    """Rows of two unit Gaussians, half each, whose centers differ in the first column.

    Figure 3 of the same paper, where the distance is 3 and there are 10 columns.

    Returns
    -------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
        -1 for the Gaussian at the origin, 1 for the other.
    """
    rng = np.random.default_rng(rng)
    y = np.where(np.arange(n_samples) % 2 == 0, -1.0, 1.0)
    X = rng.standard_normal((n_samples, n_features))
    X[y > 0, 0] += distance
    return X, y


def reveal(
    y: Array,  # (n,)
    groups: Array | Indices,  # (n,)
    per_group: int = 1,
    rng: np.random.Generator | int | None = None,
) -> Array:  # (n,)
    """y with NaN everywhere but in a few rows of each group, drawn at random.

    Examples
    --------
    >>> reveal(np.array([5.0, 5.0, 7.0]), np.array([0, 0, 1]), rng=0)
    array([nan,  5.,  7.])
    """
    rng = np.random.default_rng(rng)
    hidden = np.full(len(y), np.nan)
    for group in np.unique(groups):
        shown = rng.choice(np.flatnonzero(groups == group), per_group, replace=False)
        hidden[shown] = y[shown]
    return hidden
