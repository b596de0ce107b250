r"""Solve the problem by a spectral filter of (Sigma, Q) instead of a penalty weight.

.. math:: Sigma u = s Q u, \quad u'Q u = 1, \quad theta = \sum psi(s) \, u u'b

Cabannes et al., 2021, equations 7 to 9. With Q = L + mu K the u are out-of-sample
eigenfunctions of the Laplacian, smoothest first. Unpenalized features F are projected
out of Sigma and of b, so that no filter affects them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from halfmoon._moments import label_moments
from halfmoon._rows import Array
from halfmoon._solvers.elimination import Elimination
from halfmoon._whitening import Whitening, identity_whitening
from halfmoon.filters import Filter
from halfmoon.problem._fit import Fit
from halfmoon.problem._posed import Posed

__all__ = ["Eigenpairs", "filtered", "generalized_eigenpairs", "solve_filter"]


def solve_filter(
    posed: Posed, psi: Filter, *, covariance: Literal["labeled", "all"] = "labeled"
) -> Fit:
    """Filter the spectrum of (Sigma, Q) by psi: theta = sum psi(s) u u'b.

    Parameters
    ----------
    posed : Posed
    psi : Filter
        Tikhonov(alpha) with the labeled covariance is ridge with that alpha.
    covariance : {"labeled", "all"}
        The rows over which Sigma is taken.
    """
    if posed.basis.conditional_degree >= 0:
        raise ValueError(
            "The kernel is only conditionally positive definite; a spectral filter "
            "needs a positive definite one. Solve this one by ridge."
        )
    W, elimination = posed.total_weight, posed.elimination
    target = elimination.Q1.T @ (posed.root_w * posed.y)
    # In coordinates where the penalty is the identity, in which sums keep their digits.
    G, by_targets, cross = posed.moments
    b = (by_targets - cross.T @ target) / W
    if covariance == "labeled":
        Sigma = (G - cross.T @ cross) / W
    elif covariance == "all":
        Sigma = _covariance_of_all_rows(posed)
    else:
        raise ValueError(f"covariance is {covariance!r}; 'labeled' or 'all' is needed.")
    pairs = generalized_eigenpairs(Sigma, identity_whitening(len(Sigma)))
    theta = filtered(pairs, b, psi)
    beta = elimination.solve(target - cross @ theta)
    return Fit(
        posed,
        *posed.with_free(posed.whitening.unwhiten(theta), beta),
        solve=partial(solve_filter, psi=psi, covariance=covariance),
    )


def _covariance_of_all_rows(posed: Posed) -> Array:
    """Covariance of whitened phi over all rows, without the unpenalized features."""
    n = posed.X.shape[0]
    F = posed.stream.map(posed.features, posed.X, row_bytes=16 * (1 + posed.F.shape[1]))
    if posed.free.shape[1]:
        values = posed.stream.map(
            lambda rows: posed.basis.transform(rows) @ posed.free,
            posed.X,
            row_bytes=posed.basis.row_bytes,
        )
        F = np.hstack([F, values])
    G, cross = label_moments(
        lambda rows: posed.whitening.whiten(posed.basis.transform(rows)),
        posed.X,
        np.ones((n, 1)),
        Elimination(F).Q1,
        row_bytes=posed.basis.row_bytes + 8 * posed.basis.n_components_,
        stream=posed.stream,
    )
    return np.asarray((G - cross @ cross.T) / n)


@dataclass(frozen=True)
class Eigenpairs:
    """Generalized eigenvalues s, descending, and eigenvectors u, in columns."""

    values: Array  # (rank,)
    vectors: Array  # (p, rank), u'Q u = 1


def generalized_eigenpairs(Sigma: Array, whitening: Whitening) -> Eigenpairs:
    """Return all eigenpairs of (Sigma, Q) at the numerical rank of Q. O(p^3)."""
    values, vectors = np.linalg.eigh(whitening.congruence(Sigma))
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
