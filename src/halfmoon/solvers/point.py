r"""Kernel ridge at one lam: a single Cholesky factorization, with leave-one-out.

.. math:: \min_{c, beta} \; \sum_i w_i |y_i - (K c + F beta)_i|^2 + lam \, c'K c

is `ridge_dual` at one point of its path, several times cheaper. The root of the weights
goes into K, F, y and c; F = Q_1 T is eliminated (`elimination.py`); and with
A = K + lam I,

.. math:: A = L L', \quad L^{-1} Q_1 = Q R, \quad M = (I - Q Q') L^{-1}, \quad G = M'M

.. math:: c = G y, \quad R \, T beta = Q'L^{-1} y, \quad e_i = c_i / G_{ii}

where e_i is the leave-one-out residual of row i, as in (3) of `ridge.py`. The columns
of M are projected before they are squared, so G_ii loses no digits to cancellation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg as sla
from scipy.linalg.lapack import dpocon, dpotrf, dtrtri

from halfmoon.rows import Array
from halfmoon.solvers.elimination import Elimination
from halfmoon.solvers.ridge import ridge_dual

__all__ = ["RidgePoint", "ridge_point"]

EPS = float(np.finfo(np.float64).eps)


class RidgePoint(NamedTuple):
    """Kernel ridge at one lam.

    Attributes
    ----------
    c : ndarray of shape (s, t)
    beta : ndarray of shape (k, t)
        Of least norm where columns of F depend on others.
    residuals : ndarray of shape (s, t)
        Leave-one-out; infinite where nothing is known without the row.
    energy : ndarray of shape (t,)
        y'G y: divided by `degrees`, the prior variance by restricted maximum
        likelihood.
    degrees : int
        s - rank F.
    """

    c: Array
    beta: Array
    residuals: Array
    energy: Array
    degrees: int


def ridge_point(
    K: Array,  # (s, s)
    F: Array,  # (s, k)
    y: Array,  # (s, t)
    w: Array,  # (s,)
    lam: float,
) -> RidgePoint:
    """Kernel ridge at one lam, with unpenalized features and leave-one-out. O(s^3).

    Parameters
    ----------
    K : ndarray of shape (s, s)
        May be singular, or only conditionally positive definite. Where A is too close
        to singular for Cholesky, the path of `ridge_dual` answers.
    F : ndarray of shape (s, k)
        May have no columns, or dependent ones.
    y, w : ndarrays of shape (s, t) and (s,)
        Targets and positive weights.
    lam : float
        Penalty weight compared with the sum of the weighted squares, not their mean.

    Examples
    --------
    Without a kernel, the mean of the other rows:

    >>> ones, y = np.ones((3, 1)), np.array([[0.0], [1.0], [5.0]])
    >>> point = ridge_point(np.zeros((3, 3)), ones, y, np.ones(3), 1.0)
    >>> point.beta[0], point.residuals[:, 0]
    (array([2.]), array([-3. , -1.5,  4.5]))
    """
    if not 0 <= lam < np.inf:
        raise ValueError(f"lam is {lam}; a number that is not negative is needed.")
    root = np.sqrt(w)[:, None]
    elimination = Elimination(root * F, quiet=True)
    y_w, degrees = root * y, len(K) - elimination.rank
    solved = _by_cholesky(root * K * root.T, y_w, elimination, lam)
    if solved is None:
        path = ridge_dual(root * K * root.T, y_w, elimination, 1.0)
        residuals = path.leave_one_out([lam])[0]
        solved = path.theta(lam), path.beta(lam), residuals
    c, beta, residuals = solved
    energy = (c * y_w).sum(axis=0)
    return RidgePoint(root * c, beta, residuals / root, energy, degrees)


def _by_cholesky(
    A: Array,  # (s, s), K; overwritten
    y: Array,  # (s, t)
    elimination: Elimination,
    lam: float,
) -> tuple[Array, Array, Array] | None:
    """c, beta and residuals; None where A = K + lam I is singular to rounding."""
    s, Q1 = len(A), elimination.Q1
    A[np.diag_indices(s)] += lam
    norm = float(np.abs(A).sum(axis=0).max())
    chol, failed = dpotrf(A.T, lower=1, clean=1, overwrite_a=1)  # A' = A, in its order
    if failed or dpocon(chol, norm, uplo="L")[0] <= EPS * s:
        return None
    inverse, _ = dtrtri(chol, lower=1, overwrite_c=1)  # L^-1
    v = inverse @ y
    Q, R = _qr(inverse @ Q1)
    beta = elimination.solve(sla.solve_triangular(R, Q.T @ v) if Q.size else Q.T @ v)
    inverse -= Q @ (Q.T @ inverse)  # M
    c = inverse.T @ v
    G_ii = np.einsum("ij,ij->j", inverse, inverse)
    identified = 1.0 - np.einsum("ij,ij->i", Q1, Q1) > 10 * EPS * s
    residuals = np.full_like(c, np.inf)
    residuals[identified] = c[identified] / G_ii[identified, None]
    return c, beta, residuals


def _qr(B: Array) -> tuple[Array, Array]:
    if B.shape[1] == 0:
        return B, np.zeros((0, 0))
    Q, R = sla.qr(B, mode="economic", check_finite=False)
    return Q, R
