"""Unpenalized polynomials of the columns: the null space of splines and kriging."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Self

import numpy as np
import scipy.sparse as sp

from halfmoon._rows import Array, Rows, as_rows, as_table
from halfmoon.unpenalized._base import Unpenalized

__all__ = ["Constant", "Polynomials"]


@dataclass(eq=False, repr=False)
class Polynomials(Unpenalized):
    """All monomials of the centered columns up to a degree.

    Columns are centered at the mean of the fitted rows, so that an offset costs no
    digits. This does not change the slopes; the constant is the value at the mean.

    Parameters
    ----------
    degree : int
        0 gives the constant alone.

    Examples
    --------
    >>> features = Polynomials(degree=1).fit([[0.0, 1.0], [2.0, 3.0]])
    >>> features.transform([[4.0, 4.0]]), features.names_
    (array([[1., 3., 2.]]), ['1', 'x0', 'x1'])
    """

    degree: int = 1

    def fit(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        """Center the columns."""
        if self.degree < 0 or self.degree != int(self.degree):
            raise ValueError(f"degree is {self.degree}; 0, 1, 2, ... is needed.")
        X = as_table(X)
        self.degree_ = int(self.degree)
        if self.degree_ == 0:
            self.center_ = np.zeros(X.shape[1])
        else:
            if sp.issparse(X):  # SciPy sums the mean in the dtype of X
                X = X.astype(np.float64)
            self.center_ = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
        self.monomials_ = [
            columns
            for m in range(self.degree_ + 1)
            for columns in combinations_with_replacement(range(X.shape[1]), m)
        ]
        self.names_ = [" ".join(f"x{c}" for c in m) or "1" for m in self.monomials_]
        return self

    def transform(self, X: Rows) -> Array:
        """Return the values of the monomials, shape (b, k)."""
        X = as_rows(X)
        F = np.ones((X.shape[0], len(self.monomials_)))
        if self.degree_ > 0:
            X = (X.toarray() if sp.issparse(X) else X) - self.center_
            with np.errstate(over="ignore", invalid="ignore"):
                for j, columns in enumerate(self.monomials_):
                    for c in columns:
                        F[:, j] *= X[:, c]
        if not np.isfinite(F).all():
            raise ValueError(
                f"Polynomials of degree {self.degree_} leave the range of "
                f"floating-point numbers at these rows. Rescale the columns of X, or "
                f"lower the degree."
            )
        return F


@dataclass(eq=False, repr=False)
class Constant(Unpenalized):
    """The constant 1: an intercept, the same as centering everything.

    Examples
    --------
    >>> Constant().fit([[5.0]]).transform([[7.0], [8.0]])
    array([[1.],
           [1.]])
    """

    degree_ = 0

    def fit(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        """Set the name of the column."""
        self.names_ = ["1"]
        return self

    def transform(self, X: Rows) -> Array:
        """Return ones, shape (b, 1)."""
        return np.ones((X.shape[0] if hasattr(X, "shape") else len(X), 1))
