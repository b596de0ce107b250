r"""Random features: functions drawn at random, whose products tend to a kernel.

.. math:: phi_a(x) = sigma(w_a' x + b_a) / \sqrt m, \quad Q = I,
          \quad phi(x)' phi(z) \to k(x, z)

==============================  ==========  ======================================
kernel                          sigma       w, b
==============================  ==========  ======================================
Gaussian                        cos, sin    w normal with deviation 1/length_scale
Laplace, Matern                 cos, sin    w Student t with 2 nu degrees of freedom
NNGP("erf" | "relu" | "tanh")   the same    normal, as in the network's first layer
==============================  ==========  ======================================

Rahimi, Recht, "Random features for large-scale kernel machines", 2007.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from scipy.special import erf

from halfmoon.bases.base import Basis, GradientCoefficients
from halfmoon.kernels import NNGP, Gaussian, Kernel, Laplace, Matern
from halfmoon.rows import Array, Rows, as_rows, as_table, inner_products

__all__ = ["RandomFeatures"]


@dataclass(eq=False, repr=False)
class RandomFeatures(Basis):
    """Features drawn at random such that their kernel tends to the given one.

    Parameters
    ----------
    kernel : Gaussian, Laplace, Matern or NNGP of depth 1
        The limit for many features.
    n_components : int
        p; cosines come in pairs with sines, so there an odd number is rounded up.

    Attributes
    ----------
    kernel_ : Kernel
    directions_ : ndarray of shape (m, d)
        The w_a.
    biases_ : ndarray of shape (m,)
        The b_a.
    """

    kernel: Kernel = field(default_factory=Gaussian)
    n_components: int = 500

    def fit(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        """Draw the features; of the rows only their number of columns matters."""
        rng = np.random.default_rng(rng)
        X = as_table(X)
        if self.n_components < 1 or self.n_components != int(self.n_components):
            raise ValueError(
                f"n_components is {self.n_components}; 1, 2, 3, ... is needed."
            )
        k, d, p = self.kernel.resolve(X, rng), X.shape[1], int(self.n_components)
        if isinstance(k, (Gaussian, Laplace, Matern)):
            m = (p + 1) // 2
            W = rng.standard_normal((m, d)) / k.width
            if not isinstance(k, Gaussian):
                nu = 0.5 if isinstance(k, Laplace) else k.nu
                W *= np.sqrt(2 * nu / rng.chisquare(2 * nu, (m, 1)))
            self.directions_, self.biases_ = W, np.zeros(m)
            p = 2 * m
        elif isinstance(k, NNGP) and k.depth == 1:
            self.directions_ = rng.standard_normal((p, d)) * (k.weight / np.sqrt(d))
            self.biases_ = rng.standard_normal(p) * k.bias
        else:
            raise ValueError(
                f"No random features are known for {k!r}; use Gaussian, Laplace, "
                f"Matern or NNGP of depth 1, or a Nystrom basis, for any kernel."
            )
        self.kernel_, self.n_components_ = k, p
        return self

    def transform(self, X: Rows) -> Array:
        """phi(x), shape (b, p)."""
        u = self._arguments(X)
        if not isinstance(self.kernel_, NNGP):
            phi = np.hstack([np.cos(u), np.sin(u)])
            phi /= np.sqrt(u.shape[1])
            return phi
        activation = self.kernel_.activation
        if activation == "relu":
            phi = np.maximum(u, 0.0, out=u)
        else:
            phi = erf(u, out=u) if activation == "erf" else np.tanh(u, out=u)
        phi /= np.sqrt(u.shape[1])
        return phi

    identity_penalty = True

    def penalty(self) -> Array:
        """The identity, shape (p, p)."""
        return np.eye(self.n_components_)

    @property
    def row_bytes(self) -> int:
        """Values, arguments, and both halves before they are put side by side."""
        return 24 * self.n_components_

    def gradient_coefficients(self, X: Rows) -> GradientCoefficients:
        """A = 0, B = sigma'(w'x + b) / sqrt(m) and Z the directions."""
        u = self._arguments(X)
        scale = 1.0 / np.sqrt(u.shape[1])
        W = self.directions_
        if not isinstance(self.kernel_, NNGP):
            B = np.hstack([-np.sin(u), np.cos(u)]) * scale
            return GradientCoefficients(None, B, np.vstack([W, W]))
        activation = self.kernel_.activation
        if activation == "relu":
            B = (u > 0) * scale
        elif activation == "erf":
            B = np.exp(-(u**2)) * (scale * 2.0 / np.sqrt(np.pi))
        else:
            B = (1.0 - np.tanh(u) ** 2) * scale
        return GradientCoefficients(None, B, W)

    def _arguments(self, X: Rows) -> Array:
        X = as_rows(X)
        if X.shape[1] != self.directions_.shape[1]:
            raise ValueError(
                f"X has {X.shape[1]} columns, but the features were drawn for "
                f"{self.directions_.shape[1]}; the same columns are needed."
            )
        u = inner_products(X, self.directions_)
        u += self.biases_
        return u
