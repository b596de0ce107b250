"""Features of the user's own: any basis, transformer, function or columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from halfmoon.bases import Basis
from halfmoon.pieces import fresh
from halfmoon.rows import Array, Indices, Rows, as_table
from halfmoon.unpenalized.base import Unpenalized, after_constant

__all__ = ["Features"]


@dataclass(eq=False, repr=False)
class Features(Unpenalized):
    """What the user already knows of a row, as columns that are trusted freely.

    Parameters
    ----------
    transformer : Basis, transformer, callable or sequence of int
        A basis, such as `RandomFeatures`, of which a copy is fitted with the same
        source of random numbers as the rest; something with `transform` (and `fit`, of
        which a copy is fitted on the rows, labels unseen); a function of the rows; or
        the numbers of columns of X.
    constant : bool
        Add the constant 1.

    Examples
    --------
    >>> Features([1]).fit([[1.0, 2.0]]).transform([[1.0, 2.0]])
    array([[1., 2.]])
    >>> Features(np.sqrt, constant=False).fit([[4.0]]).transform([[4.0]])
    array([[2.]])

    Random features of which some are penalized and k are not: theorem G.1 of Takhanov,
    Assylbekov, "Conditional KRR", 2026.

    >>> from halfmoon.bases import RandomFeatures
    >>> from halfmoon.kernels import NNGP
    >>> Features(RandomFeatures(NNGP("relu"), 20)).fit([[1.0]], rng=0).names_[:3]
    ['1', 'f0', 'f1']
    """

    transformer: Any
    constant: bool = True

    def fit(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        """Fit a copy of the transformer on the rows."""
        X = as_table(X)  # as in `transform`
        self.transformer_ = self.transformer
        if isinstance(self.transformer, Basis):
            self.transformer_ = fresh(self.transformer).fit(X, rng)
        elif hasattr(self.transformer, "fit"):
            self.transformer_ = clone(self.transformer).fit(X)
        self.degree_ = 0 if self.constant else -1
        self.n_columns_ = X.shape[1]
        k = self._values(X[:1]).shape[1]
        self.names_ = ["1"] * self.constant + self._names(k)
        return self

    def transform(self, X: Rows) -> Array:
        """The features, shape (b, k), after a constant if there is one."""
        values = after_constant(self._values(X), self.constant)
        if not np.isfinite(values).all():
            raise ValueError(
                "The unpenalized features contain NaN or infinity; finite numbers are "
                "needed. Mend the transformer that makes them, or impute its input."
            )
        return values

    def _values(self, X: Rows) -> Array:
        source = self.transformer_
        X = as_table(X)
        if hasattr(source, "transform"):
            values = source.transform(X)
        elif callable(source):
            values = source(X)
        elif isinstance(source, (Sequence, np.ndarray)) and not isinstance(source, str):
            values = X[:, self._columns(source, X.shape[1])]
        else:
            raise ValueError(
                f"Unpenalized features by {source!r} are not understood; a "
                f"transformer, a function of the rows or column numbers are needed."
            )
        values = values.toarray() if sp.issparse(values) else values
        values = np.asarray(values, dtype=np.float64)
        return values.reshape(X.shape[0], -1)

    @staticmethod
    def _columns(source: Any, d: int) -> Indices:
        """Numbers of columns, from numbers or from a mask over the columns."""
        columns = np.asarray(source)
        if columns.dtype == bool and columns.shape == (d,):
            return np.flatnonzero(columns)
        if columns.ndim != 1 or columns.dtype.kind not in "iu":
            raise ValueError(
                f"Columns {source!r} are not understood; numbers of columns, or one "
                f"truth value for each of the {d} columns, are needed."
            )
        return columns.astype(np.intp)

    def _names(self, k: int) -> list[str]:
        if hasattr(self.transformer_, "get_feature_names_out"):
            return [str(name) for name in self.transformer_.get_feature_names_out()]
        if isinstance(self.transformer_, (Sequence, np.ndarray)):
            columns = self._columns(self.transformer_, self.n_columns_)
            return [f"x{column}" for column in columns]
        return [f"f{column}" for column in range(k)]
