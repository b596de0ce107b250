r"""Generalized ridge: every alpha, and exact leave-one-out, from one factorization.

.. math:: min \; |y - Phi theta - F beta|^2 + lam |theta|^2, \quad lam = W alpha     (1)

in coordinates where the root of the weights is in y, Phi and F, and the penalty is the
identity (`whitening.py`). With F eliminated (`elimination.py`) and
:math:`U diag(s) V' = svd(N'Phi)`,

.. math::
    theta = V diag(s / (s^2 + lam)) U'N'y, \quad beta = T^{-1} Q_1'(y - Phi theta)   (2)

There are three ways to s, U and V, and one `RidgePath` for the results:

==============  ==============================  =====================================
`ridge_svd`     SVD of N'Phi                    labeled rows no more than functions
`ridge_eigh`    eigh of the moments Phi'Phi     more rows: only sums over them
                                                (`ridge_cholesky` for a single alpha)
`ridge_dual`    eigh of N'K N                   a kernel matrix K, even a conditionally
                                                positive definite one; theta is c
==============  ==============================  =====================================

**Leave-one-out.** The row that is left out stays in the table as an unlabeled row, so
Phi, the penalty and lam do not change. With G = N (N'Phi Phi'N + lam I)^-1 N', the
residuals are lam G y, and the leave-one-out residual of row i is

.. math:: e_i = (y_i - g(x_i)) / (1 - H_{ii}) = (G y)_i / G_{ii}                     (3)

where the second form has no cancellation when lam is small, and holds at lam = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg as sla
from scipy.linalg.lapack import dpocon, dpotrf, dpotrs

from halfmoon._rows import EPS, Array
from halfmoon._solvers.elimination import Elimination
from halfmoon._whitening import symmetric_eigen

__all__ = [
    "IndefiniteKernelError",
    "RidgePath",
    "RowFactor",
    "ridge_cholesky",
    "ridge_dual",
    "ridge_eigh",
    "ridge_svd",
    "ridge_weighted",
]

# Negative eigenvalues up to this share of the size of K are errors of its computation.
# Kernels that are summed as series, such as diffusions, are accurate to about 1e-7.
INDEFINITE = 1e-6


class IndefiniteKernelError(ValueError):
    """A kernel matrix has negative eigenvalues that are no rounding errors."""


@dataclass(frozen=True)
class RowFactor:
    """The factorization as seen from the labeled rows, for leave-one-out.

    Attributes
    ----------
    U : ndarray of shape (l, l - rank F)
        Orthonormal; with the columns of Q1, a basis of all vectors of l values.
    s2 : ndarray of shape (l - rank F,)
    z : ndarray of shape (l - rank F, t)
        U'y.
    scale : ndarray of shape (l - rank F,)
        `RidgePath.z` is this times z: s, or 1 in the dual.
    """

    U: Array
    s2: Array
    z: Array
    scale: Array


@dataclass(frozen=True)
class RidgePath:
    """The minimizers of (1) for every alpha.

    Attributes
    ----------
    s2 : ndarray of shape (m,)
        s^2; 0 where it is 0 to rounding.
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
        None if only moments of the rows were kept.
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
        """Return W alpha, the penalty weight relative to the summed loss."""
        if not 0 <= alpha < np.inf:
            raise ValueError(
                f"alpha is {alpha}; a finite number, 0 or more, is needed."
            )
        return self.total_weight * float(alpha)

    def with_targets(self, y: Array) -> RidgePath:
        """Return the path of other targets, (l, t), from the same factorization.

        O(l^2 t), where the labeled rows were factored and not only their moments.
        """
        if self.rows is None:
            raise ValueError("Only moments of the rows were kept; factor them again.")
        z, target, energy = _in_modes(self.rows.U, self.elimination, y)
        return replace(
            self,
            z=self.rows.scale[:, None] * z,
            target=target,
            energy=energy,
            rows=replace(self.rows, z=z),
        )

    def inverse(self, lam: float) -> Array:
        """Return 1 / (s^2 + lam), or 0 where both are 0 to rounding."""
        total = self.s2 + lam
        out = np.zeros_like(total)
        return np.divide(1.0, total, out=out, where=total > self.rounding)

    def theta(self, alpha: float) -> Array:
        """Return the whitened coefficients of the basis, (r, t); c in the dual."""
        return self.V @ (self.inverse(self.lam(alpha))[:, None] * self.z)

    def beta(self, alpha: float) -> Array:
        """Return the coefficients of the unpenalized features, shape (k, t)."""
        return self.elimination.solve(self.target - self.cross @ self.theta(alpha))

    def degrees_of_freedom(self, alpha: float) -> float:
        """Return the trace of the smoother H, which maps y to fitted values."""
        shrunk = self.s2 * self.inverse(self.lam(alpha))
        return self.elimination.rank + float(shrunk.sum())

    def generalized_cross_validation(self, alpha: float) -> float:
        """Return mean(r^2) / (1 - trace(H) / l)^2, r being the residuals."""
        lam, l = self.lam(alpha), self.n_labeled
        g = self.inverse(lam)[:, None]
        if self.rows is not None:
            # 1 - s^2 g = lam g, and 1 in directions that are not fitted.
            left = np.where(g > 0, lam * g, 1.0)
            residual = ((left * self.rows.z) ** 2).sum()
        else:
            explained = (2 * g - g**2 * self.s2[:, None]) * self.z**2
            residual = self.energy.sum() - explained.sum()
        free = 1.0 - self.degrees_of_freedom(alpha) / l
        if free <= EPS * l:
            return np.inf
        return float(residual / (l * self.energy.size) / free**2)

    def scales(self, alpha: float) -> tuple[Array, Array]:
        """Return the variances s2 of noise and tau of the prior, each of shape (t,).

        By restricted maximum likelihood, s2 = y'(I - H) y / (l - rank F) and
        tau = s2 / lam. At lam = 0 there is no noise if the fit interpolates, and a flat
        prior if it does not. Infinite if l = rank F.
        """
        lam, left = self.lam(alpha), self.n_labeled - self.elimination.rank
        infinite = np.full_like(self.energy, np.inf)
        if left < 1:
            return infinite, infinite
        g = self.inverse(lam)[:, None]
        if self.rows is None:
            explained = (g * self.z**2).sum(axis=0)
            noise = np.maximum(self.energy - explained, 0.0) / left
        else:  # y'(I - H)y = lam y'G y, and G has a limit as lam -> 0
            tau = (g * self.rows.z**2).sum(axis=0) / left
            if lam > 0:
                return lam * tau, tau
            disagree = (self.rows.z[self.rows.s2 == 0] ** 2).sum(axis=0)
            if (disagree <= EPS * self.n_labeled * self.energy).all():
                return np.zeros_like(tau), tau
            noise = disagree / left
        return noise, noise / lam if lam > 0 else infinite

    def leave_one_out(self, alphas: Sequence[float]) -> Array:
        """Return the leave-one-out residuals e_i of (3), shape (a, l, t).

        They are times the root weights, and infinite where the other labels do not
        determine the prediction of a row.
        """
        if self.rows is None:
            raise ValueError(
                "Only moments of the rows were kept; use leave_one_out_block."
            )
        U, s2, z = self.rows.U, self.rows.s2, self.rows.z
        identified = np.einsum("ij,ij->i", U, U) > 10 * EPS * self.n_labeled
        lams = np.array([self.lam(a) for a in alphas])
        inverses = np.array([self.inverse(lam) for lam in lams])  # (a, m)
        diagonal = (U**2) @ inverses.T  # G_ii, (l, a)
        l, a, t = self.n_labeled, len(lams), z.shape[1]
        scaled = inverses.T[:, :, None] * z[:, None, :]  # (m, a, t)
        Gy = (U @ scaled.reshape(-1, a * t)).reshape(l, a, t)
        # As lam -> 0 the directions with s = 0 outweigh all others in the rows where
        # they are not 0, and must not reach the other rows, not even by rounding.
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

    def leave_one_out_block(
        self,
        PhiV: Array,  # (b, m)
        Q1: Array,  # (b, rank F)
        y: Array,  # (b, t)
        alphas: Sequence[float],
    ) -> Array:  # (b, a, t)
        """Return the residuals (3) for a block of the labeled rows, by 1 - H_ii."""
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
        r"""Return the factors of s2 and of tau in the posterior variance.

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
        # At lam = 0, directions without labels keep their prior variance.
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
    """Solve (1) from the labeled rows, for l - rank F <= r. O(l^2 r)."""
    M = elimination.complement(Phi)
    E, s, Vt = sla.svd(M, full_matrices=False, check_finite=False)
    # Projecting F out leaves rounding errors of the size of Phi.
    rounding = max(_rounding(s**2), (EPS * max(Phi.shape) * sla.norm(Phi)) ** 2)
    s2 = _truncate(s**2, rounding)
    U, scale = elimination.expand(E), np.where(s2 > 0, s, 0.0)
    z, target, energy = _in_modes(U, elimination, y)
    return RidgePath(
        s2=s2,
        V=Vt.T,
        z=scale[:, None] * z,
        cross=elimination.Q1.T @ Phi,
        target=target,
        energy=energy,
        elimination=elimination,
        n_labeled=y.shape[0],
        rounding=rounding,
        total_weight=total_weight,
        rows=RowFactor(U, s2, z, scale),
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
    """Return theta and beta for one lam, from the moments of `ridge_eigh`.

    Several times cheaper than the path, though also O(r^3). None if the system is too
    ill-conditioned; the path handles that case.
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
    # Projecting F out leaves rounding errors of the size of K.
    size = float(np.abs(K).sum(axis=0).max(initial=0.0))  # bounds the eigenvalues of K
    rounding = EPS * len(K) * size
    lowest = s2.min(initial=0.0)
    if lowest < -max(INDEFINITE * size, 10 * rounding):
        raise IndefiniteKernelError(
            f"The kernel is not positive definite on the complement of the unpenalized "
            f"features: eigenvalues range from {lowest:.3g} to {s2[-1]:.3g}. A "
            f"conditionally positive definite kernel needs the polynomials of its "
            f"degree unpenalized."
        )
    s2 = _truncate(s2, rounding)
    U = elimination.expand(E)
    z, target, energy = _in_modes(U, elimination, y)
    return RidgePath(
        s2=s2,
        V=U,
        z=z,
        cross=elimination.Q1.T @ K,
        target=target,
        energy=energy,
        elimination=elimination,
        n_labeled=y.shape[0],
        rounding=rounding,
        total_weight=total_weight,
        rows=RowFactor(U, s2, z, np.ones_like(s2)),
    )


def ridge_weighted(
    K: Array,  # (l, l)
    F: Array,  # (l, k)
    y: Array,  # (l, t)
    w: Array,  # (l,)
) -> RidgePath:
    """`ridge_dual` for weighted rows; c is the root of the weights times ``theta``."""
    root = np.sqrt(w)[:, None]
    elimination = Elimination(root * F, quiet=True)
    return ridge_dual(root * K * root.T, root * y, elimination, float(w.sum()))


def _in_modes(
    U: Array,  # (l, l - rank F)
    elimination: Elimination,
    y: Array,  # (l, t)
) -> tuple[Array, Array, Array]:
    """Return U'y, Q1'y and the squared length of N'y."""
    target = elimination.Q1.T @ y
    left = y - elimination.Q1 @ target  # N N'y
    return U.T @ left, target, (left**2).sum(axis=0)


def _rounding(s2: Array) -> float:
    return EPS * s2.size * float(s2.max(initial=0.0))


def _truncate(s2: Array, rounding: float) -> Array:
    """Return s^2, with 0 where it is 0 to rounding."""
    return np.where(s2 > rounding, s2, 0.0)
