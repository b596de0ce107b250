"""Theorem 5.2 by draws: what k Gaussian features leave of each mode of a kernel.

With standard normal vectors xi_i of length k, G = sum_i s_i xi_i xi_i' and M_ij =
xi_i'G^-1 xi_j, mode i is left with the part

    1 - 2 s_i M_ii + sum_j s_j^2 M_ij^2                                            (1)

G must not be formed: where the spectrum falls by 13 decades within k modes, as exp(-0.1
i) does within 300, it is singular in double precision. Its root B', of rows sqrt(s_i)
xi_i', falls by half as many. With B' = QR and W = R^-T (xi_1, ..., xi_p) it is

    sum_i s_i w_i w_i' = I,    M_ij = w_i'w_j

where the first holds to half of the digits only, as solving with R has magnified
rounding; W is then well-conditioned, and one more pass, by Cholesky, mends it. (1) has
an error of rounding beside 1 then, and row i of W never meets another one of different
size. Modes beyond those given enter by their mean: G has the sum of their eigenvalues
on its diagonal, and the sum over j that of the squares.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as sla

from halfmoon._rows import Array, Indices

__all__ = ["drawn_ratio", "plain_ratio"]


def drawn_ratio(
    s: Array,  # (p,), falling
    k: int,
    modes: Indices,  # (q,)
    rng: np.random.Generator,
    tail: float = 0.0,
    tail_of_squares: float = 0.0,
) -> Array:  # (q,)
    """(1) for one draw, at some modes i. O(p k (k + q))."""
    xi = rng.standard_normal((k, s.size))
    root = np.vstack([np.sqrt(s)[:, None] * xi.T, np.sqrt(tail) * np.eye(k)])
    R = sla.qr(root, mode="r", check_finite=False)[0][:k]
    # The last k columns are those of the identity, for the modes beyond.
    W = sla.solve_triangular(R, np.hstack([xi, np.eye(k)]), trans="T")
    weight = np.append(s, np.full(k, tail))
    chol = np.linalg.cholesky((W * weight) @ W.T)
    W = sla.solve_triangular(chol, W, lower=True, check_finite=False)
    weight[s.size :] = np.sqrt(tail_of_squares)
    sM = (W * weight).T @ W[:, modes]  # (p + k, q), s_j M_ij
    return 1 - 2 * sM[modes, np.arange(len(modes))] + (sM**2).sum(axis=0)


def plain_ratio(
    s: Array, k: int, modes: Indices, rng: np.random.Generator
) -> tuple[Array, int]:
    """(1) for one draw by solving with G as it stands, and the rank that G has."""
    xi = rng.standard_normal((k, s.size))
    G = (xi * s) @ xi.T
    sM = (xi * s).T @ np.linalg.solve(G, xi[:, modes])
    ratio = 1 - 2 * sM[modes, np.arange(len(modes))] + (sM**2).sum(axis=0)
    return ratio, int(np.linalg.matrix_rank(G, hermitian=True))
