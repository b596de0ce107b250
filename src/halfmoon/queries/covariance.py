r"""Posterior covariance of the rows of a pool, and what one more label does to it.

With C the covariance of the function at the rows, and a new label of row u that has
noise of variance lam,

.. math:: C \leftarrow C - \frac{c_u c_u'}{v_u + lam}, \quad
          g \leftarrow g + \frac{t - g_u}{v_u + lam} c_u                            (1)

where :math:`c_u` is a column of C and :math:`v_u` its diagonal entry: a rank-one
update. C itself is not needed, only its diagonal v, its columns, its products with
vectors, and the squared lengths of its columns, :math:`S_u = \sum_j C_{ju}^2`. With
:math:`a = c_u / \sqrt{v_u + lam}`,

.. math:: v \leftarrow v - a^2, \quad
          S \leftarrow S - 2 a * (C a) + a^2 |a|^2                                  (2)

so that a pick costs one column and one product: O(n p) for rows given by p features.
The unit of C is the prior's, as in MATH: tau is 1, and lam is the penalty beside the
sum of squares.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from halfmoon.rows import Array

__all__ = ["Covariance", "Dense", "Factored", "Posterior"]


class Covariance(Protocol):
    """A symmetric positive semi-definite matrix C, shape (n, n)."""

    def diagonal(self) -> Array:
        """Variances, shape (n,)."""

    def column(self, u: int) -> Array:
        """One column of C, shape (n,)."""

    def product(self, a: Array) -> Array:
        """C a, shape (n,)."""

    def squared_columns(self) -> Array:
        """Squared lengths of the columns, shape (n,)."""


@dataclass(frozen=True)
class Factored:
    """C = Psi Psi', in O(n p) each but `squared_columns`, which is O(n p^2)."""

    Psi: Array  # (n, p)

    def diagonal(self) -> Array:
        """Variances, shape (n,)."""
        return np.einsum("ij,ij->i", self.Psi, self.Psi)

    def column(self, u: int) -> Array:
        """One column of C, shape (n,)."""
        return self.Psi @ self.Psi[u]

    def product(self, a: Array) -> Array:
        """C a, shape (n,)."""
        return self.Psi @ (self.Psi.T @ a)

    def squared_columns(self) -> Array:
        """Squared lengths of the columns, shape (n,)."""
        return np.einsum("ij,ij->i", self.Psi @ (self.Psi.T @ self.Psi), self.Psi)


@dataclass(frozen=True)
class Dense:
    """C as it is, in O(n^2) each."""

    C: Array  # (n, n)

    def diagonal(self) -> Array:
        """Variances, shape (n,); 0 where rounding has made them less."""
        return np.maximum(np.diagonal(self.C), 0.0)

    def column(self, u: int) -> Array:
        """One column of C, shape (n,)."""
        return self.C[:, u]

    def product(self, a: Array) -> Array:
        """C a, shape (n,)."""
        return self.C @ a

    def squared_columns(self) -> Array:
        """Squared lengths of the columns, shape (n,)."""
        return np.einsum("ij,ij->j", self.C, self.C)


@dataclass
class Posterior:
    """Values and covariance of a fitted function at the rows of a pool.

    Attributes
    ----------
    values : ndarray of shape (n, t)
        g, of each target.
    covariance : Covariance
        Before any pick.
    noise : float
        lam above.
    variance : ndarray of shape (n,)
        v, after the picks so far.
    """

    values: Array
    covariance: Covariance
    noise: float
    variance: Array = field(init=False)
    _taken: list[Array] = field(init=False, default_factory=list)  # a of each pick
    _squares: Array | None = field(init=False, default=None)  # S

    def __post_init__(self) -> None:
        self.variance = self.covariance.diagonal()

    def column(self, u: int) -> Array:
        """Covariance of every row with row u after the picks so far, shape (n,)."""
        column = np.array(self.covariance.column(u))
        for a in self._taken:
            column -= a[u] * a
        return column

    def squared_columns(self) -> Array:
        """S of (2), shape (n,): how much all rows vary with each of them."""
        if self._squares is None:
            if self._taken:
                raise RuntimeError("squared_columns must be asked for before a pick.")
            self._squares = self.covariance.squared_columns()
        return self._squares

    def condition(
        self,
        u: int,
        target: Array | None = None,  # (t,)
    ) -> None:
        """Take a label of row u into account by (1), or, for None, that it has one."""
        total = float(self.variance[u]) + self.noise
        if total <= 0:  # known already, without noise: nothing is new
            return
        column = self.column(u)
        a = column / np.sqrt(total)
        if self._squares is not None:
            Ca = self.covariance.product(a)
            for b in self._taken:
                Ca -= float(b @ a) * b
            self._squares = self._squares - 2 * a * Ca + a**2 * float(a @ a)
        if target is not None:
            step = (np.asarray(target) - self.values[u]) / total
            self.values = self.values + column[:, None] * step
        self.variance = np.maximum(self.variance - a**2, 0.0)
        self._taken.append(a)
