"""Synthetic tables of the papers, generated from a seed."""

from __future__ import annotations

import numpy as np

from halfmoon._rows import Array, Indices

__all__ = [
    "concentric_circles",
    "noisy_circles",
    "noisy_line",
    "reveal",
    "two_gaussians",
]


def concentric_circles(
    n_samples: int = 2_000,
    n_circles: int = 4,
    rng: np.random.Generator | int | None = None,
) -> tuple[Array, Array, Indices]:  # (n, 2), (n,), (n,)
    """Generate rows on concentric circles of radius 1, 2, ..., equally many on each.

    Figure 1 of Cabannes et al., "Overcoming the curse of dimensionality with Laplacian
    regularization", 2021.

    Parameters
    ----------
    n_samples : int
        Number of rows, on all circles together.
    n_circles : int
    rng : Generator, int or None
        Random generator or seed.

    Returns
    -------
    X : ndarray of shape (n, 2)
    y : ndarray of shape (n,)
        -1 and 1 alternately, from the innermost circle outwards.
    circle : ndarray of shape (n,)
        The circle of each row, from 0.
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
    """Generate rows from two unit Gaussians whose centers differ in the first column.

    Figure 3 of the same paper, where the distance is 3 and there are 10 columns.

    Parameters
    ----------
    n_samples, n_features : int
        Number of rows and of columns.
    distance : float
        Distance of the centers.
    rng : Generator, int or None
        Random generator or seed.

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


def noisy_line(
    n_samples: int = 2_000,
    n_features: int = 100,
    noise: float = 0.23,
    rng: np.random.Generator | int | None = None,
) -> tuple[Array, Array]:  # (n, d), (n,)
    r"""Generate rows around a line segment whose halves are two classes without a gap.

    .. math:: x = t e_1 + \varepsilon, \quad t \sim U(-1, 1), \quad
        \varepsilon \sim N(0, \text{noise}^2 I_d), \quad y = \operatorname{sign}(x_1)

    The linear example in figure 3 of Que, Belkin and Wang, "Learning with Fredholm
    kernels", 2014. The class is determined by the row with its noise, so that a plane
    separates the classes, as the paper says, although rows are dense on both sides.

    The paper gives neither length nor noise. The segment has length 2, and `noise` was
    chosen to match its table 1. The test error of linear ridge without a constant, with
    the best alpha on the 2,000 rows that labels are drawn from, is 10.1 % with 8 labels
    of each class, 7.1 % with 16 and 5.0 % with 32 (means of 100 draws; the paper has
    10.0, 9.1 and 5.8 %).

    Parameters
    ----------
    n_samples, n_features : int
        Number of rows and of columns.
    noise : float
        Standard deviation of the noise in each column.
    rng : Generator, int or None
        Random generator or seed.

    Returns
    -------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
        -1 for one half of the line, 1 for the other.
    """
    rng = np.random.default_rng(rng)
    X = noise * rng.standard_normal((n_samples, n_features))
    X[:, 0] += rng.uniform(-1, 1, n_samples)
    return X, np.where(X[:, 0] < 0, -1.0, 1.0)


def noisy_circles(
    n_samples: int = 2_000,
    n_features: int = 100,
    n_arcs: int = 4,
    noise: float = 0.165,
    rng: np.random.Generator | int | None = None,
) -> tuple[Array, Array]:  # (n, d), (n,)
    r"""Generate rows around a circle divided into arcs whose classes alternate.

    .. math:: x = \cos(t) e_1 + \sin(t) e_2 + \varepsilon, \quad t \sim U(0, 2 \pi),
        \quad \varepsilon \sim N(0, \text{noise}^2 I_d)

    The circular example in figure 3 of Que, Belkin and Wang, as in `noisy_line`. The
    class of a row is that of the arc nearest to the row with its noise: with four arcs,
    y is the sign of the product of the first two columns.

    The radius is 1, and `noise` was chosen to match table 2 of the paper. The test
    error of Gaussian kernel ridge without a constant, with the best alpha and width on
    the 2,000 rows that labels are drawn from, is 17.3 % with 16 labels of each class,
    12.0 % with 32 and 7.6 % with 64 (means of 150 draws; the paper has 17.4, 16.5 and
    8.7 %).

    Parameters
    ----------
    n_samples, n_features : int
        Number of rows and of columns.
    n_arcs : int
        Number of arcs, which is even.
    noise : float
        Standard deviation of the noise in each column.
    rng : Generator, int or None
        Random generator or seed.

    Returns
    -------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
        1 on the first arc, which begins on the first axis, then alternately -1 and 1.
    """
    if n_features < 2 or n_arcs < 2 or n_arcs % 2:
        raise ValueError(
            f"n_features is {n_features} and n_arcs is {n_arcs}; 2 or more columns and "
            f"an even number of arcs are needed. Use n_features=100 and n_arcs=4, for "
            f"example."
        )
    rng = np.random.default_rng(rng)
    angle = rng.uniform(0, 2 * np.pi, n_samples)
    X = noise * rng.standard_normal((n_samples, n_features))
    X[:, :2] += np.column_stack([np.cos(angle), np.sin(angle)])
    turn = np.arctan2(X[:, 1], X[:, 0]) / (2 * np.pi)  # in [-1/2, 1/2]
    arc = np.floor(turn * n_arcs).astype(int)
    return X, np.where(arc % 2 == 0, 1.0, -1.0)


def reveal(
    y: Array,  # (n,)
    groups: Array | Indices,  # (n,)
    per_group: int = 1,
    rng: np.random.Generator | int | None = None,
) -> Array:  # (n,)
    """Return y with NaN everywhere except in a few random rows of each group.

    Parameters
    ----------
    y : ndarray of shape (n,)
        The truth.
    groups : ndarray of shape (n,)
        The group of each row, such as its class or its cluster.
    per_group : int
        Number of labels to keep in each group.
    rng : Generator, int or None
        Random generator or seed.

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
