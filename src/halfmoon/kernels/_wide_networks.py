r"""Kernels of infinitely wide networks with Gaussian weights.

A layer sees two rows only through three covariances (s_xz, s_xx, s_zz), which start as

.. math:: s_{xz} = b^2 + w^2 <x, z> / d                                          (1)

and go through an activation (`_activations.py` has each k(s)) and the next weights as

.. math:: s \leftarrow b^2 + w^2 k(s).                                           (2)

Gradients follow by the chain rule: grad s_xz = A x + B z and grad s_xx = g x, so

.. math:: grad k = (k_1 A + k_2 g) x + k_1 B z, \quad k_1 = dk/ds_{xz},
    k_2 = dk/ds_{xx}.                                                            (3)

Lee et al., "Deep neural networks as Gaussian processes", 2018; Jacot, Gabriel and
Hongler, "Neural tangent kernel", 2018.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Literal

import numpy as np

from halfmoon._rows import EPS, Array, Rows, inner_products
from halfmoon.kernels._activations import (
    ACTIVATIONS,
    Activation,
    Layer,
    affine,
    cosines,
    inverse,
    relu,
    relu_partials,
    sines,
)
from halfmoon.kernels._base import Kernel
from halfmoon.kernels._length_scales import squared_norms

__all__ = ["NNGP", "NTK"]


class _WideNetwork(Kernel):
    """What both kernels have in common: their parameters and the first layer."""

    depth: int
    weight: float
    bias: float

    def _check_parameters(self) -> None:
        depth, weight, bias = self.depth, self.weight, self.bias
        if not isinstance(depth, Integral) or isinstance(depth, bool) or depth < 1:
            raise ValueError(f"depth is {depth!r}; 1, 2, 3, ... is needed.")
        if not 0 < weight < np.inf:
            raise ValueError(f"weight is {weight!r}; a positive number is needed.")
        if not 0 <= bias < np.inf:
            raise ValueError(
                f"bias is {bias!r}; a finite number, 0 or more, is needed."
            )

    def _first_layer(self, X: Rows, Z: Rows) -> Layer:
        self._check_parameters()
        d = X.shape[1]
        # A product of d terms is off by about sqrt(d) roundings.
        slack = (4.0 + np.sqrt(d)) * EPS
        s = Layer(inner_products(X, Z), squared_norms(X), squared_norms(Z), slack)
        s.affine(self.weight / np.sqrt(d), self.bias)
        return s


@dataclass(eq=False, repr=False)
class NNGP(_WideNetwork):
    """Kernel of a wide network at initialization: k of (2) after `depth` layers.

    It is the limit of random features f(w'x + b). It has a gradient unless f is tanh.

    Parameters
    ----------
    activation : {"erf", "relu", "tanh"}
        f above. tanh is a series, summed to about 1e-11, and slower than the others.
    depth : int
        Number of hidden layers.
    weight, bias : float
        w and b above, the standard deviations of weights and biases. With bias 0 the
        erf and tanh kernels are odd and cannot fit an even function.

    Examples
    --------
    >>> NNGP("relu", bias=0.0)([[1.0, 1.0]], [[1.0, 1.0], [-1.0, 1.0]]).round(4)
    array([[0.5   , 0.1592]])
    """

    gradient_temporaries = 8  # depth 1 needs half

    activation: Literal["erf", "relu", "tanh"] = "erf"
    depth: int = 1
    weight: float = 1.0
    bias: float = 1.0

    def _value(self, X: Rows, Z: Rows) -> Array:
        f = self._checked_activation()
        s = self._first_layer(X, Z)
        for layer in range(self.depth):
            if layer > 0:
                s.affine(self.weight, self.bias)
            s = Layer(f.value(s), f.diag(s.xx), f.diag(s.zz), s.slack)
        return s.xz

    def _diag(self, X: Rows) -> Array:
        f = self._checked_activation()
        k = squared_norms(X) / X.shape[1]
        for _ in range(self.depth):
            k = f.diag(affine(k, self.weight, self.bias))
        return k

    def _gradient_coefficients(self, X: Rows, Z: Rows) -> tuple[Array, Array]:
        f = self._checked_activation()
        if f.partials is None or f.diag_slope is None:
            return super()._gradient_coefficients(X, Z)
        w2 = self.weight**2
        s = self._first_layer(X, Z)
        g = np.full(X.shape[0], 2.0 * w2 / X.shape[1])
        for layer in range(self.depth):
            if layer > 0:
                s.affine(self.weight, self.bias)
            k, k1, k2 = f.partials(s)
            k2 *= g[:, None]
            if layer == 0:  # eq. (3) from A = 0, B = w^2 / d
                A, B = k2, k1
                B *= w2 / X.shape[1]
            else:
                A *= w2 * k1
                A += k2
                B *= w2 * k1
            g *= w2 * f.diag_slope(s.xx)
            s = Layer(k, f.diag(s.xx), f.diag(s.zz), s.slack)
        return A, B

    def random_units(
        self, d: int, p: int, rng: np.random.Generator
    ) -> tuple[str, Array, Array]:
        if self.depth != 1:
            return super().random_units(d, p, rng)
        W = rng.standard_normal((p, d)) * (self.weight / np.sqrt(d))
        return self.activation, W, rng.standard_normal(p) * self.bias

    def _checked_activation(self) -> Activation:
        self._check_parameters()
        if self.activation not in ACTIVATIONS:
            raise ValueError(
                f"activation is {self.activation!r}; 'erf', 'relu' or 'tanh' is needed."
            )
        return ACTIVATIONS[self.activation]


@dataclass(eq=False, repr=False)
class NTK(_WideNetwork):
    r"""Neural tangent kernel of a ReLU network: trained, it is kernel ridge with this.

    .. math:: \Theta^0 = s^0, \quad \Theta^l = s^l + w^2 \Theta^{l-1} (\pi - t^{l-1}) /
        (2 \pi), \quad s^l = b^2 + w^2 k(s^{l-1})

    with the ReLU kernel k. The kernel is Theta at l = depth. Like the Laplace kernel,
    it has a kink at x = z, where the derivative of t is taken as 0.

    Parameters
    ----------
    depth : int
        Number of hidden layers.
    weight, bias : float
        w and b above, the standard deviations of weights and biases.

    Examples
    --------
    >>> NTK(bias=0.0)([[1.0, 1.0]], [[1.0, 1.0], [-1.0, 1.0]]).round(4)
    array([[1.    , 0.1592]])
    """

    temporaries = 3
    gradient_temporaries = 14

    depth: int = 1
    weight: float = 1.0
    bias: float = 1.0

    def _value(self, X: Rows, Z: Rows) -> Array:
        s = self._first_layer(X, Z)
        theta, angle = s.xz.copy(), np.empty_like(s.xz)
        for _ in range(self.depth):
            c = cosines(s)
            np.arccos(np.negative(c, out=angle), out=angle)  # pi - t
            theta *= angle
            theta *= self.weight**2 / (2.0 * np.pi)
            s = Layer(relu(s, c, angle), s.xx / 2.0, s.zz / 2.0, s.slack)
            s.affine(self.weight, self.bias)
            theta += s.xz
        return theta

    def _diag(self, X: Rows) -> Array:
        self._check_parameters()
        s = affine(squared_norms(X) / X.shape[1], self.weight, self.bias)
        theta = s
        for _ in range(self.depth):
            s = affine(s / 2.0, self.weight, self.bias)
            theta = s + theta * (self.weight**2 / 2.0)
        return theta

    def _gradient_coefficients(self, X: Rows, Z: Rows) -> tuple[Array, Array]:
        w2 = self.weight**2
        s = self._first_layer(X, Z)
        A, B = np.zeros_like(s.xz), np.full_like(s.xz, w2 / X.shape[1])
        g = np.full(X.shape[0], 2.0 * w2 / X.shape[1])
        theta, theta_A, theta_B = s.xz.copy(), A.copy(), B.copy()
        for _ in range(self.depth):
            # k1 = (pi - t) / (2 pi) has derivative (d cos t) / (2 pi sin t), and
            # d cos t = ds_xz / (N_x N_z) - cos t ds_xx / (2 s_xx).
            inv_x, inv_z = inverse(np.sqrt(s.xx)), inverse(np.sqrt(s.zz))
            c = cosines(s)
            slope = inverse(2.0 * np.pi * sines(c)) * theta
            dot_A = slope * (
                A * inv_x[:, None] * inv_z - c * (0.5 * g * inv_x**2)[:, None]
            )
            dot_B = slope * (B * inv_x[:, None] * inv_z)
            k, k1, k2 = relu_partials(s, c)
            A = w2 * (k1 * A + k2 * g[:, None])
            B = w2 * k1 * B
            theta_A = A + w2 * (k1 * theta_A + dot_A)
            theta_B = B + w2 * (k1 * theta_B + dot_B)
            g *= w2 / 2.0
            s = Layer(k, s.xx / 2.0, s.zz / 2.0, s.slack)
            s.affine(self.weight, self.bias)
            theta = s.xz + w2 * k1 * theta
        return theta_A, theta_B
