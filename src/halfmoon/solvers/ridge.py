r"""Generalized ridge: every alpha, and exact leave-one-out, from one factorization.

.. math:: min \; |y - Phi theta - F beta|^2 + lam |theta|^2, \quad lam = W alpha     (1)

in coordinates where the root of the weights is in y, Phi and F, and the penalty is the
identity (`whitening.py`). With F eliminated (`elimination.py`) and
:math:`U diag(s) V' = svd(N'Phi)`,

.. math::
    theta = V diag(s / (s^2 + lam)) U'N'y, \quad beta = T^{-1} Q_1'(y - Phi theta)   (2)

There are three ways to s, U and V, and one `RidgePath` for what follows from them:

==============  ==============================  =====================================
`ridge_svd`     SVD of N'Phi                    labeled rows no more than functions
`ridge_eigh`    eigh of the moments Phi'Phi     more rows: only sums over them needed
                                                (`ridge_cholesky` for a single alpha)
`ridge_dual`    eigh of N'K N                   a kernel matrix K, even a conditionally
                                                positive definite one; theta is c
==============  ==============================  =====================================

**Leave-one-out.** Left out means unlabeled: the row stays in the table, so Phi and the
penalty do not change, and lam is held. With G = N (N'Phi Phi'N + lam I)^-1 N', the
residuals are lam G y, and the left-out residual of row i is

.. math:: e_i = (y_i - g(x_i)) / (1 - H_{ii}) = (G y)_i / G_{ii}                     (3)

where the second form has no cancellation when lam is small, and holds at lam = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg as sla
from scipy.linalg.lapack import dpocon, dpotrf, dpotrs

from halfmoon.eigen import symmetric_eigen
from halfmoon.rows import Array
from halfmoon.solvers.elimination import Elimination

__all__ = [
    "RidgePath",
    "RowFactor",
    "ridge_cholesky",
    "ridge_dual",
    "ridge_eigh",
    "ridge_svd",
    "ridge_weighted",
]

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class RowFactor:
    """The factorization as seen from the labeled rows, for leave-one-out.

    Attributes
    ----------
    U : ndarray of shape (l, l - rank F)
        Orthonormal, and complete: together with Q1 it spans all labeled rows.
    s2 : ndarray of shape (l - rank F,)
    z : ndarray of shape (l - rank F, t)
        U'y.
    """

    U: Array
    s2: Array
    z: Array


@dataclass(frozen=True)
class RidgePath:
    """The minimizers of (1) for every alpha.

    Attributes
    ----------
    s2 : ndarray of shape (m,)
        s^2; 0 where it is so to rounding.
    V : ndarray of shape (r, m)
    z : ndarray of shape (m, t)
        theta = V diag(1 / (s^2 + lam)) z.
    cross, target : ndarrays of shape (rank F, r) and (rank F, t)
        Q1'Phi and Q1'y.
    energy : ndarray of shape (t,)
        Squared length of N'y.
    elimination : Elimination
    n_labeled : int
    rounding : float
        Below this, s^2 and lam are 0.
    total_weight : float
        W, in lam = W alpha.
    rows : RowFactor or None
        None where only moments of the rows were seen.
    """

    s2: Array
    V: Array
    z: Array
    cross: Array
    target: Array
    energy: Array
    elimination: Elimination
    n_labeled: int
    rounding: float
    total_weight: float
    rows: RowFactor | None

    def lam(self, alpha: float) -> float:
        """W alpha, the penalty beside the unaveraged loss."""
        if not 0 <= alpha < np.inf:
            raise ValueError(
                f"alpha is {alpha}; a number that is not negative is needed."
            )
        return self.total_weight * float(alpha)

    def inverse(self, lam: float) -> Array:
        """1 / (s^2 + lam), or 0 where both are 0 to rounding: a pseudo-inverse."""
        total = self.s2 + lam
        out = np.zeros_like(total)
        return np.divide(1.0, total, out=out, where=total > self.rounding)

    def theta(self, alpha: float) -> Array:
        """Whitened coefficients of the basis, shape (r, t); c~ in the dual."""
        return self.V @ (self.inverse(self.lam(alpha))[:, None] * self.z)

    def beta(self, alpha: float) -> Array:
        """Coefficients of the unpenalized features, shape (k, t)."""
        return self.elimination.solve(self.target - self.cross @ self.theta(alpha))

    def degrees_of_freedom(self, alpha: float) -> float:
        """Trace of the smoother H, which turns y into fitted values."""
        taken = self.s2 * self.inverse(self.lam(alpha))
        return self.elimination.rank + float(taken.sum())

    def generalized_cross_validation(self, alpha: float) -> float:
        """mean(r^2) / (1 - trace(H) / l)^2, with r the residuals of all targets."""
        lam, l = self.lam(alpha), self.n_labeled
        g = self.inverse(lam)[:, None]
        if self.rows is not None:
            g_rows = self.inverse(lam)[:, None]
            # 1 - s^2 g = lam g, and 1 in directions of which nothing is taken.
            left = np.where(g_rows > 0, lam * g_rows, 1.0)
            residual = ((left * self.rows.z) ** 2).sum()
        else:
            taken = (2 * g - g**2 * self.s2[:, None]) * self.z**2
            residual = self.energy.sum() - taken.sum()
        free = 1.0 - self.degrees_of_freedom(alpha) / l
        if free <= EPS * l:
            return np.inf
        return float(residual / (l * self.energy.size) / free**2)

    def scales(self, alpha: float) -> tuple[Array, Array]:
        """Variances of noise and prior, s2 and tau of each target, shape (t,).

        By restricted maximum likelihood, s2 = y'(I - H) y / (l - rank F) and
        tau = s2 / lam. At lam = 0 there is no noise if the fit interpolates, and a flat
        prior if it does not. Infinite where no row is left to tell.
        """
        lam, left = self.lam(alpha), self.n_labeled - self.elimination.rank
        infinite = np.full_like(self.energy, np.inf)
        if left < 1:
            return infinite, infinite
        taken = (self.inverse(lam)[:, None] * self.z**2).sum(axis=0)
        if self.rows is None:
            noise = np.maximum(self.energy - taken, 0.0) / left
        else:  # y'(I - H)y = lam y'G y, and G stays as lam -> 0
            g = self.inverse(lam)
            tau = (g[:, None] * self.rows.z**2).sum(axis=0) / left
            if lam > 0:
                return lam * tau, tau
            disagree = (self.rows.z[self.rows.s2 == 0] ** 2).sum(axis=0)
            if (disagree <= EPS * self.n_labeled * self.energy).all():
                return np.zeros_like(tau), tau
            noise = disagree / left
        return noise, noise / lam if lam > 0 else infinite

    def leave_one_out(self, alphas: Sequence[float]) -> Array:
        """Left-out residuals e_i of (3), shape (len(alphas), l, t), root weights in.

        Infinite where a row is not identified without its label.
        """
        if self.rows is None:
            raise ValueError("Only moments of the rows were seen; use left_out_block.")
        U, s2, z = self.rows.U, self.rows.s2, self.rows.z
        identified = np.einsum("ij,ij->i", U, U) > 10 * EPS * self.n_labeled
        lams = np.array([self.lam(a) for a in alphas])
        inverses = np.array([self.inverse(lam) for lam in lams])  # (a, m)
        diagonal = (U**2) @ inverses.T  # G_ii, (l, a)
        l, a, t = self.n_labeled, len(lams), z.shape[1]
        scaled = inverses.T[:, :, None] * z[:, None, :]  # (m, a, t)
        Gy = (U @ scaled.reshape(-1, a * t)).reshape(l, a, t)
        # As lam -> 0 the directions with s = 0 outweigh all others in the rows that
        # they touch, and must not be seen, not even by rounding, in the other rows.
        U_0, z_0 = U[:, s2 == 0], z[s2 == 0]
        size = np.einsum("ij,ij->i", U_0, U_0)
        touched, limit = size > EPS * l, lams <= self.rounding
        diagonal[np.ix_(touched, limit)] = size[touched, None]
        Gy[np.ix_(touched, limit)] = (U_0[touched] @ z_0)[:, None, :]
        out = np.full((a, l, t), np.inf)
        out[:, identified] = (
            Gy[identified] / diagonal[identified][:, :, None]
        ).transpose(1, 0, 2)
        return out

    def left_out_block(
        self,
        PhiV: Array,  # (b, m)
        Q1: Array,  # (b, rank F)
        y: Array,  # (b, t)
        alphas: Sequence[float],
    ) -> Array:  # (b, a, t)
        """Left-out residuals of (3) for a block of the labeled rows, by 1 - H_ii."""
        rows = PhiV - Q1 @ (self.cross @ self.V)  # rows of (I - P) Phi V
        inverses = np.array([self.inverse(self.lam(a)) for a in alphas])  # (a, m)
        H = (rows**2) @ inverses.T
        H += np.einsum("ij,ij->i", Q1, Q1)[:, None]
        scaled = inverses.T[:, :, None] * self.z[:, None, :]  # (m, a, t)
        residual = (y - Q1 @ self.target)[:, None, :] - (
            rows @ scaled.reshape(-1, len(inverses) * y.shape[1])
        ).reshape(len(y), len(inverses), -1)
        left = 1.0 - H
        unknown = left <= 10 * EPS * self.V.shape[0]
        left[unknown] = 1.0
        out = residual / left[:, :, None]
        out[unknown] = np.inf
        return np.asarray(out)

    def variance_parts(
        self,
        Phi: Array,  # (b, r)
        F: Array,  # (b, k)
        alpha: float,
    ) -> tuple[Array, Array]:  # (b,), (b,)
        r"""Factors of s2 and of tau in the posterior variance at new rows.

        With u = phi - cross' T^-T f, the variance is

        .. math:: s2 (\sum_j (v_j'u)^2 / (s_j^2 + lam) + |T^{-T} f|^2)
                  + tau (|u|^2 - |V'u|^2)
        """
        f = self.elimination.solve_adjoint(F)  # T^-T f, (b, rank F)
        u = Phi - f @ self.cross
        seen = (u @ self.V) ** 2
        noise = seen @ self.inverse(self.lam(alpha))
        noise += np.einsum("ij,ij->i", f, f)
        size = np.einsum("ij,ij->i", u, u)
        # Directions that the labels did not move, at lam = 0, keep their prior too.
        moved = self.s2 + self.lam(alpha) > self.rounding
        unseen = size - seen[:, moved].sum(axis=1)
        unseen[unseen <= EPS * self.V.shape[0] * size] = 0.0
        return noise, unseen


def ridge_svd(
    Phi: Array,  # (l, r)
    y: Array,  # (l, t)
    elimination: Elimination,
    total_weight: float,
) -> RidgePath:
    """Solve (1) from the labeled rows themselves, for l - rank F <= r. O(l^2 r)."""
    M, Ny = elimination.complement(Phi), elimination.complement(y)
    U, s, Vt = sla.svd(M, full_matrices=False, check_finite=False)
    # What F takes out of Phi leaves roundings of Phi behind.
    rounding = max(_rounding(s**2), (EPS * max(Phi.shape) * sla.norm(Phi)) ** 2)
    s2 = _truncate(s**2, rounding)
    z = U.T @ Ny
    return RidgePath(
        s2=s2,
        V=Vt.T,
        z=np.where(s2 > 0, s, 0.0)[:, None] * z,
        cross=elimination.Q1.T @ Phi,
        target=elimination.Q1.T @ y,
        energy=(Ny**2).sum(axis=0),
        elimination=elimination,
        n_labeled=y.shape[0],
        rounding=rounding,
        total_weight=total_weight,
        rows=RowFactor(elimination.expand(U), s2, z),
    )


def ridge_eigh(
    G: Array,  # (r, r), Phi'Phi
    b: Array,  # (r, t), Phi'y
    cross: Array,  # (rank F, r), Q1'Phi
    y: Array,  # (l, t)
    elimination: Elimination,
    total_weight: float,
) -> RidgePath:
    """Solve (1) from moments of the labeled rows. O(r^3)."""
    target = elimination.Q1.T @ y
    s2, V = symmetric_eigen(G - cross.T @ cross)
    rounding = EPS * len(G) * float(np.abs(G).sum(axis=0).max(initial=0.0))
    s2 = _truncate(s2, rounding)
    return RidgePath(
        s2=s2,
        V=V,
        z=(s2 > 0)[:, None] * (V.T @ (b - cross.T @ target)),
        cross=cross,
        target=target,
        energy=(y**2).sum(axis=0) - (target**2).sum(axis=0),
        elimination=elimination,
        n_labeled=y.shape[0],
        rounding=rounding,
        total_weight=total_weight,
        rows=None,
    )


def ridge_cholesky(
    G: Array,  # (r, r), Phi'Phi
    b: Array,  # (r, t), Phi'y
    cross: Array,  # (rank F, r), Q1'Phi
    y: Array,  # (l, t)
    elimination: Elimination,
    lam: float,
) -> tuple[Array, Array] | None:  # (r, t), (k, t)
    """theta and beta for one lam, from the moments of `ridge_eigh`, without a path.

    Several times cheaper than the path, though also O(r^3); None where the system is
    too ill-conditioned for it, which the path is not afraid of.
    """
    target = elimination.Q1.T @ y
    A = G - cross.T @ cross
    if len(A) == 0:
        return None
    A[np.diag_indices(len(A))] += lam
    chol, failed = dpotrf(A)
    if failed or dpocon(chol, np.abs(A).sum(axis=0).max())[0] <= EPS * len(A):
        return None
    theta, _ = dpotrs(chol, b - cross.T @ target)
    return theta, elimination.solve(target - cross @ theta)


def ridge_dual(
    K: Array,  # (l, l)
    y: Array,  # (l, t)
    elimination: Elimination,
    total_weight: float,
) -> RidgePath:
    """Solve (1) from a kernel matrix; theta is then c, with g(x) = k(x)'c + f'beta.

    c = N g with (N'K N + lam I) g = N'y, which needs K to be positive definite only on
    what is orthogonal to F. O(l^3).
    """
    half = elimination.complement(K)  # N'K
    M = elimination.complement(half.T)  # N'K N
    s2, E = symmetric_eigen((M + M.T) / 2)
    # What F takes out of K leaves roundings of K behind, not of what is left of it.
    rounding = EPS * len(K) * float(np.abs(K).sum(axis=0).max(initial=0.0))
    lowest, highest = s2.min(initial=0.0), np.abs(s2).max(initial=0.0)
    if lowest < -max(np.sqrt(EPS) * highest, 10 * rounding):
        raise ValueError(
            f"The kernel is not positive definite beside the unpenalized features: "
            f"eigenvalues reach from {lowest:.3g} to {s2[-1]:.3g}. A conditionally "
            f"positive definite kernel needs the polynomials of its degree unpenalized."
        )
    s2 = _truncate(s2, rounding)
    Ny = elimination.complement(y)
    U, z = elimination.expand(E), E.T @ Ny
    return RidgePath(
        s2=s2,
        V=U,
        z=z,
        cross=elimination.Q1.T @ K,
        target=elimination.Q1.T @ y,
        energy=(Ny**2).sum(axis=0),
        elimination=elimination,
        n_labeled=y.shape[0],
        rounding=rounding,
        total_weight=total_weight,
        rows=RowFactor(U, s2, z),
    )


def ridge_weighted(
    K: Array,  # (l, l)
    F: Array,  # (l, k)
    y: Array,  # (l, t)
    w: Array,  # (l,)
) -> RidgePath:
    """`ridge_dual` of weighted rows; c is the root of the weights times ``theta``."""
    root = np.sqrt(w)[:, None]
    elimination = Elimination(root * F, quiet=True)
    return ridge_dual(root * K * root.T, root * y, elimination, float(w.sum()))


def _rounding(s2: Array) -> float:
    return EPS * s2.size * float(s2.max(initial=0.0))


def _truncate(s2: Array, rounding: float) -> Array:
    """s^2 with 0 for what is so to rounding."""
    return np.where(s2 > rounding, s2, 0.0)
