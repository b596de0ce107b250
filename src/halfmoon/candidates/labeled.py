"""The labeled rows of a table, as every candidate sees them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from halfmoon.candidates.target import AS_THEY_ARE, Target
from halfmoon.problem import in_order_of_targets
from halfmoon.rows import Array, Indices, Rows, rows_with_targets

__all__ = ["Labeled"]


@dataclass(frozen=True)
class Labeled:
    """A table with some labeled rows.

    Attributes
    ----------
    X : array or CSR of shape (n, d)
        All rows.
    chosen : ndarray of shape (l,)
        Which are labeled.
    y, w : ndarrays of shape (l, t) and (l,)
        Their targets, on the scale of `target`, and their weights.
    target : Target
    """

    X: Rows
    chosen: Indices
    y: Array
    w: Array
    target: Target = AS_THEY_ARE

    @classmethod
    def of(cls, X: Rows, targets: Array, w: Array) -> Labeled:
        """From targets of all rows, (n,) or (n, t), NaN where there is none."""
        y = targets.reshape(X.shape[0], -1)
        chosen = rows_with_targets(y)
        if len(chosen) == 0:
            raise ValueError(
                f"None of the {X.shape[0]} rows is labeled; at least one label is "
                f"needed."
            )
        return cls(X, chosen, y[chosen], w[chosen])

    @cached_property
    def X_l(self) -> Rows:
        """The labeled rows."""
        return self.X[self.chosen]

    @cached_property
    def root_w(self) -> Array:
        """Square roots of the weights, as a column, shape (l, 1)."""
        return np.sqrt(self.w)[:, None]

    @property
    def total_weight(self) -> float:
        """W, the sum of the weights."""
        return float(self.w.sum())

    @property
    def on_table(self) -> Array:
        """The targets among all rows, shape (n, t), NaN where there is none."""
        y = np.full((self.X.shape[0], self.y.shape[1]), np.nan)
        y[self.chosen] = self.y
        return y

    @property
    def weight_on_table(self) -> Array:
        """The weights among all rows, shape (n,); 1 where there is no label."""
        w = np.ones(self.X.shape[0])
        w[self.chosen] = self.w
        return w

    def sample(self, size: int, rng: np.random.Generator) -> Labeled:
        """The table with at most so many of its labels, drawn at random.

        The other rows are unlabeled. One label of each class stays: of equal targets
        some, in turn.
        """
        if len(self.y) <= size:
            return self
        order = in_order_of_targets(self.y, rng)
        differ = (np.diff(self.y[order], axis=0) != 0).any(axis=1)
        first = np.flatnonzero(np.concatenate([[True], differ]))  # of each class
        if len(first) > size:  # numbers rather than classes
            first = first[:0]
        rest = np.delete(order, first)
        more = np.linspace(0, len(rest) - 1, size - len(first)).astype(int)
        some = np.sort(np.concatenate([order[first], rest[more]]))
        return replace(self, chosen=self.chosen[some], y=self.y[some], w=self.w[some])
