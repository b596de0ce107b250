"""Unpenalized features of transformed rows, as features of the original rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from halfmoon._rows import Array, Rows
from halfmoon._sklearn_conventions import unfitted_copy
from halfmoon.unpenalized._base import Unpenalized

__all__ = ["PreparedFeatures"]


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
