r"""Product of Laplace kernels, one for each column: suits tables.

.. math:: k(x, z) = \prod_c exp(-|x_c - z_c| / e) = exp(-|x - z|_1 / e)

Each column acts by itself. Functions that jump along single columns, such as trees, are
close to the span of this kernel. Like tables, it is not invariant to rotations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist, pdist

from halfmoon._rows import Array, Rows, as_dense_rows, some_rows
from halfmoon.kernels._base import Kernel
from halfmoon.kernels._length_scales import (
    PAIRED_ROWS,
    median_of_positive,
    refuse_equal_samples,
)

__all__ = ["ProductLaplace"]


@dataclass(eq=False, repr=False)
class ProductLaplace(Kernel):
    """The kernel ``exp(-|x - z|_1 / e)``, with the sum of absolute differences.

    Parameters
    ----------
    length_scale : float or "median"
        e above; "median" is the median of ``|x - z|_1`` over pairs of rows.

    Examples
    --------
    >>> ProductLaplace(2.0)([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.3679]])
    """

    length_scale: float | Literal["median"] = "median"

    def resolve(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        if self.length_scale != "median":
            return self
        sample = as_dense_rows(some_rows(X, PAIRED_ROWS, rng))
        scale = median_of_positive(pdist(sample, "cityblock"))
        return replace(self, length_scale=scale or refuse_equal_samples(X.shape[0]))

    def _value(self, X: Rows, Z: Rows) -> Array:
        e = self._checked_scale()
        X, Z = (R.toarray() if sp.issparse(R) else R for R in (X, Z))
        D = cdist(X, Z, "cityblock")
        D /= -e
        return np.exp(D, out=D)

    def _diag(self, X: Rows) -> Array:
        self._checked_scale()
        return np.ones(X.shape[0])

    def _checked_scale(self) -> float:
        if isinstance(self.length_scale, str) or not 0 < self.length_scale < np.inf:
            raise ValueError(
                f"length_scale is {self.length_scale!r}; a positive number is needed, "
                f"or 'median' and kernel.resolve(X)."
            )
        return float(self.length_scale)
