r"""Random units: a layer of a network that is drawn and never trained.

.. math:: phi_a(x) = sigma(w_a'x + b_a) / \sqrt m, \quad Q = I

=======  ===========================  ============================================
sigma    b uniform from ... to ...    phi(x)'phi(z) tends to
=======  ===========================  ============================================
cos      0 to 2 pi                    half a Gaussian kernel of width 1 / deviation
relu     -1 to 1                      a kernel without a simple closed form
tanh     -1 to 1                      a kernel without a simple closed form
=======  ===========================  ============================================

and w normal. `halfmoon.bases.RandomFeatures` begins from a kernel; here the units come
first, as in the experiments on conditional kernel ridge (section 6 and remark H.1).
Units without penalty are ``unpenalized=RandomUnits(...).fit(X).transform``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from halfmoon.bases.base import Basis, GradientCoefficients
from halfmoon.rows import Array, Rows, as_rows, as_table, inner_products

__all__ = ["RandomUnits"]

BIASES = {"cos": (0.0, 2 * np.pi), "relu": (-1.0, 1.0), "tanh": (-1.0, 1.0)}


@dataclass(eq=False, repr=False)
class RandomUnits(Basis):
    """Units with normal weights and uniform biases.

    Parameters
    ----------
    activation : {"cos", "relu", "tanh"}
    n_components : int
        m above.
    deviation : float
        Standard deviation of the entries of w.

    Attributes
    ----------
    directions_ : ndarray of shape (m, d)
        The w_a.
    biases_ : ndarray of shape (m,)
        The b_a.

    Examples
    --------
    >>> units = RandomUnits("relu", 3).fit([[0.0], [1.0]], rng=0)
    >>> units.transform([[0.0]]).shape, bool((units.transform([[0.0]]) >= 0).all())
    ((1, 3), True)
    """

    activation: Literal["cos", "relu", "tanh"] = "cos"
    n_components: int = 500
    deviation: float = 1.0

    def fit(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        """Draw the units; of the rows only their number of columns matters."""
        rng = np.random.default_rng(rng)
        if self.activation not in BIASES:
            raise ValueError(
                f"activation is {self.activation!r}; one of "
                f"{', '.join(map(repr, BIASES))} is needed."
            )
        if self.n_components < 1 or self.n_components != int(self.n_components):
            raise ValueError(
                f"n_components is {self.n_components}; 1, 2, 3, ... is needed."
            )
        m, d = int(self.n_components), as_table(X).shape[1]
        self.directions_ = self.deviation * rng.standard_normal((m, d))
        self.biases_ = rng.uniform(*BIASES[self.activation], m)
        self.n_components_ = m
        return self

    def transform(self, X: Rows) -> Array:
        """phi(x), shape (b, m)."""
        u = self._arguments(X)
        if self.activation == "relu":
            np.maximum(u, 0.0, out=u)
        else:
            (np.cos if self.activation == "cos" else np.tanh)(u, out=u)
        u /= np.sqrt(self.n_components_)
        return u

    identity_penalty = True

    def penalty(self) -> Array:
        """The identity, shape (m, m)."""
        return np.eye(self.n_components_)

    @property
    def row_bytes(self) -> int:
        """Values, and the arguments."""
        return 16 * self.n_components_

    def gradient_coefficients(self, X: Rows) -> GradientCoefficients:
        """A = 0, B = sigma'(w'x + b) / sqrt(m) and Z the directions."""
        u = self._arguments(X)
        if self.activation == "relu":
            B = (u > 0).astype(np.float64)
        elif self.activation == "cos":
            B = -np.sin(u)
        else:
            B = 1.0 - np.tanh(u) ** 2
        return GradientCoefficients(
            None, B / np.sqrt(self.n_components_), self.directions_
        )

    def _arguments(self, X: Rows) -> Array:
        X = as_rows(X)
        if X.shape[1] != self.directions_.shape[1]:
            raise ValueError(
                f"X has {X.shape[1]} columns, but the units were drawn for "
                f"{self.directions_.shape[1]}; the same columns are needed."
            )
        u = inner_products(X, self.directions_)
        u += self.biases_
        return u
