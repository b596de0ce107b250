r"""Preconditioned conjugate gradients for several right-hand sides at once.

For :math:`(A + lam I) x = b` with A known only by products A v, and a low-rank
approximation A ~ G G' to speed it up. With :math:`U diag(s^2) U' = G G'` the
preconditioner is

.. math:: M^{-1} = U diag((s_m^2 + lam) / (s^2 + lam)) U' + (I - U U')

which leaves only the tail of the spectrum to the iteration: Frangella, Tropp, Udell,
"Randomized Nystrom preconditioning", 2023.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg as sla
from sklearn.exceptions import ConvergenceWarning

from halfmoon._rows import EPS, Array

__all__ = ["SolveResult", "conjugate_gradients", "nystrom_preconditioner"]

Operator = Callable[[Array], Array]


@dataclass(frozen=True)
class SolveResult:
    """The result of an iterative solve."""

    value: Array  # (l, t)
    iterations: int
    residual: Array  # (t,), |b - A x| / |b| of each right-hand side
    converged: bool


def conjugate_gradients(
    operator: Operator,  # v, (l, t), to A v
    b: Array,  # (l, t)
    *,
    preconditioner: Operator | None = None,  # r to M^-1 r
    tolerance: float = 1e-8,  # of the residual, relative to b
    max_iterations: int = 1_000,
) -> SolveResult:
    """Solve A x = b for a positive definite A given by its products.

    Each column has its own step lengths, and all share one product with A. Warns if the
    residuals do not reach the tolerance.
    """
    M = preconditioner or (lambda r: r)
    size = np.linalg.norm(b, axis=0)
    size[size == 0] = 1.0
    x = np.zeros_like(b)
    r = b.copy()
    d = M(r).copy()
    rho = np.einsum("ij,ij->j", r, d)
    residual = np.linalg.norm(r, axis=0) / size
    iterations = 0
    while residual.max(initial=0.0) > tolerance and iterations < max_iterations:
        Ad = operator(d)
        curvature = np.einsum("ij,ij->j", d, Ad)
        active = (residual > tolerance) & (curvature > 0)
        if not active.any():
            break
        step = np.divide(rho, curvature, out=np.zeros_like(rho), where=active)
        x += step * d
        r -= step * Ad
        z = M(r)
        rho_next = np.einsum("ij,ij->j", r, z)
        d *= np.divide(rho_next, rho, out=np.zeros_like(rho), where=rho != 0)
        d += z
        rho = rho_next
        residual = np.linalg.norm(r, axis=0) / size
        iterations += 1
    if iterations:
        residual = (
            np.linalg.norm(b - operator(x), axis=0) / size
        )  # exact, not the recursion's
    converged = bool((residual <= 10 * tolerance).all())
    if not converged:
        warnings.warn(
            f"Conjugate gradients stopped after {iterations} iterations at a residual "
            f"of {residual.max():.1e}, above {tolerance:.1e}. Raise alpha, the rank of "
            f"the preconditioner or max_iterations.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return SolveResult(x, iterations, residual, converged)


def nystrom_preconditioner(
    G: Array,  # (l, m)
    lam: float,
) -> Operator:
    """Return M^-1 for A + lam I, from a factor with A ~ G G'. O(l m^2)."""
    U, s, _ = sla.svd(G, full_matrices=False, check_finite=False)
    kept = s > EPS * max(G.shape) * s.max(initial=0.0)
    U, s2 = U[:, kept], s[kept] ** 2
    shrink = (s2.min(initial=np.inf) + lam) / (s2 + lam) - 1.0

    def product(r: Array) -> Array:
        return np.asarray(r + U @ (shrink[:, None] * (U.T @ r)))

    return product
