r"""Randomly pivoted Cholesky: rows drawn by their residual, given the rows before.

With S the rows chosen so far, the residual of the kernel matrix is

.. math:: R = K - K_{:S} K_{SS}^{-1} K_{S:} = K - G G'                              (1)

and the next row is i with probability :math:`R_{ii} / tr R`. Chen, Epperly, Tropp and
Webber, "Randomly pivoted Cholesky", 2022: the expected :math:`tr R` after p rows is
near the least that any p dimensions can reach.

One row at a time, (1) consists of matrix-vector products. Here, rows are proposed in
blocks, from the diagonal of R at the start of the block, and proposal i is accepted
with probability

.. math:: R_{ii}(now) / R_{ii}(start of block)                                      (2)

so the accepted rows are exact draws from the *current* diagonal of R. Acceptance needs
only the small matrix R_BB of the proposals B. The n-by-p factor is then updated by
matrix products. Epperly, Tropp and Webber, "Embrace
rejection: kernel matrix approximation by accelerated randomly pivoted Cholesky", 2024.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from halfmoon._landmarks.sampling import as_count, refuse_conditional
from halfmoon._rows import EPS, Array, Indices, Rows, as_table
from halfmoon.blocks import Stream
from halfmoon.kernels import Kernel

__all__ = ["PivotedCholesky", "randomly_pivoted_cholesky"]

# Proposals per block: enough for matrix products, and few enough that the elimination
# within a block (b^3) and rejected proposals cost little compared with n p b.
BLOCKS = 4  # p / 4 proposals in each
BLOCK_RANGE = (32, 256)

# A residual below this many roundings of k(x, x) is noise. An entry of G G' is a sum of
# p <= n rounded products, and a kernel of squared distances loses three digits if the
# length scale is a thirtieth of the spread of the rows.
MIN_ROUNDINGS = 1_000


@dataclass(frozen=True, eq=False)
class PivotedCholesky:
    """A partial Cholesky factorization K ~= G G', exact in the chosen rows."""

    indices: Indices  # (r,), the chosen rows in the order chosen, all different
    factor: Array  # (n, r), G; its rows `indices` are lower triangular
    trace: float  # tr K
    residual_trace: float  # tr(K - G G')


def randomly_pivoted_cholesky(
    kernel: Kernel,
    X: Rows,  # (n, d)
    n_components: int,
    rng: np.random.Generator | int | None = None,
    *,
    block_size: int | None = None,
    tolerance: float | None = None,
) -> PivotedCholesky:
    """Choose at most p rows by randomly pivoted Cholesky, eq. (1), in blocks, eq. (2).

    It stops when the chosen rows explain all others to rounding, so they are never
    numerically dependent: r is at most the rank of K, and equal rows are chosen once.
    O(n p^2 + n p d) time, nearly all in matrix products. Memory for the n-by-p factor
    and for row blocks.

    `block_size`, the proposals in a block, does not change the distribution of the
    rows. A row counts as explained if its residual is at most `tolerance` k(x, x), and
    all rows if the residual trace is at most `tolerance` tr K. None is max(n, 1000)
    roundings.

    Examples
    --------
    >>> from halfmoon.kernels import Linear
    >>> X = np.arange(12.0).reshape(6, 2)
    >>> chosen = randomly_pivoted_cholesky(Linear(), X, 5, rng=0)
    >>> len(chosen.indices)  # a linear kernel has the rank of X
    2
    """
    refuse_conditional(kernel, "rpcholesky")
    X = as_table(X)
    n = X.shape[0]
    p = as_count(n_components, n)
    block_size = _default_block(p) if block_size is None else int(block_size)
    if block_size < 1:
        raise ValueError(f"block_size is {block_size}; 1 or more is needed.")
    if tolerance is None:
        tolerance = EPS * max(n, MIN_ROUNDINGS)
    if not 0 <= tolerance < 1:
        raise ValueError(f"tolerance is {tolerance}; 0 or more, below 1, is needed.")
    rng = np.random.default_rng(rng)

    diagonal = _diagonal(kernel, X)  # (n,)
    trace = float(diagonal.sum())
    floor = tolerance * diagonal  # (n,)
    residual = diagonal  # diag R from here on
    open_rows = diagonal > floor  # neither chosen nor explained
    G = np.empty((n, p))
    S = np.empty(p, dtype=np.intp)
    r = 0
    while r < p and residual.sum() > tolerance * trace and open_rows.any():
        B = _draw(np.where(open_rows, residual, 0.0), block_size, rng)  # (b,)
        R_BB = kernel(X[B]) - G[B, :r] @ G[B, :r].T  # (b, b)
        # R_BB is recomputed, so rows that it shows as explained are closed for good.
        # Each block closes a row or accepts its first proposal, so the loop ends.
        open_rows[B[R_BB.diagonal() <= floor[B]]] = False
        accepted, chol = _accept(R_BB, B, floor[B], p - r, rng)
        if accepted.size == 0:
            continue
        T = B[accepted]
        t = T.size
        G[:, r : r + t] = _new_columns(kernel, X, G[:, :r], T, chol)
        residual -= np.einsum("ij,ij->i", G[:, r : r + t], G[:, r : r + t])
        np.maximum(residual, 0.0, out=residual)
        residual[T] = 0.0
        open_rows[T] = False
        open_rows &= residual > floor
        S[r : r + t] = T
        r += t
    return PivotedCholesky(S[:r].copy(), G[:, :r], trace, float(residual.sum()))


