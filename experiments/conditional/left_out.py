r"""Leave-one-out of kernel ridge, from the eigendecomposition of the threshold.

With H = U diag(s / (s + lam)) U', lam = l alpha, the left-out residual of row i is
(y - H y)_i / (1 - H_ii), exactly. Modes beyond the numerical rank are not fitted.
"""

from __future__ import annotations

import numpy as np

from halfmoon._rows import Array
from halfmoon._solvers.feature_path import HardThreshold
from halfmoon.blocks import Stream

__all__ = ["left_out_errors"]


def left_out_errors(
    path: HardThreshold,
    y: Array,  # (l, t)
    alphas: Array,  # (a,)
) -> Array:  # (a,)
    """Mean squared left-out residual for each alpha, with nothing unpenalized."""
    lams = np.asarray(alphas, dtype=np.float64) * len(y)
    passed = path.s / (path.s + lams[:, None])  # (a, rank)
    fits = [kept[:, None] * path.z for kept in passed]

    def squares(U: Array, targets: Array) -> Array:
        left = 1.0 - (U * U) @ passed.T  # 1 - H_ii, (b, a)
        residuals = [targets - U @ fit for fit in fits]
        return np.array(
            [((e / left[:, [i]]) ** 2).sum() for i, e in enumerate(residuals)]
        )

    row_bytes = 24 * path.s.size
    total: Array = Stream().sum(squares, path.U, y, row_bytes=row_bytes)
    return total / y.size
