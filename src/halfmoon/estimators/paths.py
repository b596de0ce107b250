"""Errors along a path of unpenalized features, as numbers to look at or to draw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from halfmoon.rows import Array, Indices
from halfmoon.solvers import FeaturePath

__all__ = ["HardThresholdPath", "NestedFeaturesPath"]


@dataclass(frozen=True)
class HardThresholdPath:
    """Test error for each number of unpenalized eigenfunctions and each alpha.

    Attributes
    ----------
    k : ndarray of shape (rank + 1,)
        0, 1, ..., the numerical rank of the kernel at the labeled rows.
    alphas : ndarray of shape (a,)
    errors : ndarray of shape (a, rank + 1)
        Mean squared error on the test rows.
    """

    k: Indices
    alphas: Array
    errors: Array

    @property
    def best(self) -> tuple[int, float]:
        """k and alpha of the least error on these test rows."""
        row, column = np.unravel_index(np.argmin(self.errors), self.errors.shape)
        return int(self.k[column]), float(self.alphas[row])


@dataclass(frozen=True)
class NestedFeaturesPath:
    """Test error with the first j unpenalized features, j = 0, ..., k.

    Attributes
    ----------
    names : list of str
        Of the features, in their order.
    errors : ndarray of shape (k + 1,)
        Mean squared error on the test rows.
    loo_errors : ndarray of shape (k + 1,)
        Mean squared left-out residual of the labeled rows.
    solutions : FeaturePath
        The fits themselves: `coef(j)` and `dual_coef(j)`.
    """

    names: list[str]
    errors: Array
    loo_errors: Array
    solutions: FeaturePath
