r"""Posterior variance in the dual: universal kriging.

.. math:: var \, g(x) = tau (k(x,x) - (k, f)' [K + lam I, F; F', 0]^{-1} (k, f))

with k = k(x, X_l) and f = f(x). The system is solved by the elimination of the fit:
:math:`c_0 = Q_1 T^{-T} f` satisfies F'c0 = f, and with :math:`h = k - (K + lam I) c_0`,

.. math:: var / tau = k(x,x) - 2 k'c_0 + c_0'(K + lam I) c_0
                      - \sum_j (u_j'h)^2 / (s_j^2 + lam)

which holds for conditionally positive definite kernels too.
"""

from __future__ import annotations

import numpy as np

from halfmoon.rows import Array
from halfmoon.solvers.ridge import RidgePath

__all__ = ["kriging_variance"]


def kriging_variance(
    path: RidgePath,
    k_x: Array,  # (b, l), root weights in
    k_xx: Array,  # (b,)
    F: Array,  # (b, k)
    alpha: float,
) -> Array:  # (b,)
    """Posterior variance of g at new rows, in units of tau; never negative."""
    lam = path.lam(alpha)
    f = path.elimination.solve_adjoint(F)  # T^-T f, (b, rank F)
    c = f @ path.elimination.Q1.T  # c0, (b, l)
    Kc = f @ path.cross + lam * c  # (K + lam I) c0, as cross = Q1'K
    h = (k_x - Kc) @ path.V
    total = path.s2 + lam
    known = total > np.finfo(np.float64).eps * path.s2.size * path.s2.max(initial=0.0)
    gained = (h[:, known] ** 2) @ (1.0 / total[known])
    prior = k_xx - 2 * np.einsum("ij,ij->i", k_x, c) + np.einsum("ij,ij->i", c, Kc)
    return np.maximum(prior - gained, 0.0)
