r"""Energy of a basis on a graph: differences along edges instead of gradients.

.. math:: E_{ab} = 1/n^2 \, phi_a(X)' L_g \, phi_b(X)
          = 1/(2 n^2) \sum_{ij} W_{ij} (phi_a(x_i) - phi_a(x_j)) (phi_b(x_i) - ...)

with L_g the sparse Laplacian of a neighbor graph. With the exact basis, and with a
multiple of its norm added, this is the penalty of LapRLS: Belkin, Niyogi, Sindhwani,
"Manifold regularization", 2006.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from halfmoon._rows import Array, Rows
from halfmoon.bases import Basis
from halfmoon.blocks import Stream

__all__ = ["graph_energy"]

ROUNDING = 1e-6  # of the entries of a Laplacian, relative to the largest


def graph_energy(
    basis: Basis,
    X: Rows,  # (n, d)
    laplacian: sp.csr_array,  # (n, n)
    *,
    stream: Stream | None = None,
) -> Array:  # (p, p)
    """Return the energy of the basis on a graph over the rows, in one pass.

    A row block also needs the basis at its neighbors. These values are recomputed, so
    no n-by-p matrix is stored: O(n p^2 + n k p d) time for k neighbors.
    """
    n = X.shape[0]
    laplacian = sp.csr_array(laplacian)
    if laplacian.shape != (n, n):
        raise ValueError(
            f"The graph Laplacian has shape {laplacian.shape} and the table {n} rows; "
            f"a square matrix with one row for each row of the table is needed."
        )
    if not np.isfinite(laplacian.data).all():
        raise ValueError(
            "The graph Laplacian contains NaN or infinity; finite numbers are needed. "
            "Check the weights of the edges."
        )
    largest = np.abs(laplacian.data).max(initial=0.0)
    off = np.abs((laplacian - laplacian.T).data).max(initial=0.0)
    least = laplacian.diagonal().min()
    if off > ROUNDING * largest or least < -ROUNDING * largest:
        negative = f"negative on the diagonal ({least:.3g})"
        raise ValueError(
            f"The graph Laplacian is {'not symmetric' if least >= 0 else negative}; a "
            f"symmetric one, D - W with weights W that are not negative, is needed. "
            f"For a directed graph use (W + W.T) / 2."
        )

    def products(block: sp.csr_array, rows: Array) -> Array:
        near = np.union1d(block.indices, rows)
        Phi = basis.transform(X[near])  # (m, p)
        Phi_rows = Phi[np.searchsorted(near, rows)]
        return Phi_rows.T @ (block[:, near] @ Phi)

    neighbors = 1 + laplacian.nnz // n
    total: Array = (stream or Stream.inherited()).sum(
        products,
        laplacian,
        np.arange(n),
        row_bytes=(neighbors + 2) * max(basis.row_bytes, 16 * basis.n_components_),
    )
    return (total + total.T) / (2.0 * n**2)
