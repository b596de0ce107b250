r"""The variance of the noise in the labels, from left-out rows.

The error of a row that is predicted without its label is that of the function and the
noise of the label, which are independent. So their variances add up, and

.. math:: s^2 = \mathrm{mean}_i \; e_i^2 - \mathrm{mean}_i \; \mathrm{std}(x_i)^2

with the left-out residuals e and the posterior deviations of the function at the
labeled rows. An error of the function that its deviation does not show counts as noise:
with few labels and little noise the estimate is too large (2 to 5 times at 40 labels in
3 columns, noise of deviation 0.1 and a function of deviation 0.8); with 150 labels it
was 0.9 to 1.9 of the truth. The restricted likelihood, from which the deviations are,
gives a fifth to a half of the truth as often as not at 40 labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from halfmoon.estimators.base import HeldOut
from halfmoon.problem import Fit
from halfmoon.rows import Array

__all__ = ["noise_variance"]

ENOUGH = 500  # rows that tell the mean variance of the function


def noise_variance(solution: Any, held_out: HeldOut) -> Array:  # (t,)
    """Variance of the noise of each target; at least 0, NaN where nothing tells it."""
    rows, y, values, w = held_out
    told = np.isfinite(values).all(axis=1)
    if not told.any():
        return np.full(y.shape[1], np.nan)
    square = np.average((y - values)[told] ** 2, axis=0, weights=w[told])
    X_l = solution.posed.X_l if isinstance(solution, Fit) else solution.X_l
    if isinstance(solution, Fit) and not solution.by_ridge:  # which has no deviations
        return np.asarray(square)
    chosen = np.arange(X_l.shape[0])[rows][told][:ENOUGH]
    std = solution.std(X_l[chosen]).reshape(len(chosen), -1)
    function = np.average(std**2, axis=0, weights=w[told][:ENOUGH])
    return np.maximum(square - function, 0.0)
