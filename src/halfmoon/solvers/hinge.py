r"""Hinge loss: support vector machines on any kernel matrix.

.. math:: min \; 1/W \sum_i w_i max(0, 1 - y_i (g(x_i) + b)) + alpha |g|^2,
          \quad y_i = \pm 1

is the support vector machine with :math:`C_i = w_i / (2 alpha W)`, which scikit-learn's
SVC solves. One problem for each column of targets; the intercept is unpenalized.
"""

from __future__ import annotations

import numpy as np
from sklearn.svm import SVC

from halfmoon.rows import Array

__all__ = ["hinge_dual"]


def hinge_dual(
    K: Array,  # (l, l)
    y: Array,  # (l, t), -1 or 1
    w: Array,  # (l,)
    alpha: float,
    *,
    tolerance: float = 1e-3,
) -> tuple[Array, Array]:  # (l, t), (t,)
    """Dual coefficients c and intercepts b, with g(x) = k(x, X_l) c.

    Parameters
    ----------
    K : ndarray of shape (l, l)
    y : ndarray of shape (l, t)
        -1 or 1; both must occur in each column.
    w : ndarray of shape (l,)
        Weights.
    alpha : float
        Positive: at 0 there is no margin to speak of.
    tolerance : float
        SVC's own.
    """
    if not alpha > 0:
        raise ValueError(f"alpha is {alpha}; the hinge loss needs a positive number.")
    if not np.isin(y, (-1.0, 1.0)).all():
        raise ValueError("The hinge loss needs targets that are -1 or 1.")
    c, b = np.zeros_like(y), np.zeros(y.shape[1])
    for j, target in enumerate(y.T):
        if np.unique(target).size < 2:
            raise ValueError(
                f"Target {j} is {target[0]:.0f} in every labeled row; the hinge loss "
                f"needs rows of both classes. Label some of the other one."
            )
        machine = SVC(C=0.5 / (alpha * w.sum()), kernel="precomputed", tol=tolerance)
        machine.fit(K, target, sample_weight=w)
        c[machine.support_, j] = machine.dual_coef_[0]
        b[j] = machine.intercept_[0]
    return c, b
