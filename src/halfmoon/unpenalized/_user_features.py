"""Unpenalized features from the user: a basis, transformer, function or columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from halfmoon._rows import Array, Indices, Rows, as_table
from halfmoon._sklearn_conventions import unfitted_copy
from halfmoon.bases import Basis
from halfmoon.unpenalized._base import Unpenalized

__all__ = ["Features"]


@dataclass(eq=False, repr=False)
class Features(Unpenalized):
    """Known features of a row, as unpenalized columns.

    Parameters
    ----------
    transformer : Basis, transformer, callable or sequence of int
        A basis, such as `RandomFeatures`; an object with `transform`, and perhaps
        `fit`; a function of the rows; or column numbers of X. Copies of a basis or a
        transformer are fitted on the rows, without labels.
    constant : bool
        Add the constant 1 as the first column.

    Examples
    --------
    >>> Features([1]).fit([[1.0, 2.0]]).transform([[1.0, 2.0]])
    array([[1., 2.]])
    >>> Features(np.sqrt, constant=False).fit([[4.0]]).transform([[4.0]])
    array([[2.]])

    Some random features penalized, and k of them not: theorem G.1 of Takhanov,
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
            self.transformer_ = unfitted_copy(self.transformer).fit(X, rng)
        elif hasattr(self.transformer, "fit"):
            self.transformer_ = clone(self.transformer).fit(X)
        self.n_columns_ = X.shape[1]
        self._set_names(self._names(self._values(X[:1]).shape[1]))
        return self

    def transform(self, X: Rows) -> Array:
        """Return the features, shape (b, k), after a constant if there is one."""
        values = self._after_constant(self._values(X))
        if not np.isfinite(values).all():
            raise ValueError(
                "The unpenalized features contain NaN or infinity; finite numbers are "
                "needed. Fix the transformer that makes them, or impute its input."
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
                f"Unpenalized features are {source!r}; a transformer, a function of "
                f"the rows or column numbers are needed."
            )
        values = values.toarray() if sp.issparse(values) else values
        try:
            values = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"The unpenalized features cannot be read as numbers ({error})."
            ) from error
        if values.ndim not in (1, 2) or values.shape[0] != X.shape[0]:
            raise ValueError(
                f"The unpenalized features have shape {values.shape} for {X.shape[0]} "
                f"rows; one row of features for each row is needed."
            )
        return values.reshape(X.shape[0], -1)

    @staticmethod
    def _columns(source: Any, d: int) -> Indices:
        """Return column numbers, from numbers or from a mask over the columns."""
        columns = np.asarray(source)
        if columns.size == 0:
            raise ValueError(
                f"The unpenalized columns are {source!r}, which names none. Name a "
                f"column, or use unpenalized=None to penalize all features."
            )
        if columns.dtype == bool and columns.shape == (d,):
            return np.flatnonzero(columns)
        if columns.ndim != 1 or columns.dtype.kind not in "iu":
            raise ValueError(
                f"Columns are {source!r}; column numbers, or one truth value for each "
                f"of the {d} columns, are needed."
            )
        if columns.min(initial=0) < -d or columns.max(initial=0) >= d:
            raise ValueError(
                f"Columns are {source!r}, but X has {d} columns; numbers from 0 to "
                f"{d - 1} are needed."
            )
        return columns.astype(np.intp)

    def _names(self, k: int) -> list[str]:
        if hasattr(self.transformer_, "get_feature_names_out"):
            return [str(name) for name in self.transformer_.get_feature_names_out()]
        if isinstance(self.transformer_, (Sequence, np.ndarray)):
            columns = self._columns(self.transformer_, self.n_columns_)
            return [f"x{column}" for column in columns]
        return [f"f{column}" for column in range(k)]
