r"""Kernel ridge at one lam: a single Cholesky factorization, with leave-one-out.

.. math:: \min_{c, beta} \; \sum_i w_i |y_i - (K c + F beta)_i|^2 + lam \, c'K c

is `ridge_dual` at one point of its path, several times cheaper. The root of the weights
goes into K, F, y and c; F = Q_1 T is eliminated (`elimination.py`); and with
A = K + lam I,

.. math:: A = L L', \quad L^{-1} Q_1 = Q R, \quad M = (I - Q Q') L^{-1}, \quad G = M'M

.. math:: c = G y, \quad T beta = Q_1'(y - K c), \quad e_i = c_i / G_{ii}

where e_i is the leave-one-out residual of row i, as in (3) of `ridge.py`. The columns
of M are projected before they are squared, so G_ii loses no digits to cancellation.

**Posterior variance**, which is universal kriging. At a new row with k = k(x, X_l) and
f = f(x),

.. math:: var \, g(x) = tau (k(x,x) - (k, f)' [A, F; F', 0]^{-1} (k, f))

for noise of the variance s2 = lam tau. The system is solved by the same elimination:
with :math:`c_0 = Q_1 T^{-T} f`, for which F'c_0 = f, and v = k - K c_0, g(x) = h'y with

.. math:: h = c_0 + G v, \quad
          var \, g(x) = tau (k(x,x) - 2 k'c_0 + c_0'A c_0 - |M v|^2)

It needs only some M with G = M'M, which a whole path has too (`factor_of_path`), and
holds for conditionally positive definite kernels as well.

`ridge_point` gives what depends on y, and `factor_point` what does not. `path_point`
stands in for `RidgePath` where one alpha is enough, on rows that carry the root
weights. It needs K to be positive semi-definite. If K is so only where F'c = 0, the
same G comes from the factor of N'A N instead:

.. math:: N'A N = L L', \quad M = L^{-1} N', \quad G = M'M
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.linalg as sla
from scipy.linalg.lapack import dpocon, dpotrf, dpotrs, dtrtri

from halfmoon._rows import EPS, Array
from halfmoon._solvers.elimination import Elimination
from halfmoon._solvers.positive_part import (
    column_sum_norm,
    indefinite_limit,
)
from halfmoon._solvers.ridge import RidgePath, ridge_dual

__all__ = [
    "PathPoint",
    "PointFactor",
    "RidgePoint",
    "factor_of_path",
    "factor_point",
    "half_of_G",
    "inverse_factor",
    "path_point",
    "ridge_cholesky",
    "ridge_point",
]

CANCELED = 1e-5  # difference over its terms, below which five digits are lost


class RidgePoint(NamedTuple):
    """Kernel ridge at one lam.

    The prior variance by restricted maximum likelihood is ``energy / degrees``.
    """

    c: Array  # (s, t)
    beta: Array  # (k, t), of least norm if columns of F depend on others
    residuals: Array  # (s, t), of leave-one-out; infinite if not determined
    energy: Array  # (t,), y'G y
    degrees: int  # s - rank F


def ridge_point(
    K: Array,  # (s, s)
    F: Array,  # (s, k)
    y: Array,  # (s, t)
    w: Array,  # (s,)
    lam: float,
) -> RidgePoint:
    """Kernel ridge at one lam, with unpenalized features and leave-one-out. O(s^3).

    K may be singular, or only conditionally positive definite: `ridge_dual` is used if
    A is too close to singular for Cholesky. F may have no columns, or dependent ones.
    lam is relative to the sum of the weighted squares, not their mean.

    Examples
    --------
    With a kernel of zeros, each row is predicted by the mean of the others:

    >>> ones, y = np.ones((3, 1)), np.array([[0.0], [1.0], [5.0]])
    >>> point = ridge_point(np.zeros((3, 3)), ones, y, np.ones(3), 1.0)
    >>> point.beta[0], point.residuals[:, 0]
    (array([2.]), array([-3. , -1.5,  4.5]))
    """
    if not 0 <= lam < np.inf:
        raise ValueError(f"lam is {lam}; a number that is not negative is needed.")
    root = np.sqrt(w)[:, None]
    elimination = Elimination(root * F, quiet=True)
    y_w, Q1 = root * y, elimination.Q1
    M = half_of_G(root * K * root.T, elimination, lam)
    if M is None:
        path = ridge_dual(root * K * root.T, y_w, elimination, 1.0)
        c, beta = path.theta(lam), path.beta(lam)
        residuals = path.leave_one_out([lam])[0]
    else:
        c = M.T @ (M @ y_w)
        beta = elimination.solve(Q1.T @ y_w - (Q1 * root).T @ (K @ (root * c)))
        residuals = _loo_residuals(M, c, elimination)
    energy, degrees = (c * y_w).sum(axis=0), len(K) - elimination.rank
    return RidgePoint(root * c, beta, residuals / root, energy, degrees)


@dataclass(frozen=True)
class PointFactor:
    """The factorization of kernel ridge at one lam, for results independent of y.

    Kernel values are passed without weights: the root of the weights is in M and E.
    """

    M: Array  # (q, s), G = M'M
    E: Array  # (s, rank F), Q1, so that c_0 = E T^-T f
    K_E: Array  # (s, rank F), K E
    M_E: Array  # (q, rank F), M K E
    A_E: Array  # (rank F, rank F), E'A E
    elimination: Elimination
    w: Array  # (s,)
    lam: float

    def smoother_matrix(
        self,
        k_x: Array,  # (b, s)
        F: Array,  # (b, k)
    ) -> Array:  # (b, s)
        """Return the rows h of the smoother at new rows."""
        return self._weights(*self._coordinates(k_x, F))

    def variance(
        self,
        k_x: Array,  # (b, s)
        k_xx: Array,  # (b,)
        F: Array,  # (b, k)
    ) -> Array:  # (b,)
        """Return the factor of tau in the posterior variance at new rows."""
        f, M_v = self._coordinates(k_x, F)
        before = k_xx + np.einsum("ij,ij->i", f @ self.A_E - 2 * k_x @ self.E, f)
        left = before - np.einsum("ij,ij->i", M_v, M_v)
        # The terms cancel at the labeled rows, so the noise is summed separately there.
        size = np.abs(k_xx) + np.abs(before)
        near = np.flatnonzero(left <= CANCELED * size)
        if near.size:
            noise = self.lam * self._weights(f[near], M_v[near]) ** 2 @ (1 / self.w)
            unknown = left[near] - noise
            unknown[unknown <= EPS * len(self.w) * size[near]] = 0.0
            left[near] = noise + unknown
        return np.asarray(left)

    def variance_parts(
        self, k_x: Array, k_xx: Array, F: Array
    ) -> tuple[Array, Array]:  # (b,), (b,)
        """Return the factors of s2 and of tau, as `RidgePath.variance_parts` does.

        All of it is in the second, as s2 = lam tau, unless lam is 0.
        """
        of_tau = self.variance(k_x, k_xx, F)
        if self.lam > 0:
            return np.zeros_like(of_tau), of_tau
        return (self.smoother_matrix(k_x, F) ** 2) @ (1 / self.w), of_tau

    def covariance(
        self,
        k_x: Array,  # (b, s)
        K_xx: Array,  # (b, b)
        F: Array,  # (b, k)
    ) -> Array:  # (b, b)
        """Return the factor of tau in the posterior covariance of new rows."""
        f, M_v = self._coordinates(k_x, F)
        half = (f @ self.A_E / 2 - k_x @ self.E) @ f.T
        return np.asarray(K_xx + half + half.T - M_v @ M_v.T)

    def residuals(self, c: Array) -> Array:
        """Return the leave-one-out residuals of weighted rows."""
        return _loo_residuals(self.M, c, self.elimination)

    def _coordinates(self, k_x: Array, F: Array) -> tuple[Array, Array]:
        """T^-T f and M v, shapes (b, rank F) and (b, q)."""
        f = self.elimination.solve_adjoint(F)
        M_v = k_x @ self.M.T
        M_v -= f @ self.M_E.T
        return f, M_v

    def _weights(self, f: Array, M_v: Array) -> Array:
        return np.asarray(f @ self.E.T + M_v @ self.M)


def factor_point(
    K: Array,  # (s, s)
    F: Array,  # (s, k)
    w: Array,  # (s,)
    lam: float,
) -> PointFactor:
    """Return the factorization of `ridge_point`, for smoother and variance. O(s^3)."""
    root = np.sqrt(w)[:, None]
    elimination = Elimination(root * F, quiet=True)
    M = half_of_G(root * K * root.T, elimination, lam)
    if M is None:
        none = np.zeros((len(K), 0))
        path = ridge_dual(root * K * root.T, none, elimination, 1.0)
        M = factor_of_path(path, lam).M
    M, E = M * root.T, elimination.Q1 * root
    KE = K @ E
    A_E = E.T @ KE + lam * np.eye(elimination.rank)
    return PointFactor(M, E, KE, M @ KE, A_E, elimination, w, lam)


def factor_of_path(path: RidgePath, lam: float) -> PointFactor:
    """Return the factorization at one lam of a path in the dual, of weighted rows."""
    M = np.sqrt(path.inverse(lam))[:, None] * path.V.T
    return _of_weighted_rows(M, path.elimination, path.cross.T, lam)


def _of_weighted_rows(
    M: Array,  # (q, l)
    elimination: Elimination,
    KE: Array,  # (l, rank F)
    lam: float,
) -> PointFactor:
    Q1 = elimination.Q1
    A_E = Q1.T @ KE + lam * np.eye(elimination.rank)
    return PointFactor(M, Q1, KE, M @ KE, A_E, elimination, np.ones(len(Q1)), lam)


def half_of_G(
    A: Array,  # (s, s), K; overwritten
    elimination: Elimination,
    lam: float,
    least: float = 0.0,
) -> Array | None:  # (s, s)
    """Return M; None as `inverse_factor` does."""
    M = inverse_factor(A, lam, least)
    if M is not None and elimination.rank:
        Q, _ = sla.qr(M @ elimination.Q1, mode="economic", check_finite=False)
        M.T[:] -= (M.T @ Q) @ Q.T  # rows of M' lie together in memory
    return M


def inverse_factor(A: Array, lam: float, least: float) -> Array | None:
    """Return the inverse of the factor L of A + lam I; A is overwritten.

    None if A + lam I is singular to rounding, in units in which its diagonal is 1, or
    if the column sums of its inverse exceed 1 / least. Units of rows cost no digits.
    """
    s = len(A)
    A[np.diag_indices(s)] += lam
    norm, diagonal = column_sum_norm(A), np.diag(A).copy()
    if not (diagonal > 0).all():
        return None
    unit = np.sqrt(diagonal)
    unit_norm = float((np.abs(A) @ (1.0 / unit) / unit).max())
    chol, failed = dpotrf(A.T, lower=1, clean=1, overwrite_a=1)  # A' = A, in its order
    if failed or dpocon(chol, norm, uplo="L")[0] <= least / norm:
        return None
    if dpocon(chol / unit[:, None], unit_norm, uplo="L")[0] <= EPS * s:
        return None
    inverse, _ = dtrtri(chol, lower=1, overwrite_c=1)
    return np.asarray(inverse)


def _loo_residuals(
    M: Array,  # (q, s)
    c: Array,  # (s, t)
    elimination: Elimination,
) -> Array:
    """Return e_i = c_i / G_ii, infinite where the other labels do not determine it."""
    Q1 = elimination.Q1
    identified = 1.0 - np.einsum("ij,ij->i", Q1, Q1) > 10 * EPS * len(c)
    G_ii = np.einsum("ij,ij->j", M, M)
    residuals = np.full_like(c, np.inf)
    residuals[identified] = c[identified] / G_ii[identified, None]
    return residuals


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
    lam, l = total_weight * alpha, len(K)
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
    factor = _of_weighted_rows(M, elimination, K @ elimination.Q1, lam)
    return PathPoint(factor, y, alpha, total_weight)


def _is_definite(K: Array, limit: float) -> bool:
    """Whether no eigenvalue of K is below -limit."""
    A = K.copy()
    A[np.diag_indices(len(A))] += limit
    return not dpotrf(A.T, lower=1, overwrite_a=1)[1]


def ridge_cholesky(
    G: Array,  # (r, r), Phi'Phi
    cross: Array,  # (rank F, r), Q1'Phi
    lam: float,
) -> Callable[[Array], Array] | None:
    """Return the map b -> (Phi'N N'Phi + lam I)^-1 b, from the moments of `ridge_eigh`.

    Several times cheaper than the path, though also O(r^3). None if the system is too
    ill-conditioned; the path handles that case.
    """
    A = G - cross.T @ cross
    if len(A) == 0:
        return None
    A[np.diag_indices(len(A))] += lam
    chol, failed = dpotrf(A)
    if failed or dpocon(chol, np.abs(A).sum(axis=0).max())[0] <= EPS * len(A):
        return None
    return lambda b: np.asarray(dpotrs(chol, b)[0])
