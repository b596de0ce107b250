"""What unpenalized features are: k functions of a row that a fit may use freely."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator

from halfmoon.rows import Array, Rows

__all__ = ["Unpenalized", "after_constant"]


def after_constant(
    values: Array,  # (b, k)
    constant: bool,
) -> Array:
    """The features after a column of ones, or as they are."""
    return np.hstack([np.ones((len(values), 1)), values]) if constant else values


class Unpenalized(BaseEstimator, ABC):
    """k features f of a row, which enter a fit as f(x)' beta without a penalty.

    Attributes
    ----------
    names_ : list of str
        What to call the columns, after `fit`.
    degree_ : int
        All polynomials up to this degree are in their span; -1 for none.
    """

    names_: list[str]
    degree_: int = -1

    #: The features were learned from labels. Then leave-one-out in closed form is far
    #: too optimistic, as each left-out label has shaped them, and must choose nothing.
    from_labels: bool = False

    @abstractmethod
    def fit(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        """Learn what the features need from rows, labeled or not."""

    @abstractmethod
    def transform(self, X: Rows) -> Array:
        """Values f(x), shape (b, k)."""
