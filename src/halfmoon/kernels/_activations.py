r"""Covariances of a wide network layer after an activation f.

With (u, v) Gaussian of covariances (s_xx, s_xz, s_zz), k(s) = E[f(u) f(v)]. With
:math:`a = 1 + 2 s` and :math:`cos t = s_{xz} / \sqrt{s_{xx} s_{zz}}`:

.. math::
    erf:  k &= (2/\pi) asin(u), \quad u = 2 s_{xz} / \sqrt{a_x a_z} \\
    relu: k &= \sqrt{s_{xx} s_{zz}} (sin t + (\pi - t) cos t) / (2 \pi) \\
    tanh: k &= \sum_m c_m(s_{xx}) c_m(s_{zz}) cos^m t

where c_m(s) is the coefficient of tanh(s^{1/2} x) on the normalized Hermite polynomial
h_m. Williams, "Computing with infinite networks", 1997; Cho and Saul, "Kernel methods
for deep learning", 2009; for tanh, Mehler's formula.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from halfmoon._rows import Array

__all__ = [
    "ACTIVATIONS",
    "Activation",
    "Layer",
    "affine",
    "cosines",
    "inverse",
    "relu",
    "relu_partials",
    "sines",
]

# tanh: for units with a larger standard deviation, the sum over m needs more than a
# thousand terms.
MAX_DEVIATION = 5.0
HALF_LINE = 13.0  # exp(-x^2 / 4) is below 1e-18 for larger x
BLOCK_ROWS = 64  # rows for which the series of tanh is summed in the cache


@dataclass
class Layer:
    """Covariances of the inputs of a layer; functions may overwrite `xz`."""

    xz: Array  # (n, p)
    xx: Array  # (n,)
    zz: Array  # (p,)
    slack: float  # relative rounding error of xz

    def affine(self, weight: float, bias: float) -> None:
        """Apply weights and biases: s = b^2 + w^2 s, in place."""
        for s in (self.xz, self.xx, self.zz):
            affine(s, weight, bias)


@dataclass(frozen=True)
class Activation:
    """k(s) and its partial derivatives; `value` and `partials` overwrite s.xz."""

    value: Callable[[Layer], Array]
    diag: Callable[[Array], Array]  # k(s) for s_xz = s_xx = s_zz
    partials: Callable[[Layer], tuple[Array, Array, Array]] | None = None  # k, k1, k2
    diag_slope: Callable[[Array], Array] | None = None


def affine(k: Array, weight: float, bias: float) -> Array:
    """Compute b^2 + w^2 k in place of k."""
    k *= weight**2
    k += bias**2
    return k


def inverse(r: Array) -> Array:
    """Return 1 / r, and 0 where r = 0."""
    return np.divide(1.0, r, out=np.zeros_like(r), where=r > 0)


def cosines(s: Layer) -> Array:
    """Compute cos t in place of s.xz: exactly 1 for equal rows, 0 for zero rows."""
    c = s.xz
    c *= ((1.0 + s.slack) * inverse(np.sqrt(s.xx)))[:, None]
    c *= inverse(np.sqrt(s.zz))
    return np.clip(c, -1.0, 1.0, out=c)


def sines(c: Array) -> Array:
    """Return sin t from cos t: exactly 0 where cos t is 1 or -1."""
    sine = 1.0 - c
    sine *= 1.0 + c
    return np.sqrt(sine, out=sine)


def relu(s: Layer, c: Array, angle: Array) -> Array:
    """Compute k in place of the cosines c; overwrites the angles pi - t."""
    c *= angle
    c += np.sin(angle, out=angle)
    c *= (np.sqrt(s.xx) / (2.0 * np.pi))[:, None]
    c *= np.sqrt(s.zz)
    return c


def _relu_value(s: Layer) -> Array:
    c = cosines(s)
    angle = -c
    return relu(s, c, np.arccos(angle, out=angle))


def relu_partials(s: Layer, c: Array) -> tuple[Array, Array, Array]:
    """Return k, k1 = (pi - t) / (2 pi), k2 = sqrt(s_zz / s_xx) sin t / (4 pi).

    Overwrites the cosines c.
    """
    k1 = np.arccos(-c)
    k2 = sines(c)
    k2 *= (inverse(np.sqrt(s.xx)) / (4.0 * np.pi))[:, None]
    k2 *= np.sqrt(s.zz)
    k = relu(s, c, k1.copy())
    k1 /= 2.0 * np.pi
    return k, k1, k2


def _erf_argument(s: Layer) -> Array:
    """Compute u in place of s.xz."""
    u = s.xz
    u *= (2.0 / np.sqrt(1.0 + 2.0 * s.xx))[:, None]
    u /= np.sqrt(1.0 + 2.0 * s.zz)
    return np.clip(u, -1.0, 1.0, out=u)


def _erf_value(s: Layer) -> Array:
    k = np.arcsin(_erf_argument(s), out=s.xz)
    k *= 2.0 / np.pi
    return k


def _erf_diag(r: Array) -> Array:
    return (2.0 / np.pi) * np.arcsin(2.0 * r / (1.0 + 2.0 * r))


def _erf_diag_slope(r: Array) -> Array:
    return (4.0 / np.pi) / ((1.0 + 2.0 * r) * np.sqrt(1.0 + 4.0 * r))


def _erf_partials(s: Layer) -> tuple[Array, Array, Array]:
    # dk = (2/pi) / sqrt(1 - u^2) (2 ds_xz / sqrt(a_x a_z) - u ds_xx / a_x)
    a_x, a_z = 1.0 + 2.0 * s.xx, 1.0 + 2.0 * s.zz
    u = _erf_argument(s)
    k1 = sines(u)
    # |s_xz|^2 <= s_xx s_zz, so 1 - u^2 is at least 1 / a_x and 1 / a_z.
    np.maximum(k1, (1.0 / np.sqrt(a_x))[:, None], out=k1)
    np.maximum(k1, 1.0 / np.sqrt(a_z), out=k1)
    np.divide(2.0 / np.pi, k1, out=k1)
    k2 = u * k1
    k2 /= -a_x[:, None]
    k1 *= (2.0 / np.sqrt(a_x))[:, None]
    k1 /= np.sqrt(a_z)
    np.arcsin(u, out=u)
    u *= 2.0 / np.pi
    return u, k1, k2


def _tanh_value(s: Layer) -> Array:
    quadrature = _hermite(*_tanh_sizes(max(s.xx.max(), s.zz.max())))
    c_z = _tanh_coefficients(s.zz, *quadrature).T  # (terms, p)
    rho = cosines(s)
    for start in range(0, len(rho), BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        c_x = _tanh_coefficients(s.xx[rows], *quadrature)  # (block, terms)
        rho_2, k = rho[rows] ** 2, np.zeros_like(rho[rows])
        for m in reversed(range(len(c_z))):  # Horner; tanh is odd, so is m
            k *= rho_2
            k += c_x[:, m, None] * c_z[m]
        rho[rows] *= k
    return rho


def _tanh_diag(r: Array) -> Array:
    x, H = _hermite(*_tanh_sizes(r.max()))
    weights, deviation, k = H[:, 0] / x, np.sqrt(r), np.zeros_like(r)  # h_1(x) = x
    for node, weight in zip(x, weights, strict=True):
        k += weight * np.tanh(node * deviation) ** 2
    return k


def _tanh_sizes(variance: float) -> tuple[int, int]:
    """Return the numbers of nodes and terms for an error of 1e-11.

    tanh has its pole at i pi / 2, so c_m^2 decays as exp(-pi sqrt(m / variance)), and
    the spectrum of the integrand reaches sqrt(m) + 6 + 24 sqrt(variance).
    """
    deviation = float(np.sqrt(variance))
    if deviation > MAX_DEVIATION:
        raise ValueError(
            f"The units of the tanh network have a standard deviation of "
            f"{deviation:.3g} on these rows; at most {MAX_DEVIATION:g} is needed, as "
            f"tanh is a step function beyond that. Standardize the columns, lower "
            f"weight or bias, or use activation='erf'."
        )
    degree = 20.0 + 80.0 * variance
    frequency = np.sqrt(degree) + 6.0 + 24.0 * deviation
    return int(np.ceil(HALF_LINE * frequency / (2.0 * np.pi))), int(degree / 2.0)


@lru_cache(maxsize=16)
def _hermite(nodes: int, terms: int) -> tuple[Array, Array]:
    """Return nodes x on the half line and H with c_m = sum_x tanh(s^(1/2) x) H[x, m].

    H holds h_1, h_3, h_5, ... times the Gaussian density, by the trapezoidal rule,
    which converges exponentially for such functions.
    """
    x: Array = np.arange(1.0, nodes + 1.0) * (HALF_LINE / nodes)
    root = np.exp(-(x**2) / 4.0) / (2.0 * np.pi) ** 0.25  # times h_m: at most about 1
    H = np.empty((nodes, terms))
    previous, current = root, x * root
    for m in range(1, 2 * terms, 2):
        H[:, m // 2] = current
        for j in (m, m + 1):  # sqrt(j + 1) h_{j+1} = x h_j - sqrt(j) h_{j-1}
            following = (x * current - np.sqrt(j) * previous) / np.sqrt(j + 1.0)
            previous, current = current, following
    H *= (2.0 * HALF_LINE / nodes * root)[:, None]
    return x, H


def _tanh_coefficients(r: Array, x: Array, H: Array) -> Array:
    return np.tanh(np.sqrt(r)[:, None] * x) @ H


ACTIVATIONS = {
    "erf": Activation(_erf_value, _erf_diag, _erf_partials, _erf_diag_slope),
    "relu": Activation(
        _relu_value,
        lambda r: r / 2.0,
        lambda s: relu_partials(s, cosines(s)),
        lambda r: np.full_like(r, 0.5),
    ),
    "tanh": Activation(_tanh_value, _tanh_diag),
}
