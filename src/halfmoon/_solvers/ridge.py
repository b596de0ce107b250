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
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg as sla
from scipy.linalg.lapack import dpocon, dpotrf, dpotrs

from halfmoon._rows import EPS, Array
from halfmoon._solvers.elimination import Elimination
from halfmoon._solvers.ridge_path import RidgePath
from halfmoon._whitening import symmetric_eigen

__all__ = [
    "IndefiniteKernelError",
    "column_sum_norm",
    "indefinite_limit",
    "positive_part",
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
    s2 = _truncate(s**2, rounding)
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
    s2, E = symmetric_eigen(elimination.congruence(K))
    rounding = _rounding_of_projection(s2, column_sum_norm(K), len(K))
    s2 = _truncate(s2, rounding)
    U = elimination.expand(E)
    cross, scale = elimination.Q1.T @ K, np.ones_like(s2)
    return RidgePath.of_rows(
        U, scale, s2, U, cross, y, elimination, rounding, total_weight
    )


def positive_part(
    M: Array,  # (l, l)
    size: float,  # `column_sum_norm` of the matrix that F was projected out of
) -> Array:  # (l, l)
    """Return a projected kernel matrix at its numerical rank. O(l^3)."""
    s2, E = symmetric_eigen(M)
    root = E * np.sqrt(_truncate(s2, _rounding_of_projection(s2, size, len(M))))
    return np.asarray(root @ root.T)


def column_sum_norm(K: Array) -> float:
    """Return a bound of the absolute eigenvalues of K."""
    return float(np.abs(K).sum(axis=0).max(initial=0.0))


def _rounding_of_projection(s2: Array, size: float, l: int) -> float:
    """Return below what the eigenvalues of a projected kernel matrix are 0.

    Projecting F out leaves rounding errors of the size of the whole matrix.
    """
    lowest = s2.min(initial=0.0)
    if lowest < -indefinite_limit(size, l):
        raise IndefiniteKernelError(
            f"The kernel is not positive definite on the complement of the unpenalized "
            f"features: eigenvalues range from {lowest:.3g} to {s2[-1]:.3g}. A "
            f"conditionally positive definite kernel needs the polynomials of its "
            f"degree unpenalized."
        )
    return EPS * l * size


def indefinite_limit(size: float, l: int) -> float:
    """Return how far below 0 the errors of a kernel matrix may take eigenvalues."""
    return max(INDEFINITE, 10 * EPS * l) * size


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


def _truncate(s2: Array, rounding: float) -> Array:
    """Return s^2, with 0 where it is 0 to rounding."""
    return np.where(s2 > rounding, s2, 0.0)
