r"""Random features: randomly drawn functions whose products tend to a kernel.

.. math:: phi_a(x) = sigma(w_a' x + b_a) / \sqrt m, \quad Q = I,
          \quad phi(x)' phi(z) \to k(x, z)

`RandomFeatures` starts from a kernel:

==============================  ==========  ======================================
kernel                          sigma       w, b
==============================  ==========  ======================================
Gaussian                        cos, sin    w normal with deviation 1/length_scale
Laplace, Matern                 cos, sin    w Student t with 2 nu degrees of freedom
NNGP("erf" | "relu" | "tanh")   the same    normal, as in the network's first layer
==============================  ==========  ======================================

`RandomUnits` starts from the units, with w normal, as in the experiments on
conditional kernel ridge (section 6 and remark H.1):

=======  ===========================  ============================================
sigma    b uniform from ... to ...    phi(x)'phi(z) tends to
=======  ===========================  ============================================
cos      0 to 2 pi                    half a Gaussian kernel of width 1 / deviation
relu     -1 to 1                      a kernel without a simple closed form
tanh     -1 to 1                      a kernel without a simple closed form
=======  ===========================  ============================================

Rahimi, Recht, "Random features for large-scale kernel machines", 2007.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from scipy.special import erf

from halfmoon._rows import Array, Rows, as_rows, as_table, inner_products
from halfmoon.bases._base import Basis, GradientCoefficients
from halfmoon.kernels import Gaussian, Kernel
from halfmoon.kernels._length_scales import large_offset
from halfmoon.kernels._transformed_rows import from_origin

__all__ = ["RandomFeatures", "RandomUnits"]


class Unit(NamedTuple):
    """sigma and its derivative; `value` may overwrite its argument."""

    value: Callable[[Array], Array]
    slope: Callable[[Array], Array]


#: The functions that a layer may apply to w'x + b; "cos_sin" gives two for each w.
UNITS = {
    "cos_sin": Unit(
        lambda u: np.hstack([np.cos(u), np.sin(u)]),
        lambda u: np.hstack([-np.sin(u), np.cos(u)]),
    ),
    "cos": Unit(lambda u: np.cos(u, out=u), lambda u: -np.sin(u)),
    "relu": Unit(
        lambda u: np.maximum(u, 0.0, out=u), lambda u: (u > 0).astype(np.float64)
    ),
    "erf": Unit(
        lambda u: erf(u, out=u), lambda u: np.exp(-(u**2)) * (2.0 / np.sqrt(np.pi))
    ),
    "tanh": Unit(lambda u: np.tanh(u, out=u), lambda u: 1.0 - np.tanh(u) ** 2),
}

UNIFORM_BIASES = {"cos": (0.0, 2 * np.pi), "relu": (-1.0, 1.0), "tanh": (-1.0, 1.0)}


class _RandomLayer(Basis):
    """A layer of random units, drawn once and never trained."""

    n_components: int

    identity_penalty = True
    origin_: Array | None = None  # of rows far from 0, whose waves would lose digits

    def fit(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        """Draw the units for the columns of X."""
        p: Any = self.n_components
        rng = np.random.default_rng(rng)
        if not isinstance(p, Integral) or isinstance(p, bool) or p < 1:
            raise ValueError(f"n_components is {p!r}; 1, 2, 3, ... is needed.")
        drawn = self._draw(as_table(X), int(p), rng)
        self.activation_, self.directions_, self.biases_ = drawn
        self.n_components_ = len(self.biases_) * (1 + (self.activation_ == "cos_sin"))
        # A shift turns the phases of waves, which are uniform.
        waves = self.activation_.startswith("cos")
        self.origin_ = large_offset(as_table(X)) if waves else None
        return self

    @abstractmethod
    def _draw(
        self, X: Rows, p: int, rng: np.random.Generator
    ) -> tuple[str, Array, Array]:
        """Return a key of `UNITS`, the w and the b."""

    def transform(self, X: Rows) -> Array:
        phi = UNITS[self.activation_].value(self._arguments(X))
        phi /= np.sqrt(len(self.biases_))
        return phi

    def penalty(self) -> Array:
        """Return the identity, shape (p, p)."""
        return np.eye(self.n_components_)

    @property
    def row_bytes(self) -> int:
        return 24 * self.n_components_  # arguments, and the values twice

    def gradient_coefficients(self, X: Rows) -> GradientCoefficients:
        """Return A = 0, B = sigma'(w'x + b) / sqrt(m), and the directions as Z."""
        B = UNITS[self.activation_].slope(self._arguments(X))
        B /= np.sqrt(len(self.biases_))
        W = self.directions_
        return GradientCoefficients(None, B, np.vstack([W] * (B.shape[1] // len(W))))

    def _arguments(self, X: Rows) -> Array:
        X = as_rows(X)
        if X.shape[1] != self.directions_.shape[1]:
            raise ValueError(
                f"X has {X.shape[1]} columns, but the features were drawn for "
                f"{self.directions_.shape[1]}; the same columns are needed."
            )
        u = inner_products(from_origin(X, self.origin_), self.directions_)
        u += self.biases_
        return u


@dataclass(eq=False, repr=False)
class RandomFeatures(_RandomLayer):
    """Random features whose products tend to a given kernel.

    Parameters
    ----------
    kernel : Gaussian, Laplace, Matern or NNGP of depth 1
        The limit for many features.
    n_components : int
        p. Cosines come in pairs with sines, so p is rounded up to an even number.

    Attributes
    ----------
    kernel_ : Kernel
    activation_ : str
    directions_ : ndarray of shape (m, d)
        The w_a.
    biases_ : ndarray of shape (m,)
        The b_a.
    """

    kernel: Kernel = field(default_factory=Gaussian)
    n_components: int = 500

    def _draw(
        self, X: Rows, p: int, rng: np.random.Generator
    ) -> tuple[str, Array, Array]:
        self.kernel_ = self.kernel.resolve(X, rng)
        return self.kernel_.random_units(X.shape[1], p, rng)


@dataclass(eq=False, repr=False)
class RandomUnits(_RandomLayer):
    """Random units with normal weights and uniform biases.

    For unpenalized units use ``unpenalized=RandomUnits(...).fit(X).transform``.

    Parameters
    ----------
    activation : {"cos", "relu", "tanh"}
    n_components : int
        m above.
    deviation : float
        Standard deviation of the entries of w.

    Attributes
    ----------
    activation_ : str
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

    def _draw(
        self, X: Rows, p: int, rng: np.random.Generator
    ) -> tuple[str, Array, Array]:
        if self.activation not in UNIFORM_BIASES:
            raise ValueError(
                f"activation is {self.activation!r}; one of "
                f"{', '.join(map(repr, UNIFORM_BIASES))} is needed."
            )
        W = self.deviation * rng.standard_normal((p, X.shape[1]))
        return self.activation, W, rng.uniform(*UNIFORM_BIASES[self.activation], p)
