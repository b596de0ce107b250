"""Synthetic tables of the papers, drawn anew from a seed."""

from __future__ import annotations

import numpy as np

from halfmoon.rows import Array, Indices

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


def noisy_line(
    n_samples: int = 2_000,
    n_features: int = 100,
    noise: float = 0.23,
    rng: np.random.Generator | int | None = None,
) -> tuple[Array, Array]:  # (n, d), (n,)
    r"""Rows around a line segment that is cut in the middle: two classes and no gap.

    .. math:: x = t e_1 + \varepsilon, \quad t \sim U(-1, 1), \quad
        \varepsilon \sim N(0, \text{noise}^2 I_d), \quad y = \operatorname{sign}(x_1)

    The linear example in figure 3 of Que, Belkin and Wang, "Learning with Fredholm
    kernels", 2014. The class is that of the row, noise included, so that a plane
    separates the classes, as the paper says, although rows are dense on both sides.

    The paper gives neither length nor noise. The segment is 2 long and `noise` was
    chosen to meet its table 1: linear ridge without a constant, alpha the best on the
    2,000 rows that labels are drawn from, errs in 10.1 % of new rows with 8 labels of
    each class, in 7.1 % with 16 and in 5.0 % with 32 (means of 100 draws; the paper has
    10.0, 9.1 and 5.8 %).

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
    r"""Rows around a circle that is cut into arcs whose classes alternate.

    .. math:: x = \cos(t) e_1 + \sin(t) e_2 + \varepsilon, \quad t \sim U(0, 2 \pi),
        \quad \varepsilon \sim N(0, \text{noise}^2 I_d)

    The circular example in figure 3 of Que, Belkin and Wang, as in `noisy_line`. The
    class of a row is that of the arc nearest to it, noise included: with four arcs, y
    is the sign of the product of the first two columns.

    The radius is 1 and `noise` was chosen to meet table 2 of the paper: Gaussian kernel
    ridge without a constant, alpha and width the best on the 2,000 rows that labels are
    drawn from, errs in 17.3 % of new rows with 16 labels of each class, in 12.0 % with
    32 and in 7.6 % with 64 (means of 150 draws; the paper has 17.4, 16.5 and 8.7 %).

    Returns
    -------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
        1 on the first arc, which begins on the first axis, then -1 and 1 by turns.
    """
    if n_features < 2 or n_arcs < 2 or n_arcs % 2:
        raise ValueError(
            f"n_features is {n_features} and n_arcs is {n_arcs}. A circle needs two "
            f"columns, and arcs that alternate all around it an even number of them, "
            f"such as n_features=100 and n_arcs=4."
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
