"""The interface of unpenalized features: k functions of a row, free of any penalty."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Self

import numpy as np
from sklearn.base import BaseEstimator

from halfmoon._rows import Array, Rows
from halfmoon._sklearn_conventions import refuse_unfitted

__all__ = ["Unpenalized"]


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
