"""Columns of the kernels of S0's tables 5 and 6, for the labeled rows of all splits.

With K the Gaussian kernel of all n rows at one width, and M = ratio Lg for the sparse
Laplacian Lg of a graph on the rows, the methods are kernel ridge (K_LL + lam I)^-1 y
with

============  ==============================================================
KRLSC         K
FredGauss     K K K / n^2, as the outer and the inner kernel are the same
FredGauss(N)  D^-1 K K K D^-1, D the row sums of K
LapRLSC       (K^-1 + M)^-1 = (I + K M)^-1 K
============  ==============================================================

The last is LapRLS: that minimizes over functions g of the RKHS

    sum_i (y_i - g(x_i))^2 + gamma_A l |g|^2 + gamma_I l / n^2 g'Lg g,

whose penalty is, for the values g at the rows, lam g'(K^-1 + M)g with lam = gamma_A l
and M = gamma_I / (gamma_A n^2) Lg; so the ratio is gamma_I / (gamma_A n^2). The columns
of a kernel at the labeled rows of all splits cost one product, or one factorization of
an n-by-n matrix, which then serves every split, every number of labels and every lam.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lu_factor, lu_solve

from experiments.choice import ridge_trials
from halfmoon._rows import Array, Indices

__all__ = [
    "LAMS",
    "Split",
    "averaged_columns",
    "deformed_columns",
    "normalized_columns",
    "split_trials",
    "union",
]

#: The eigenvalues of K K K fall three times as fast as those of K, so that lams below
#: those of `choice.LAMS` count; all methods get the same.
LAMS = tuple(10.0**e for e in range(-8, 3))


@dataclass(frozen=True)
class Split:
    """Labeled rows, and the row of the table that they belong to."""

    row: str
    split: int
    labeled: Indices


def union(splits: Sequence[Split]) -> Indices:
    """The rows that are labeled in any split, sorted."""
    return np.unique(np.concatenate([split.labeled for split in splits]))


def averaged_columns(K: Array, chosen: Indices) -> Array:
    """FredGauss at the chosen rows: columns of K K K / n^2, (n, c). O(n^2 c) time."""
    return np.asarray(K @ (K @ K[:, chosen])) / len(K) ** 2


def normalized_columns(averaged: Array, K: Array, chosen: Indices) -> Array:
    """FredGauss(N) from FredGauss, (n, c): weights k(x, x_j) / sum_m k(x, x_m)."""
    share = len(K) / K.sum(axis=1)
    return averaged * share[:, None] * share[chosen]


def deformed_columns(K: Array, M: sp.csr_array, chosen: Indices) -> Array:
    """LapRLSC at the chosen rows: (I + K M)^-1 K[:, chosen], (n, c).

    O(n^3) time; besides K, memory of two matrices of its size. The eigenvalues of
    I + K M start at 1, so that nothing needs to be added where K is singular.
    """
    system = (M @ K).T  # K M, both being symmetric
    system[np.diag_indices_from(system)] += 1
    factor = lu_factor(system, overwrite_a=True, check_finite=False)
    return np.asarray(lu_solve(factor, K[:, chosen], check_finite=False))


def split_trials(
    columns: Array,  # (n, c), of the kernel at the chosen rows
    chosen: Indices,  # (c,), sorted
    y: Indices,  # (n,), 0, 1, ...
    splits: Sequence[Split],
    seconds: float,
    lams: Sequence[float] = LAMS,
    **about: Any,
) -> list[dict[str, Any]]:
    """Kernel ridge in every split, tested on all rows that it does not label.

    `seconds` of the processor, which the columns took, are shared out evenly among the
    splits; `about` is what else the trials are to say.
    """
    trials = []
    for split in splits:
        start = process_time()
        labeled = split.labeled
        rest = np.setdiff1d(np.arange(len(y)), labeled)
        own = columns[:, np.searchsorted(chosen, labeled)].astype(np.float64)
        K_l = own[labeled]
        tried = ridge_trials(
            (K_l + K_l.T) / 2,  # symmetric but for rounding
            own[rest],
            y[labeled],
            y[rest],
            int(y.max()) + 1,
            lams,
        )
        taken = process_time() - start + seconds / len(splits)
        trials.append(
            {"row": split.row, "split": split.split, **about, **tried, "seconds": taken}
        )
    return trials
