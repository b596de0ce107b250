r"""Nested features: every number of unpenalized columns from one factorization.

With A = K + lam I = L L' and F_j the first j columns of F, the dual of the problem is

.. math:: A c_j + F_j beta_j = y, \quad F_j'c_j = 0                                (1)

Put :math:`\tilde y = L^{-1} y` and :math:`L^{-1} F = Q R`, with Q = (q_1, ..., q_l)
square: its first columns span those of L^-1 F in their order, so what belongs to F_j
is a leading part of Q and R. With W = L^-T Q and :math:`z = Q'\tilde y`

.. math:: beta_j = R_j^{-1} z_{1..j}, \quad c_j = \sum_{i>j} w_i z_i, \quad
          G_j = \sum_{i>j} w_i w_i', \quad c_j = G_j y                              (2)

and the leave-one-out residual of row m is :math:`c_{j,m} / G_{j,mm}`, exactly. One sum
over the columns, from the last to the first, gives them all without cancellation. At
new rows

.. math:: g_j(x) = k(x)'c_0 + \sum_{i \le j} (f(x)'R^{-1} - k(x)'W)_i z_i            (3)

O(l^3 + l^2 k) for all j at once. Leave-one-out may choose j only if the columns do not
come from the labeled rows: see below.

**Hard threshold**: the top eigenfunctions are unpenalized. With K = U diag(s) U', s
descending, and the first k eigenvectors as unpenalized features, modes 1 to k are
unchanged and the others are shrunk by s / (s + lam):

.. math:: g(x) = \sum_{i \le k} v_i(x) + \sum_{i > k} v_i(x) \, s_i / (s_i + lam),
          \quad v_i(x) = k(x)'u_i \; u_i'y / s_i

so cumulative sums over the modes give every k, and one eigendecomposition every k and
every alpha. Takhanov, Assylbekov, "Conditional KRR", 2026, section 5.1. Modes beyond
the numerical rank of K do not count.

The eigenvectors come from the labeled rows themselves, which makes closed-form
leave-one-out far too pessimistic to choose k. Use test rows, or folds in which the
eigenvectors are computed again.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg as sla
from scipy.linalg.lapack import dpocon, dpotrf

from halfmoon._rows import EPS, Array, Indices
from halfmoon.blocks import Stream

__all__ = ["FeaturePath", "HardThreshold", "hard_threshold", "nested_features"]
CACHED_ROWS = 64  # whose modes stay in the cache


@dataclass(frozen=True)
class FeaturePath:
    """The solutions of (1) for the first j columns, j = 0, ..., k."""

    W: Array  # (l, l), L^-T Q
    z: Array  # (l, t), Q' L^-1 y
    R: Array  # (r, r), upper triangular, for the columns in `kept`
    kept: Indices  # (r,), columns that do not depend on those before them
    skipped: tuple[int, ...]  # the other columns, which have coefficients of 0
    n_columns: int  # k

    def coef(self, j: int) -> Array:
        """Return beta_j, shape (k, t), which is 0 from column j on."""
        r = self._rank(j)
        beta = np.zeros((self.n_columns, self.z.shape[1]))
        if r:
            beta[self.kept[:r]] = sla.solve_triangular(self.R[:r, :r], self.z[:r])
        return beta

    def dual_coef(self, j: int) -> Array:
        """Return c_j, shape (l, t)."""
        r = self._rank(j)
        return self.W[:, r:] @ self.z[r:]

    def errors(
        self,
        K_x: Array,  # (m, l), kernel between test and labeled rows
        F_x: Array,  # (m, k)
        y: Array,  # (m, t)
    ) -> Array:  # (k + 1,)
        """Return the mean squared error on test rows for j = 0, ..., k, by (3).

        If K, F and y are times root weights, so must be the columns of K_x.
        """
        r = len(self.kept)
        start = K_x @ self.dual_coef(0) - y  # (m, t)
        steps = np.zeros((len(K_x), r))
        if r:
            by_R = sla.solve_triangular(self.R, F_x[:, self.kept].T, trans="T").T
            steps = by_R - K_x @ self.W[:, :r]
        squares = np.zeros(r + 1)
        for z, residual in zip(self.z[:r].T, start.T, strict=True):
            path = np.column_stack([residual, steps * z])
            np.cumsum(path, axis=1, out=path)
            squares += np.einsum("ij,ij->j", path, path)
        return squares[self._ranks] / y.size

    def leave_one_out(self) -> Array:
        """Return the leave-one-out residuals for each j, shape (k + 1, l, t).

        Infinite where the other labels do not determine the prediction of a row.
        """
        (l, t), r = self.z.shape, len(self.kept)
        left = self.W[:, r:]
        dual = np.empty((r + 1, l, t))
        diagonal = np.empty((r + 1, l))
        dual[r] = left @ self.z[r:]
        diagonal[r] = np.einsum("ij,ij->i", left, left)
        for j in range(r - 1, -1, -1):  # sums of squares, from the last column on
            dual[j] = dual[j + 1] + self.W[:, j, None] * self.z[j]
            diagonal[j] = diagonal[j + 1] + self.W[:, j] ** 2
        known = diagonal > 10 * EPS**2 * l**2 * diagonal[0]
        out = np.full((r + 1, l, t), np.inf)
        np.divide(dual, diagonal[:, :, None], out=out, where=known[:, :, None])
        return out[self._ranks]

    def _rank(self, j: int) -> int:
        if not 0 <= j <= self.n_columns or j != int(j):
            raise ValueError(
                f"j is {j!r}; a number of columns from 0 to {self.n_columns} is needed."
            )
        return int(self._ranks[int(j)])

    @property
    def _ranks(self) -> Indices:
        """Number of the first j columns that are kept, for j = 0, ..., k."""
        return np.searchsorted(self.kept, np.arange(self.n_columns + 1))


def nested_features(
    K: Array,  # (l, l)
    F: Array,  # (l, k)
    y: Array,  # (l, t)
    lam: float,
) -> FeaturePath:
    """Solve (1) for the first j columns of F, for every j.

    K, F and y are times the root of the weights, as for `ridge_dual`. K + lam I must be
    positive definite beyond rounding.
    """
    l = len(K)
    A = np.array(K, dtype=np.float64, order="F")
    A[np.diag_indices(l)] += lam
    chol, failed = dpotrf(A, lower=1, clean=1)
    if failed or dpocon(chol, np.abs(A).sum(axis=0).max(), uplo="L")[0] <= EPS * l:
        raise ValueError(
            f"K + lam I with lam = {lam:.3g} is not positive definite to rounding, and "
            f"it must be, even without the unpenalized features. Use a larger alpha, "
            f"or solve for each number of columns by ridge."
        )
    kept = _independent(F)
    skipped = tuple(sorted(set(range(F.shape[1])) - set(kept.tolist())))
    if skipped:
        warnings.warn(
            f"Columns {list(skipped)} of the {F.shape[1]} unpenalized columns depend "
            f"on earlier ones on the {l} labeled rows. They are skipped: their "
            f"coefficients are 0.",
            stacklevel=2,
        )
    half = sla.solve_triangular(chol, F[:, kept], lower=True, check_finite=False)
    Q, R = sla.qr(half, check_finite=False) if kept.size else (np.eye(l), half[:0])
    return FeaturePath(
        W=sla.solve_triangular(chol, Q, lower=True, trans="T", check_finite=False),
        z=Q.T @ sla.solve_triangular(chol, y, lower=True, check_finite=False),
        R=R[: kept.size],
        kept=kept,
        skipped=skipped,
        n_columns=F.shape[1],
    )


def _independent(F: Array) -> Indices:
    """Return the columns that do not depend, to rounding, on those before them.

    This is decided on F itself, because L^-1 F magnifies rounding errors.
    """
    l, k = F.shape
    scale = np.sqrt(np.einsum("ij,ij->j", F, F))
    unit = F / np.where(scale > 0, scale, 1.0)
    rounding = EPS * max(l, k)
    if 0 < k <= l:
        R = sla.qr(unit, mode="r", check_finite=False)[0]
        if (np.abs(np.diag(R)) > rounding).all():
            return np.arange(k)
    # A dependent column would rotate those after it: take them one at a time.
    Q = np.empty((l, min(l, k)))
    kept: list[int] = []
    for j in range(k):
        if len(kept) == l:
            break
        before, left = Q[:, : len(kept)], unit[:, j]
        for _ in range(2):  # twice, because the first leaves rounding errors
            left = left - before @ (before.T @ left)
        size = float(np.linalg.norm(left))
        if size > rounding:
            Q[:, len(kept)] = left / size
            kept.append(j)
    return np.array(kept, dtype=np.intp)


@dataclass(frozen=True)
class HardThreshold:
    """An eigendecomposition of K at its numerical rank, and the targets in it."""

    s: Array  # (rank,), descending
    U: Array  # (l, rank)
    z: Array  # (rank, t), U'y

    def dual_coef(self, k: int, alpha: float) -> Array:
        """Return c with g(x) = k(x)'c, for k unpenalized modes, shape (l, t)."""
        lam = alpha * self.U.shape[0]
        shrunk = np.where(np.arange(self.s.size) < k, self.s, self.s + lam)
        return self.U @ (self.z / shrunk[:, None])

    def errors(
        self,
        K_x: Array,  # (m, l), kernel between test and labeled rows
        y: Array,  # (m, t)
        alphas: Sequence[float] | Array,
    ) -> Array:  # (len(alphas), rank + 1)
        """Return the mean squared error on test rows, for each alpha and k.

        O(m l rank) for one product, and O(m rank t) for each alpha.
        """
        lams = np.asarray(alphas, dtype=np.float64) * self.U.shape[0]
        shrinkage = lams[:, None] / (self.s + lams[:, None])  # of each mode, (a, rank)
        to_modes = self.U / self.s

        def squares(K_rows: Array, targets: Array) -> Array:
            M = K_rows @ to_modes  # (b, rank): v_i(x) = M z
            out = np.zeros((len(shrinkage), self.s.size + 1))
            for z, target in zip(self.z.T, targets.T, strict=True):
                V = np.ascontiguousarray((M * z).T)  # (rank, b), a mode in each row
                whole = V.sum(axis=0)
                for lost, into in zip(shrinkage, out, strict=True):
                    # Unpenalizing mode k restores its part that the penalty removed.
                    steps = np.zeros((len(V) + 1, len(target)))
                    np.multiply(lost[:, None], V, out=steps[1:])
                    np.cumsum(steps, axis=0, out=steps)
                    steps += whole - steps[-1] - target
                    into += np.einsum("ij,ij->i", steps, steps)
            return out

        total: Array = Stream(block_rows=CACHED_ROWS).sum(
            squares, K_x, y, row_bytes=24 * self.s.size
        )
        return total / y.size


def hard_threshold(
    K: Array,  # (l, l)
    y: Array,  # (l, t)
) -> HardThreshold:
    """Decompose K at its numerical rank, and express the targets in it. O(l^3)."""
    s, U = np.linalg.eigh(K)
    kept = s > EPS * len(s) * max(s[-1], 0.0)
    s, U = s[kept][::-1], U[:, kept][:, ::-1]
    return HardThreshold(s, U, U.T @ y)