def _new_columns(
    kernel: Kernel,
    X: Rows,  # (n, d)
    G: Array,  # (n, r)
    T: Indices,  # (t,)
    chol: Array,  # (t, t)
) -> Array:  # (n, t)
    """Return the columns G_new of the factor: R_:T = G_new chol', R_TT = chol chol'."""
    Z, G_T = X[T], G[T].copy()

    def columns(rows: Rows, G_rows: Array) -> Array:
        R_T = kernel(rows, Z)
        R_T -= G_rows @ G_T.T
        solved = solve_triangular(
            chol, R_T.T, lower=True, overwrite_b=True, check_finite=False
        )
        return np.asarray(solved.T)

    return Stream.inherited().map(
        columns, X, G, row_bytes=24 * T.size + 16 * X.shape[1]
    )


def _accept(
    R_BB: Array,  # (b, b), overwritten
    B: Indices,  # (b,)
    floor: Array,  # (b,)
    limit: int,
    rng: np.random.Generator,
) -> tuple[Indices, Array]:  # (t,), (t, t)
    """Return which proposals (2) accepts, and the Cholesky factor of R_TT."""
    b = B.size
    threshold = rng.random(b) * R_BB.diagonal()
    columns = np.zeros((b, min(b, limit)))
    accepted: list[int] = []
    for j in range(b):
        if len(accepted) == limit:
            break
        now = R_BB[j, j]
        if not (now > floor[j] and now > threshold[j]):
            continue
        column = R_BB[j:, j] / np.sqrt(now)
        R_BB[j:, j:] -= np.outer(column, column)
        columns[j:, len(accepted)] = column
        threshold[B[j] == B] = np.inf  # never the same row again, in spite of rounding
        accepted.append(j)
    return np.array(accepted, dtype=np.intp), columns[accepted, : len(accepted)]


def _draw(
    weight: Array,  # (n,)
    size: int,
    rng: np.random.Generator,
) -> Indices:  # (size,)
    """Draw rows independently with probability proportional to their weight."""
    total = np.cumsum(weight)
    drawn = np.searchsorted(total, rng.random(size) * total[-1], side="right")
    return np.minimum(drawn, weight.size - 1)


def _diagonal(kernel: Kernel, X: Rows) -> Array:
    diagonal = Stream.inherited().map(kernel.diag, X, row_bytes=16 * X.shape[1])
    if (diagonal < 0).any():
        raise ValueError(
            f"{kernel!r} has k(x, x) < 0 in row {int(np.argmin(diagonal))}; a positive "
            f"definite kernel is needed. Choose landmarks by 'uniform' or 'kmeans++'."
        )
    return diagonal


def _default_block(p: int) -> int:
    low, high = BLOCK_RANGE
    return min(max(p // BLOCKS, low), high)
