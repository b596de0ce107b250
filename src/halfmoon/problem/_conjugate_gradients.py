"""Solve the problem by conjugate gradients, for kernel matrices too large to factor."""

from __future__ import annotations

import numpy as np

from halfmoon._landmarks.rpcholesky import randomly_pivoted_cholesky
from halfmoon._rows import Array
from halfmoon._solvers.preconditioned_cg import (
    SolveResult,
    conjugate_gradients,
    nystrom_preconditioner,
)
from halfmoon.bases import Exact
from halfmoon.problem._fit import Fit
from halfmoon.problem._posed import Posed

__all__ = ["solve_iteratively"]

RANK_PER_ROOT = 5  # rank of the preconditioner divided by the root of l


def solve_iteratively(
    posed: Posed,
    alpha: float,
    *,
    rank: int | None = None,
    tolerance: float = 1e-8,
    max_iterations: int = 1_000,
    rng: np.random.Generator | int | None = None,
) -> tuple[Fit, SolveResult]:
    """Solve a posed problem without ever storing the kernel matrix.

    (I - P) K (I - P) c + lam c = (I - P) y, with P the projection on the unpenalized
    features, by conjugate gradients with a Nystrom preconditioner from randomly pivoted
    Cholesky. O(l^2 d) time an iteration, O(l rank) memory.

    Parameters
    ----------
    posed : Posed
        In the exact basis and without an energy.
    alpha : float
        Positive.
    rank : int or None
        Rank of the preconditioner; None is 5 sqrt(l), 0 is no preconditioner.
    tolerance, max_iterations : float, int
        See `conjugate_gradients`.
    rng : Generator, int or None
    """
    basis = posed.basis
    if not (posed.dual and isinstance(basis, Exact)):
        raise ValueError(
            "Conjugate gradients need the exact basis and no energy. Other bases have "
            "few enough functions to factor: solve them by ridge."
        )
    if not 0 < alpha < np.inf:
        raise ValueError(f"alpha is {alpha}; a positive number is needed.")
    kernel, X_l, root = basis.kernel_, posed.X_l, posed.root_w
    l, lam = len(posed.labeled), posed.total_weight * alpha
    elimination = posed.elimination

    def project(M: Array) -> Array:
        return M - elimination.Q1 @ (elimination.Q1.T @ M)

    def kernel_product(v: Array) -> Array:
        weighted = root * v
        return root * posed.stream.map(
            lambda rows: kernel(rows, X_l) @ weighted, X_l, row_bytes=16 * l
        )

    rank = min(l, int(RANK_PER_ROOT * np.sqrt(l)) if rank is None else rank)
    preconditioner = None
    if rank > 0 and kernel.conditional_degree < 0:
        G = randomly_pivoted_cholesky(kernel, X_l, rank, rng).factor
        preconditioner = nystrom_preconditioner(project(root * G), lam)
    y = root * posed.y
    result = conjugate_gradients(
        lambda v: project(kernel_product(v)) + lam * v,
        project(y),
        preconditioner=preconditioner,
        tolerance=tolerance,
        max_iterations=max_iterations,
    )
    c = result.value
    beta = elimination.solve(elimination.Q1.T @ (y - kernel_product(c)))
    theta = basis.lift(posed.labeled, root * c)
    return Fit(posed, theta, beta, alpha=alpha), result
