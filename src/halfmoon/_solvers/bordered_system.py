r"""Weighted kernel ridge with unpenalized features, for given curvatures.

.. math:: (M + H^{-1}) v + F b = a, \quad F'v = r                                    (1)

is the Newton step of every convex loss: M is the kernel matrix over twice lam, H the
curvatures of the loss, F the unpenalized features, v the negative derivatives of the
losses. With S the root of H,

.. math:: B = I + S M S = L L', \quad L^{-1} S F = Q R, \quad v = S L^{-T} x         (2)

.. math:: x = (I - Q Q') L^{-1} S a + Q R^{-T} r, \quad
          b = R^{-1}(Q'L^{-1} S a - R^{-T} r)

B has no eigenvalue below 1 for any curvatures, so rows with almost no curvature and
rows that are almost interpolated cause no trouble. With r = 0, v = G a with
:math:`G = S L^{-T} (I - Q Q') L^{-1} S`.

**Leave-one-out.** Let v and g = M v + F b be a minimum of the losses and the penalty,
h the curvatures there, and a = g + v / h. The minimum then solves (1), so it is the
weighted ridge of the working responses a, whose leave-one-out residual is
:math:`v_i / G_{ii}` (`halfmoon._solvers.ridge`). So without the label of row i,
and after one Newton step from the minimum with all labels,

.. math:: g_i^{(-i)} = a_i - v_i / G_{ii} = g_i - v_i \frac{1 - q_i}{h_i q_i}, \quad
          G_{ii} = h_i q_i                                                           (3)

which is exact for squares. For other losses the error is of second order in the change
that the label makes.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as sla
from scipy.linalg.lapack import dpotrf, dtrtri, dtrtrs

from halfmoon._rows import EPS, Array

__all__ = ["Bordered", "loo_values"]


class Bordered:
    """The factorization (2), for positive semi-definite M, full rank F and h > 0."""

    def __init__(self, M: Array, F: Array, h: Array) -> None:
        self.root = np.sqrt(h)
        B = M * self.root
        B *= self.root[:, None]
        B[np.diag_indices(len(B))] += 1.0
        self.chol, failed = dpotrf(B.T, lower=1, clean=1, overwrite_a=1)
        if failed:
            raise np.linalg.LinAlgError("The kernel matrix is not positive definite.")
        self.Q, self.R = sla.qr(
            self._down(self.root[:, None] * F), mode="economic", check_finite=False
        )

    def solve(
        self,
        Sa: Array,  # (l,), S a
        r: Array | None = None,  # (k,)
    ) -> tuple[Array, Array]:  # (l,), (k,)
        """Return v and b of (1), from a times the roots of the curvatures."""
        down = self._down(Sa)
        along = self.Q.T @ down
        if r is not None:
            along -= sla.solve_triangular(self.R, r, trans="T", check_finite=False)
        x = down - self.Q @ along
        v, _ = dtrtrs(self.chol, x, lower=1, trans=1)
        b = sla.solve_triangular(self.R, along, check_finite=False)
        return self.root * v, b

    def shares(self) -> Array:  # (l,)
        """Return q of (3): 1 if a row ignores its label, 0 if it ignores all others."""
        X = self._inverse()
        return np.clip(np.einsum("ij,ij->j", X, X), 0.0, 1.0)

    def projected(self) -> Array:  # (l, l)
        """Return X = (I - Q Q') L^-1 S, with G = X'X."""
        return self._inverse() * self.root

    def _inverse(self) -> Array:
        X, _ = dtrtri(self.chol, lower=1)
        if self.Q.shape[1]:
            X -= self.Q @ (self.Q.T @ X)
        return np.asarray(X)

    def _down(self, A: Array) -> Array:
        """L^-1 A."""
        out, _ = dtrtrs(self.chol, A, lower=1)
        return np.asarray(out).reshape(A.shape)


def loo_values(
    g: Array,  # (l,)
    v: Array,  # (l,)
    h: Array,  # (l,)
    q: Array,  # (l,)
) -> Array:  # (l,)
    """Return (3); NaN where the other labels do not determine the value."""
    known = q > 10 * EPS * len(q)
    out = np.full(len(g), np.nan)
    out[known] = (g - v * (1 - q) / (h * np.where(known, q, 1.0)))[known]
    return out
