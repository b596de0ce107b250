r"""Regularized least squares classification: no lever is on.

.. math:: min_f \; 1/l \sum_{i \, labeled} |y_i - f(x_i)|^2 + alpha |f|^2,
          \quad (K + alpha \, l \, I) c = y

Kernel ridge regression of the classes, -1 and 1 if there are two. Papers call it RLSC
with the linear kernel and KRLSC with others. Rows without a label have no part in it
but for the length scale by the median rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from halfmoon.estimators.conditional import ConditionalClassifier
from halfmoon.estimators.parameters import documented

__all__ = ["RLSClassifier"]


@documented
@dataclass(eq=False, repr=False)
class RLSClassifier(ConditionalClassifier):
    """Regularized least squares classification (RLSC; KRLSC with a kernel).

    `ConditionalClassifier` with a linear kernel and nothing unpenalized, unless told:
    see `halfmoon.baselines.rls` for the equation. R. Rifkin, G. Yeo, T. Poggio,
    "Regularized least-squares classification", 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from halfmoon.baselines import RLSClassifier
    >>> X = np.array([[-2.0], [-1.0], [1.0], [3.0]])
    >>> model = RLSClassifier(alpha=0.5).fit(X, ["a", "a", "b", None])
    >>> model.decision_function([[1.0]])  # 4 / (6 + 0.5 * 3)
    array([0.53333333])
    """

    kernel: Any = "linear"
    unpenalized: Any = None
