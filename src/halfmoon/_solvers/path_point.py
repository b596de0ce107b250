r"""One point of the ridge path in the dual, by Cholesky: no other alpha is needed.

The factorization is that of `cholesky_ridge.py`, on rows that carry the root weights.
It needs K to be positive semi-definite. If K is so only where F'c = 0, the same G comes
from the factor of N'A N instead:

.. math:: N'A N = L L', \quad M = L^{-1} N', \quad G = M'M
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg.lapack import dpotrf

from halfmoon._rows import Array
from halfmoon._solvers.cholesky_ridge import PointFactor, half_of_G, inverse_factor
from halfmoon._solvers.elimination import Elimination
from halfmoon._solvers.ridge import column_sum_norm, indefinite_limit

__all__ = ["PathPoint", "path_point"]


@dataclass(frozen=True)
class PathPoint:
    """`RidgePath` in the dual where one alpha is enough, several times cheaper.

    The methods are those of `RidgePath`; the alpha that they take is always this one.
    """

    factor: PointFactor  # of weighted rows, so that its own weights are 1
    y: Array  # (l, t)
    alpha: float
    total_weight: float  # W, in lam = W alpha

    def lam(self, alpha: float) -> float:
        """Return W alpha, the penalty weight relative to the summed loss."""
        return self.total_weight * alpha

    def with_targets(self, y: Array) -> PathPoint:
        """Return the path of other targets, (l, t), from the same factorization."""
        return replace(self, y=y)

    def theta(self, alpha: float) -> Array:
        """Return c = G y, (l, t)."""
        return self.factor.M.T @ (self.factor.M @ self.y)

    def beta(self, alpha: float) -> Array:
        """Return the coefficients of the unpenalized features, (k, t)."""
        target = self.factor.E.T @ self.y - self.factor.K_E.T @ self.theta(alpha)
        return self.factor.elimination.solve(target)

    def scales(self, alpha: float) -> tuple[Array, Array]:
        """Return the variances s2 of noise and tau of the prior, each of shape (t,)."""
        left = len(self.y) - self.factor.elimination.rank
        if left < 1:
            infinite = np.full(self.y.shape[1], np.inf)
            return infinite, infinite
        tau = ((self.factor.M @ self.y) ** 2).sum(axis=0) / left
        return self.lam(alpha) * tau, tau

    def leave_one_out(self, alphas: Sequence[float]) -> Array:
        """Return the residuals e_i, shape (1, l, t), times the root weights."""
        return self.factor.residuals(self.theta(alphas[0]))[None]

    def kriging_variance(
        self,
        k_x: Array,  # (b, l), root weights in
        k_xx: Array,  # (b,)
        F: Array,  # (b, k)
        alpha: float,
    ) -> tuple[Array, Array]:  # (b,), (b,)
        """Return the factors of s2 and of tau in the posterior variance at new rows.

        All of it is in the second, as s2 = lam tau, unless lam is 0.
        """
        of_tau = self.factor.variance(k_x, k_xx, F)
        if alpha > 0:
            return np.zeros_like(of_tau), of_tau
        h = self.factor.smoother_matrix(k_x, F)
        return np.einsum("bl,bl->b", h, h), of_tau


def path_point(
    K: Array,  # (l, l)
    y: Array,  # (l, t)
    elimination: Elimination,
    total_weight: float,
    alpha: float,
) -> PathPoint | None:
    """Return the fit at one alpha, where no other is needed. O(l^3).

    None if N'K N is not positive semi-definite, or if N'A N is too close
    to singular: then `ridge_dual` decides. All arguments carry the root weights.
    """
    lam, l, Q1 = total_weight * alpha, len(K), elimination.Q1
    if not 0 <= lam < np.inf:
        return None
    limit = indefinite_limit(column_sum_norm(K), l)
    # lam is the least eigenvalue of A, or about that if the errors of K are small.
    least = 0.5 * lam / np.sqrt(l)
    M = None
    if lam <= limit or _is_definite(K, limit):
        M = half_of_G(K.copy(), elimination, lam, least)
    if M is None and 0 < elimination.rank < l:  # K may be definite where F'c = 0
        A = elimination.congruence(K)
        if lam <= limit or _is_definite(A, limit):
            M = inverse_factor(A, lam, least)
            M = M if M is None else elimination.expand(M.T).T
    if M is None:
        return None
    KE = K @ Q1
    A_E = Q1.T @ KE + lam * np.eye(elimination.rank)
    factor = PointFactor(M, Q1, KE, M @ KE, A_E, elimination, np.ones(l), lam)
    return PathPoint(factor, y, alpha, total_weight)


def _is_definite(K: Array, limit: float) -> bool:
    """Whether no eigenvalue of K is below -limit."""
    A = K.copy()
    A[np.diag_indices(len(A))] += limit
    return not dpotrf(A.T, lower=1, overwrite_a=1)[1]
