r"""Restricted likelihood of the labels, to compare alphas without leave-one-out.

With theta ~ N(0, tau Q^-1), noise of variance tau lam / w_i and a flat beta, the part
N'y of the labels outside the span of F is normal with covariance
tau (N'Phi Q^-1 Phi'N + lam I). At the best tau, which is y'Gy / m for m = l - rank F,

.. math:: -2 \log p = \sum_{targets} \Bigl( m \log tau + \sum_j \log(s_j^2 + lam)
          + (m - r) \log lam \Bigr) + const,

r being the number of s_j. It compares alphas where leave-one-out cannot: a class with a
single label is unknown once this label is left out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from halfmoon._rows import Array
from halfmoon.problem._posed import Posed

__all__ = ["restricted_deviances"]


def restricted_deviances(posed: Posed, alphas: Sequence[float]) -> Array:
    """Return -2 log p of the labels at each alpha, up to a constant, shape (a,).

    Targets that the unpenalized features explain to rounding do not count.

    Parameters
    ----------
    posed : Posed
    alphas : sequence of float
        Each above 0.
    """
    path = posed.path
    m = path.n_labeled - path.elimination.rank
    whole = (posed.w[:, None] * posed.y**2).sum(axis=0)
    unexplained = path.energy > np.finfo(np.float64).eps * whole
    out = np.zeros(len(alphas))
    if m < 1 or not unexplained.any():
        return out
    for i, alpha in enumerate(alphas):
        lam = path.lam(alpha)
        _, tau = path.scales(alpha)
        log_det = np.log(path.s2 + lam).sum() + (m - len(path.s2)) * np.log(lam)
        out[i] = (m * np.log(tau[unexplained]) + log_det).sum()
    return out
