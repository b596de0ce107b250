r"""The Sobolev kernel of the circle.

.. math:: k(x, z) = 1 + \sum_{i \ge 1} i^{-2s} cos(i (x - z))                    (1)

The series is the real part of a polylogarithm. With a = 2s and t = \|x - z\| folded
into [0, pi] it has an expansion that gains two bits a term,

.. math:: k = 1 + \frac{\pi}{2 \Gamma(a) cos(\pi a / 2)} t^{a-1}
    + \sum_j (-1)^j \zeta(a - 2j) t^{2j} / (2j)!                                 (2)

For an even integer a the sum ends at j = a / 2 (zeta is 0 at -2, -4, ...), and (2) is
a Bernoulli polynomial. For an odd integer a = 2J + 1 the first term and that of j = J
are both infinite, and their sum tends to

.. math:: (-1)^J t^{2J} / (2J)! (H_{2J} - log t), \quad H_m = 1 + 1/2 + ... + 1/m  (3)

NIST Digital Library of Mathematical Functions, 25.12.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import factorial, gamma, polygamma, zeta

from halfmoon._rows import TINY, Array, Rows, inner_products
from halfmoon.kernels._base import Kernel

__all__ = ["PeriodicSobolev"]

TERMS = 32  # t <= pi, so term j of (2) is below 4^-j
MAX_POWER = 100.0  # 1 + 2^-100 rounds to 1: from there on k = 1 + cos t
NEARLY_ODD = 1e-3  # closer than this to an odd a, two large terms of (2) cancel
# zeta(1 + delta) - 1 / delta by the Stieltjes constants, highest power first
ZETA_REST = (
    -0.0020538344203033 / 6.0,
    -0.0096903631928723 / 2.0,
    0.0728158454836767,
    0.5772156649015329,
)


@dataclass(eq=False, repr=False)
class PeriodicSobolev(Kernel):
    """Sobolev kernel (1) of smoothness s, for one column of angles in radians.

    Functions in its space have a derivative of order s in L2 of the circle.

    Parameters
    ----------
    smoothness : float
        s above: more than 1/2, so that the series converges; more than 1 for a
        gradient.

    Examples
    --------
    >>> PeriodicSobolev(1.0)([[0.0]], [[0.0], [np.pi], [2 * np.pi]]).round(4)
    array([[2.6449, 0.1775, 2.6449]])
    """

    origin_degree = -1
    temporaries = 3
    gradient_temporaries = 6

    smoothness: float = 1.0

    def _value(self, X: Rows, Z: Rows) -> Array:
        a = self._power()
        t = _folded(_differences(X, Z))
        np.abs(t, out=t)
        k = _horner(_coefficients(a), t**2)
        k += _singular(t, a)
        return k

    def _diag(self, X: Rows) -> Array:
        return np.full(_angles(X).shape[0], 1.0 + zeta(self._power()))

    def _gradient_coefficients(self, X: Rows, Z: Rows) -> tuple[Array, Array]:
        # A = k'(x - z) / (x - z), where k' is the derivative of (2), odd in t
        a = self._power()
        if not a > 2:
            raise TypeError(
                f"{self!r} has no gradient, as it has a kink at x = z; smoothness "
                f"above 1 is needed. Raise it, or use the energy of a graph."
            )
        c = _coefficients(a)
        A = _differences(X, Z)
        t = _folded(A.copy())
        np.divide(np.sign(t), A, out=A, where=A != 0)
        np.abs(t, out=t)
        slope = _horner(2.0 * np.arange(1, len(c)) * c[1:], t**2)
        slope *= t
        slope += _singular(t, a, order=1)
        A *= slope
        return A, -A

    def _power(self) -> float:
        if not 0.5 < self.smoothness < np.inf:
            raise ValueError(
                f"smoothness is {self.smoothness!r}; a number above 1/2 is needed for "
                f"the series of the kernel to converge."
            )
        return min(2.0 * self.smoothness, MAX_POWER)


def _angles(X: Rows) -> Array:
    if X.shape[1] != 1:
        raise ValueError(
            f"The rows have {X.shape[1]} columns; PeriodicSobolev needs one column, an "
            f"angle. Pick the column of angles."
        )
    return inner_products(X, np.eye(1))  # dense also for sparse X


def _differences(X: Rows, Z: Rows) -> Array:
    return _angles(X) - _angles(Z).T


def _folded(t: Array) -> Array:
    """Reduce t modulo 2 pi to [-pi, pi], in place; t in that range stays exact."""
    turns = t / (2.0 * np.pi)
    np.rint(turns, out=turns)
    turns *= 2.0 * np.pi
    t -= turns
    return t


def _horner(c: Array, x: Array) -> Array:
    total = np.full_like(x, c[-1])
    for coefficient in c[-2::-1]:
        total *= x
        total += coefficient
    return total


def _nearest_odd(a: float) -> tuple[int, float]:
    """Return J and delta with a = 2J + 1 + delta."""
    J = round((a - 1.0) / 2.0)
    return J, a - (2 * J + 1)


def _cancels(J: int, delta: float) -> bool:
    return J >= 1 and abs(delta) < NEARLY_ODD  # for J = 0 the sum itself is large


def _coefficients(a: float) -> Array:
    """Return the coefficients of t^(2j) in (2) with the 1, without the term in (3)."""
    j = np.arange(TERMS + int(a / 2.0))
    J, delta = _nearest_odd(a)
    infinite = (j == J) & _cancels(J, delta)
    c = np.where(infinite, 0.0, zeta(np.where(infinite, 2.0, a - 2.0 * j)))
    c *= (-1.0) ** j / factorial(2 * j)
    c[0] += 1.0
    return np.trim_zeros(c, "b")


def _singular(t: Array, a: float, order: int = 0) -> Array:
    """Compute the singular term of (2), or (3), or its derivative, in place of t.

    Near an odd a, write the first term of (2) with E(delta) t^delta. The two terms that
    cancel are then (3) with H - log t replaced by

        zeta(1 + delta) - 1 / delta + (1 - E t^delta) / delta

    where both differences are expanded in delta.
    """
    J, delta = _nearest_odd(a)
    if not _cancels(J, delta):
        # cos(pi a / 2) = (-1)^(J+1) sin(pi delta / 2), which keeps its digits near 0
        cosine = (-1.0) ** (J + 1) * np.sin(np.pi * delta / 2.0)
        np.power(t, a - 1.0 - order, out=t)
        t *= (a - 1.0) ** order * np.pi / (2.0 * gamma(a) * cosine)
        return t
    # E = Gamma(2J + 1) / (Gamma(2J + 1 + delta) sinc(delta / 2))
    psi = polygamma(np.arange(4), 2 * J + 1) / factorial(np.arange(1, 5))
    shift = np.polyval(psi[::-1], delta)  # -log(E) / delta
    shift -= np.pi**2 / 24.0 * delta + np.pi**4 / 2880.0 * delta**3
    bracket = np.maximum(t, TINY)
    np.log(bracket, out=bracket)
    bracket -= shift  # log(E t^delta) / delta
    power = np.exp(delta * bracket) if order == 1 else None
    if delta != 0:
        bracket *= delta
        np.expm1(bracket, out=bracket)
        bracket /= delta
    np.subtract(np.polyval(ZETA_REST, delta), bracket, out=bracket)
    if power is not None:  # (t^2J)' = 2J t^2J / t, and (t^delta)' = delta t^delta / t
        bracket *= 2.0 * J
        bracket -= power
    np.power(t, 2 * J - order, out=t)
    t *= (-1.0) ** J / factorial(2 * J)
    t *= bracket
    return t
