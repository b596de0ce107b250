"""Unpenalized features of prepared rows, as features of rows as they come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from halfmoon.pieces import fresh
from halfmoon.rows import Array, Rows
from halfmoon.unpenalized.base import Unpenalized

__all__ = ["PreparedFeatures"]


@dataclass(eq=False, repr=False)
class PreparedFeatures(Unpenalized):
    """The features f(t(x)) with a fitted transformation t.

    Parameters
    ----------
    prepare : callable
        t, from rows as they come to prepared ones.
    features : Unpenalized
        f.

    Attributes
    ----------
    features_ : Unpenalized
        A copy of f, fitted on prepared rows.

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
        """Fit the features on prepared rows."""
        self.features_ = fresh(self.features).fit(self.prepare(X), rng)
        self.names_ = self.features_.names_
        # t may bend the rows: of the polynomials, only constants stay what they are.
        self.degree_ = min(self.features_.degree_, 0)
        return self

    def transform(self, X: Rows) -> Array:
        """f(t(x)), shape (b, k)."""
        return self.features_.transform(self.prepare(X))

    @property
    def from_labels(self) -> bool:  # type: ignore[override]
        """As the features themselves."""
        return self.features.from_labels

    def __sklearn_clone__(self) -> Any:
        """An unfitted copy that shares the fitted transformation."""
        return replace(self, features=clone(self.features))
