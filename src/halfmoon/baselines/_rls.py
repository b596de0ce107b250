r"""Regularized least squares classification: kernel ridge on class indicators.

.. math:: min_f \; 1/l \sum_{i \, labeled} |y_i - f(x_i)|^2 + alpha |f|^2,
          \quad (K + alpha \, l \, I) c = y

Two classes are -1 and 1. Papers call it RLSC with the linear kernel and KRLSC with
others. Unlabeled rows enter only through the length scale by the median rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from halfmoon._estimators.conditional import ConditionalClassifier
from halfmoon._estimators.parameter_docs import with_parameter_docs

__all__ = ["RLSClassifier"]


@with_parameter_docs
@dataclass(eq=False, repr=False)
class RLSClassifier(ConditionalClassifier):
    """Regularized least squares classification (RLSC; KRLSC with a kernel).

    `ConditionalClassifier` whose defaults are a linear kernel and no unpenalized
    features. See `halfmoon.baselines._rls` for the equation. R. Rifkin, G. Yeo,
    T. Poggio, "Regularized least-squares classification", 2003.

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
