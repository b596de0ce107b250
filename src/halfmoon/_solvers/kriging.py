r"""Posterior variance in the dual: universal kriging.

.. math:: var \, g(x) = tau (k(x,x) - (k, f)' [K + lam I, F; F', 0]^{-1} (k, f))

with k = k(x, X_l) and f = f(x). With c the solution of that system in its first part,
g(x) is estimated by c'y, and

.. math:: var \, g(x) = tau (k(x,x) - 2 k'c + c'K c) + s2 \, c'c

where the first term is the part that the labeled rows do not determine, and the second
their noise.
The system is solved by the elimination of the fit: :math:`c_0 = Q_1 T^{-T} f` satisfies
F'c0 = f, and with :math:`h = k - (K + lam I) c_0`,

.. math:: c = c_0 + \sum_j u_j u_j'h / (s_j^2 + lam)

which also holds for conditionally positive definite kernels.
"""

from __future__ import annotations

import numpy as np

from halfmoon._rows import EPS, Array
from halfmoon._solvers.ridge_path import RidgePath

__all__ = ["kriging_variance", "scaled_variances"]


def kriging_variance(
    path: RidgePath,
    k_x: Array,  # (b, l), root weights in
    k_xx: Array,  # (b,)
    F: Array,  # (b, k)
    alpha: float,
) -> tuple[Array, Array]:  # (b,), (b,)
    """Return the factors of s2 and of tau in the posterior variance at new rows."""
    lam, U = path.lam(alpha), path.V
    f = path.elimination.solve_adjoint(F)  # T^-T f, (b, rank F)
    c_0 = f @ path.elimination.Q1.T  # (b, l)
    K_0 = f @ path.cross  # K c0, as cross = Q1'K
    by_modes = (k_x - K_0 - lam * c_0) @ U  # U'h, (b, m)
    by_modes *= path.inverse(lam)
    c = c_0 + by_modes @ U.T
    cKc = np.einsum("ij,ij->i", K_0, c_0) + 2 * np.einsum("ij,ij->i", K_0 @ U, by_modes)
    cKc += (by_modes**2) @ path.s2
    kc = np.einsum("ij,ij->i", k_x, c)
    unknown = k_xx - 2 * kc + cKc
    # The terms cancel at the labeled rows, where the remainder is rounding.
    size = np.abs(k_xx) + 2 * np.abs(kc) + np.abs(cKc)
    unknown[unknown <= EPS * path.n_labeled * size] = 0.0
    return np.einsum("ij,ij->i", c, c), unknown


def scaled_variances(
    factor: Array,  # (b,)
    variances: Array,  # (t,)
) -> Array:
    """Return factor variances', shape (b, t), with 0 times infinity being 0."""
    product = np.zeros((factor.size, variances.size))
    positive = factor[:, None] > 0
    return np.multiply(factor[:, None], variances, out=product, where=positive)
