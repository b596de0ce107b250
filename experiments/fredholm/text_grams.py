r"""Columns of S0's linear and Fredholm kernels between all texts and some of them.

With X the n tf-idf rows, G = X X', K and H Gaussian, and L the wanted columns:

===========  =================================================================
linear       G_L
FredLin1     G H G_L / n^2             (k linear, h Gaussian)
FredLin2     K G K_L / n^2             (k Gaussian, h linear)
FredLin2(N)  S K G K_L S_L             (S = 1 / row sums of K)
===========  =================================================================

G serves every width, and one Gaussian matrix all three kernels and all splits. The
products are taken from the right, so that each costs n^2 times the number of columns.
"""

from __future__ import annotations

import numpy as np

from halfmoon._rows import Array, Indices, Rows

__all__ = ["fredholm_columns", "gaussian_gram", "inner_products"]


def inner_products(X: Rows) -> Array:
    """G, dense, shape (n, n)."""
    return np.asarray((X @ X.T).toarray())


def gaussian_gram(G: Array, width: float) -> Array:
    """exp(-d^2 / (2 width^2)) from the inner products, shape (n, n)."""
    norms = np.diag(G)
    K = G - norms / 2
    K -= norms[:, None] / 2  # -d^2 / 2
    np.minimum(K, 0.0, out=K)
    np.fill_diagonal(K, 0.0)
    K /= width**2
    return np.exp(K, out=K)


def fredholm_columns(
    G: Array,  # (n, n)
    K: Array,  # (n, n)
    columns: Indices,  # (l,)
) -> dict[str, Array]:
    """Columns of the three Fredholm kernels by their names, each of shape (n, l)."""
    n = len(G)
    first = G @ (K @ G[:, columns])
    second = K @ (G @ K[:, columns])
    scale = 1.0 / K.sum(axis=1)
    return {
        "FredLin1": first / n**2,
        "FredLin2": second / n**2,
        "FredLin2(N)": scale[:, None] * second * scale[columns],
    }
