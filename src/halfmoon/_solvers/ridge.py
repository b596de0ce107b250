r"""Generalized ridge: every alpha, and exact leave-one-out, from one factorization.

.. math:: min \; |y - Phi theta - F beta|^2 + lam |theta|^2, \quad lam = W alpha     (1)

in coordinates where the root of the weights is in y, Phi and F, and the penalty is the
identity (`halfmoon._whitening`). With F eliminated (`elimination.py`) and
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
                                (`path_point` for a single alpha)
==============  ==============================  =====================================

**Leave-one-out.** The row that is left out stays in the table as an unlabeled row, so
Phi, the penalty and lam do not change. With G = N (N'Phi Phi'N + lam I)^-1 N', the
residuals are lam G y, and the leave-one-out residual of row i is

.. math:: e_i = (y_i - g(x_i)) / (1 - H_{ii}) = (G y)_i / G_{ii}                     (3)

where the second form has no cancellation when lam is small, and holds at lam = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg as sla

from halfmoon._rows import EPS, Array
from halfmoon._solvers.elimination import Elimination
from halfmoon._solvers.positive_part import column_sum_norm, rounding_of_projection

__all__ = [
    "RidgePath",
    "RowFactor",
    "ridge_dual",
    "ridge_eigh",
    "ridge_svd",
    "ridge_weighted",
    "scaled_variances",
]


@dataclass(frozen=True)
class RowFactor:
    """The factorization as seen from the labeled rows, for leave-one-out."""

    U: Array  # (l, m), orthonormal; with Q1, a basis of all vectors of l values
    scale: Array  # (m,), s, or 1 in the dual: `RidgePath.z` is scale times z
    z: Array  # (m, t), U'y


@dataclass(frozen=True)
class RidgePath:
    """The minimizers of (1) for every alpha: theta = V diag(1 / (s^2 + lam)) z."""

    s2: Array  # (m,), 0 where it is 0 to rounding
    V: Array  # (r, m)
    z: Array  # (m, t)
    cross: Array  # (rank F, r), Q1'Phi
    target: Array  # (rank F, t), Q1'y
    energy: Array  # (t,), squared length of N'y
    elimination: Elimination
    n_labeled: int
    rounding: float  # below this, s^2 and lam are 0
    total_weight: float  # W, in lam = W alpha
    rows: RowFactor | None  # None if only moments of the rows were kept

    @classmethod
    def of_rows(
        cls,
        U: Array,
        scale: Array,
        s2: Array,
        V: Array,
        cross: Array,
        y: Array,  # (l, t)
        elimination: Elimination,
        rounding: float,
        total_weight: float,
    ) -> RidgePath:
        """Return the path of targets y from a factorization of the labeled rows."""
        target = elimination.Q1.T @ y
        left = y - elimination.Q1 @ target  # N N'y
        z, energy = U.T @ left, (left**2).sum(axis=0)
        return cls(
            s2,
            V,
            z=scale[:, None] * z,
            cross=cross,
            target=target,
            energy=energy,
            elimination=elimination,
            n_labeled=len(y),
            rounding=rounding,
            total_weight=total_weight,
            rows=RowFactor(U, scale, z),
        )

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
        return RidgePath.of_rows(
            self.rows.U,
            self.rows.scale,
            self.s2,
            self.V,
            self.cross,
            y,
            self.elimination,
            self.rounding,
            self.total_weight,
        )

    def inverse(self, lam: float) -> Array:
        """Return 1 / (s^2 + lam), or 0 where both are 0 to rounding."""
        total = self.s2 + lam
        out = np.zeros_like(total)
        return np.divide(1.0, total, out=out, where=total > self.rounding)

    def solve(self, b: Array, lam: float) -> Array:
        """Return (Phi'N N'Phi + lam I)^-1 b, (r, t), for a b in the range of Phi'N."""
        seen = np.where(self.s2 > 0, self.inverse(lam), 0.0)
        return np.asarray(self.V @ (seen[:, None] * (self.V.T @ b)))

    def theta(self, alpha: float) -> Array:
        """Return the whitened coefficients of the basis, (r, t); c in the dual."""
        return self.V @ (self.inverse(self.lam(alpha))[:, None] * self.z)

    def beta(self, alpha: float) -> Array:
        """Return the coefficients of the unpenalized features, shape (k, t)."""
        return self.elimination.solve(self.target - self.cross @ self.theta(alpha))

    def coefficients(self, alphas: Sequence[float]) -> tuple[Array, Array]:
        """Return theta and beta at every alpha, shapes (r, a, t) and (k, a, t)."""
        inverses = np.array([self.inverse(self.lam(a)) for a in alphas])  # (a, m)
        scaled = inverses.T[:, :, None] * self.z[:, None, :]  # (m, a, t)
        a, t = scaled.shape[1:]
        theta = self.V @ scaled.reshape(-1, a * t)
        target = np.tile(self.target, a)
        beta = self.elimination.solve(target - self.cross @ theta)
        return theta.reshape(-1, a, t), beta.reshape(-1, a, t)

    def degrees_of_freedom(self, alpha: float) -> float:
        """Return the trace of the smoother H, which maps y to fitted values."""
        shrunk = self.s2 * self.inverse(self.lam(alpha))
        return self.elimination.rank + float(shrunk.sum())

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
            disagree = (self.rows.z[self.s2 == 0] ** 2).sum(axis=0)
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
        U, s2, z = self.rows.U, self.s2, self.rows.z
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


def scaled_variances(
    factor: Array,  # (b,)
    variances: Array,  # (t,)
) -> Array:
    """Return factor variances', shape (b, t), with 0 times infinity being 0."""
    product = np.zeros((factor.size, variances.size))
    positive = factor[:, None] > 0
    return np.multiply(factor[:, None], variances, out=product, where=positive)


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
    largest = EPS * s.size * float((s**2).max(initial=0.0))
    rounding = max(largest, (EPS * max(Phi.shape) * sla.norm(Phi)) ** 2)
    s2 = np.where(s**2 > rounding, s**2, 0.0)
    U, scale = elimination.expand(E), np.where(s2 > 0, s, 0.0)
    cross = elimination.Q1.T @ Phi
    return RidgePath.of_rows(
        U, scale, s2, Vt.T, cross, y, elimination, rounding, total_weight
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
    s2, V = np.linalg.eigh(G - cross.T @ cross)
    rounding = EPS * len(G) * float(np.abs(G).sum(axis=0).max(initial=0.0))
    s2 = np.where(s2 > rounding, s2, 0.0)
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
    s2, E = np.linalg.eigh(elimination.congruence(K))
    rounding = rounding_of_projection(s2, column_sum_norm(K), len(K))
    s2 = np.where(s2 > rounding, s2, 0.0)
    U = elimination.expand(E)
    cross, scale = elimination.Q1.T @ K, np.ones_like(s2)
    return RidgePath.of_rows(
        U, scale, s2, U, cross, y, elimination, rounding, total_weight
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
