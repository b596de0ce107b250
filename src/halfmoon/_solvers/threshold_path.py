r"""Hard threshold: the top eigenfunctions unpenalized, for every number of them.

With K = U diag(s) U', s descending, and the first k eigenvectors as unpenalized
features, modes 1 to k are unchanged and the others are shrunk by s / (s + lam):

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

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from halfmoon._rows import EPS, Array
from halfmoon._whitening import symmetric_eigen
from halfmoon.blocks import Stream

__all__ = ["HardThreshold", "hard_threshold"]

CACHED_ROWS = 64  # whose modes stay in the cache


@dataclass(frozen=True)
class HardThreshold:
    """An eigendecomposition of K at its numerical rank, and the targets in it.

    Attributes
    ----------
    s : ndarray of shape (rank,)
        Eigenvalues, descending.
    U : ndarray of shape (l, rank)
    z : ndarray of shape (rank, t)
        U'y.
    """

    s: Array
    U: Array
    z: Array

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
    s, U = symmetric_eigen(K)
    kept = s > EPS * len(s) * max(s[-1], 0.0)
    s, U = s[kept][::-1], U[:, kept][:, ::-1]
    return HardThreshold(s, U, U.T @ y)
