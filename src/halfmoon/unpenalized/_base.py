"""The interface of unpenalized features, and the simplest ones.

k functions of a row are free of any penalty. `Constant` and `Polynomials` are the null
space of splines and of kriging. `PreparedFeatures` are features of transformed rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from math import comb
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone

from halfmoon._rows import Array, Rows, as_rows, as_table
from halfmoon._sklearn_conventions import refuse_unfitted, unfitted_copy
from halfmoon.blocks import Stream

__all__ = ["Constant", "Polynomials", "PreparedFeatures", "Unpenalized"]

MONOMIAL_BYTES = 200  # of a tuple of columns and a name


class Unpenalized(BaseEstimator, ABC):
    """k features f of a row, which enter a fit as f(x)' beta without a penalty.

    Attributes
    ----------
    names_ : list of str
        Names of the columns, after `fit`.
    degree_ : int
        The span contains all polynomials up to this degree; -1 for none.
    """

    if not TYPE_CHECKING:  # where it would hide attributes that do not exist
        __getattr__ = refuse_unfitted

    names_: list[str]
    degree_: int = -1

    #: Whether a constant 1 is the first column.
    constant: bool = False

    #: Whether the features were learned from labels. Each label has then shaped them,
    #: so closed-form leave-one-out is far too optimistic and must choose nothing.
    from_labels: bool = False

    @abstractmethod
    def fit(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        """Prepare the features from rows, labeled or not. Returns self."""

    @abstractmethod
    def transform(self, X: Rows) -> Array:
        """Return the values f(x), shape (b, k)."""

    def _set_names(self, names: list[str]) -> None:
        """Name the columns, with the constant in front if there is one."""
        self.names_ = ["1"] * self.constant + names
        self.degree_ = 0 if self.constant else -1

    def _after_constant(self, values: Array) -> Array:
        """Put a column of ones in front if there is a constant."""
        if not self.constant:
            return values
        return np.hstack([np.ones((len(values), 1)), values])


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
        k = min(10**15, comb(X.shape[1] + self.degree_, self.degree_))
        Stream.inherited().require(
            MONOMIAL_BYTES * k,
            f"{k:.3g} polynomials of {X.shape[1]} columns, up to degree "
            f"{self.degree_}, need",
            "Give a lower degree, or a few columns of X.",
        )
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


@dataclass(eq=False, repr=False)
class PreparedFeatures(Unpenalized):
    """The features f(t(x)) with a fitted transformation t.

    Examples
    --------
    >>> from halfmoon.unpenalized import Polynomials
    >>> features = PreparedFeatures(np.log, Polynomials(1)).fit([[1.0], [np.e**2]])
    >>> features.transform([[np.e]])
    array([[1., 0.]])
    """

    prepare: Callable[[Rows], Rows]
    features: Unpenalized

    def fit(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        """Fit the features on transformed rows."""
        self.features_ = unfitted_copy(self.features).fit(self.prepare(X), rng)
        self.names_ = self.features_.names_
        # t may be nonlinear, so only the constant is still a polynomial of the rows.
        self.degree_ = min(self.features_.degree_, 0)
        return self

    def transform(self, X: Rows) -> Array:
        """Return f(t(x)), shape (b, k)."""
        return self.features_.transform(self.prepare(X))

    @property
    def from_labels(self) -> bool:  # type: ignore[override]
        return self.features.from_labels

    def __sklearn_clone__(self) -> Any:
        """Copy the features unfitted and share the fitted transformation."""
        return replace(self, features=clone(self.features))
