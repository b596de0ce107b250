r"""Posterior covariance of the rows of a pool, and its update by one more label.

With C the covariance of the function at the rows, and a new label of row u with noise
of variance lam,

.. math:: C \leftarrow C - \frac{c_u c_u'}{v_u + lam}, \quad
          g \leftarrow g + \frac{t - g_u}{v_u + lam} c_u                            (1)

where :math:`c_u` is a column of C and :math:`v_u` its diagonal entry: a rank-one
update. C is not needed as a matrix, only its diagonal v, its columns, its products with
vectors, and the squared lengths of its columns, :math:`S_u = \sum_j C_{ju}^2`. With
:math:`a = c_u / \sqrt{v_u + lam}`,

.. math:: v \leftarrow v - a^2, \quad
          S \leftarrow S - 2 a * (C a) + a^2 |a|^2                                  (2)

so that a pick costs one column and one product: O(n p) for rows given by p features.
The unit of C is that of the prior: tau is 1, and lam is the weight of the penalty
relative to the sum of squares.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from halfmoon._rows import Array

__all__ = ["Covariance", "Dense", "Factored", "Posterior"]


@dataclass(frozen=True)
class Factored:
    """C = Psi Psi'. O(n p) time, and O(n p^2) for `squared_columns`."""

    Psi: Array  # (n, p)

    def diagonal(self) -> Array:
        """Return the variances, shape (n,)."""
        return np.einsum("ij,ij->i", self.Psi, self.Psi)

    def column(self, u: int) -> Array:
        """Return one column of C, shape (n,)."""
        return self.Psi @ self.Psi[u]

    def product(self, a: Array) -> Array:
        """Return C a, shape (n,)."""
        return self.Psi @ (self.Psi.T @ a)

    def squared_columns(self) -> Array:
        """Return the squared lengths of the columns, shape (n,)."""
        return np.einsum("ij,ij->i", self.Psi @ (self.Psi.T @ self.Psi), self.Psi)


@dataclass(frozen=True)
class Dense:
    """C as a matrix. O(n^2) time."""

    C: Array  # (n, n)

    def diagonal(self) -> Array:
        """Return the variances, shape (n,); 0 where rounding makes them negative."""
        return np.maximum(np.diagonal(self.C), 0.0)

    def column(self, u: int) -> Array:
        """Return one column of C, shape (n,)."""
        return self.C[:, u]

    def product(self, a: Array) -> Array:
        """Return C a, shape (n,)."""
        return self.C @ a

    def squared_columns(self) -> Array:
        """Return the squared lengths of the columns, shape (n,)."""
        return np.einsum("ij,ij->j", self.C, self.C)


#: A symmetric positive semi-definite matrix C, shape (n, n).
Covariance: TypeAlias = Factored | Dense


@dataclass
class Posterior:
    """Values and covariance of a fitted function at the rows of a pool.

    Attributes
    ----------
    values : ndarray of shape (n, t)
        g, for each target.
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
    _updates: list[Array] = field(init=False, default_factory=list)  # a of each pick
    _squares: Array | None = field(init=False, default=None)  # S

    def __post_init__(self) -> None:
        self.variance = self.covariance.diagonal()

    def column(self, u: int) -> Array:
        """Return the covariance of every row with row u after the picks, (n,)."""
        column = np.array(self.covariance.column(u))
        for a in self._updates:
            column -= a[u] * a
        return column

    def squared_columns(self) -> Array:
        """Return S of (2), shape (n,)."""
        if self._squares is None:
            if self._updates:
                raise RuntimeError("Call squared_columns before the first pick.")
            self._squares = self.covariance.squared_columns()
        return self._squares

    def condition(
        self,
        u: int,
        target: Array | None = None,  # (t,)
    ) -> None:
        """Update by a label of row u, (1); None leaves the values unchanged."""
        total = float(self.variance[u]) + self.noise
        if total <= 0:  # known already, without noise
            return
        column = self.column(u)
        a = column / np.sqrt(total)
        if self._squares is not None:
            Ca = self.covariance.product(a)
            for b in self._updates:
                Ca -= float(b @ a) * b
            self._squares = self._squares - 2 * a * Ca + a**2 * float(a @ a)
        if target is not None:
            step = (np.asarray(target) - self.values[u]) / total
            self.values = self.values + column[:, None] * step
        self.variance = np.maximum(self.variance - a**2, 0.0)
        self._updates.append(a)
