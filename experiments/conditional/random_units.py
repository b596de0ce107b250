r"""Random units sigma(w'x + b) as S2 draws them, and the kernel of many of them.

.. math:: k(x, z) = 1/m \sum_{a=1}^m sigma(w_a'x + b_a) sigma(w_a'z + b_a)

=======  =================
sigma    b, uniform
=======  =================
cos      from 0 to 2 pi
ReLU     from -1 to 1
tanh     from -1 to 1
=======  =================

and w normal. They differ from `halfmoon.bases.RandomFeatures` in the biases, which
there are normal as in a network. The kernel of the cosines is half the Gaussian one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from halfmoon._rows import Array

__all__ = ["ACTIVATIONS", "Units"]

ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "cos": np.cos,
    "ReLU": lambda u: np.maximum(u, 0.0),
    "tanh": np.tanh,
}
BIASES = {"cos": (0.0, 2 * np.pi), "ReLU": (-1.0, 1.0), "tanh": (-1.0, 1.0)}

UNITS_AT_ONCE = 1_000


@dataclass(frozen=True)
class Units:
    """m random units on d columns."""

    activation: str
    W: Array  # (m, d)
    b: Array  # (m,)

    @classmethod
    def draw(
        cls,
        activation: str,
        m: int,
        d: int,
        rng: np.random.Generator,
        deviation: float = 1.0,  # of the entries of w
    ) -> Units:
        W = deviation * rng.standard_normal((m, d))
        return cls(activation, W, rng.uniform(*BIASES[activation], m))

    def values(self, X: Array, units: slice = slice(None)) -> Array:
        """sigma(w'x + b), a column for each unit."""
        return ACTIVATIONS[self.activation](X @ self.W[units].T + self.b[units])

    def kernel(self, X: Array, Z: Array | None = None) -> Array:
        """k between rows, by some units at a time. O(n n' m)."""
        K = np.zeros((len(X), len(X if Z is None else Z)))
        for start in range(0, len(self.W), UNITS_AT_ONCE):
            units = slice(start, start + UNITS_AT_ONCE)
            left = self.values(X, units)
            right = left if Z is None else self.values(Z, units)
            K += left @ right.T
        K /= len(self.W)
        return K
