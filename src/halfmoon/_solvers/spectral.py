r"""Spectral filtering: generalized eigenpairs of (Sigma, Q), and fits filtered by them.

.. math:: Sigma u = s Q u, \quad u'Q u = 1, \quad theta = \sum psi(s) \, u u'b

Cabannes et al., 2021, equations 7 to 9. With Q = L + mu K the u are out-of-sample
eigenfunctions of the Laplacian, smoothest first. Unpenalized features F are projected
out of Sigma and of b, so that no filter affects them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from halfmoon._rows import Array
from halfmoon._whitening import Whitening, symmetric_eigen
from halfmoon.filters import Filter

__all__ = ["Eigenpairs", "filtered", "generalized_eigenpairs"]


@dataclass(frozen=True)
class Eigenpairs:
    """Generalized eigenvalues s, descending, and eigenvectors u, in columns."""

    values: Array  # (rank,)
    vectors: Array  # (p, rank), u'Q u = 1


def generalized_eigenpairs(Sigma: Array, whitening: Whitening) -> Eigenpairs:
    """Return all eigenpairs of (Sigma, Q) at the numerical rank of Q. O(p^3)."""
    values, vectors = symmetric_eigen(whitening.congruence(Sigma))
    values = np.maximum(values[::-1], 0.0)
    return Eigenpairs(values, whitening.unwhiten(vectors[:, ::-1]))


def filtered(
    pairs: Eigenpairs,
    b: Array,  # (p, t)
    psi: Filter,
) -> Array:  # (p, t)
    """Return theta = sum psi(s) u u'b."""
    return np.asarray(
        pairs.vectors @ (psi(pairs.values)[:, None] * (pairs.vectors.T @ b))
    )
