r"""Spectral filters: how strongly a fit uses each direction of the basis.

For the generalized eigenpairs (s, u) of (Sigma, Q) and the moment b of the labels, a
fit is theta = sum psi(s) u u'b. A filter is the function psi. Without any
regularization it is 1/s. At s = 0 a filter has its limit, never NaN.

==================  ====================================  =======================
filter              psi(s)                                limit at s = 0
==================  ====================================  =======================
Tikhonov            1 / (s + alpha)                       1 / alpha
Cutoff              1 / s if s > alpha, else 0            0
IteratedTikhonov    (1 - (alpha / (s + alpha))^t) / s     t / alpha
Landweber           (1 - (1 - g s)^t) / s                 t g
GradientFlow        (1 - exp(-s / alpha)) / s             1 / alpha
Heat                exp(-alpha / s) / s                   0
==================  ====================================  =======================

Cabannes et al., "Overcoming the curse of dimensionality with Laplacian regularization",
2021, section 2.2 and appendix C.3.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator

from halfmoon._rows import TINY, Array

__all__ = [
    "Cutoff",
    "GradientFlow",
    "Heat",
    "IteratedTikhonov",
    "Landweber",
    "Tikhonov",
]


class Filter(BaseEstimator, ABC):
    """A function psi of the generalized eigenvalues."""

    def __call__(self, s: Array) -> Array:
        """Return psi(s); an s below 0, by rounding, counts as 0."""
        self._check()
        return self._psi(np.maximum(np.asarray(s, dtype=np.float64), 0.0))

    @abstractmethod
    def _check(self) -> None:
        """Raise a ValueError if a parameter is out of range."""

    @abstractmethod
    def _psi(self, s: Array) -> Array: ...


@dataclass(eq=False, repr=False)
class _WithAlpha(Filter):
    """A filter with a parameter alpha, 0 or more."""

    alpha: float = 1.0

    def _check(self) -> None:
        if not self.alpha >= 0:
            raise ValueError(
                f"alpha is {self.alpha}; a positive number is needed, or 0."
            )


def _check_steps(t: int) -> None:
    if not t > 0:
        raise ValueError(f"t is {t}; a positive number is needed.")
    if t != int(t):
        raise ValueError(f"t is {t}; a whole number of steps is needed.")


def _ratio(numerator: Array, s: Array, limit: float) -> Array:
    """Return numerator / s, and its limit where s is 0 or 1/s would overflow."""
    usable = s > TINY
    out = np.full(np.broadcast_shapes(numerator.shape, s.shape), limit)
    return np.divide(numerator, s, out=out, where=usable)


@dataclass(eq=False, repr=False)
class Tikhonov(_WithAlpha):
    """Ridge regression: 1 / (s + alpha); for alpha = 0, 1 / s where s is not 0.

    Examples
    --------
    >>> Tikhonov(alpha=1.0)(np.array([0.0, 1.0, 3.0]))
    array([1.  , 0.5 , 0.25])
    """

    def _psi(self, s: Array) -> Array:
        return _ratio(np.ones_like(s), s + self.alpha, 0.0)


@dataclass(eq=False, repr=False)
class Cutoff(_WithAlpha):
    """Principal components: 1 / s above alpha, and 0 below."""

    def _psi(self, s: Array) -> Array:
        return _ratio((s > self.alpha).astype(float), s, 0.0)


@dataclass(eq=False, repr=False)
class IteratedTikhonov(_WithAlpha):
    """Ridge refitted to its residuals, t times: (1 - (alpha / (s + alpha))^t) / s."""

    t: int = 2

    def _check(self) -> None:
        super()._check()
        _check_steps(self.t)

    def _psi(self, s: Array) -> Array:
        if self.alpha == 0:
            return _ratio(np.ones_like(s), s, 0.0)
        # -expm1(-t log1p(s / alpha)) is 1 - (...)^t without cancellation at small s.
        with np.errstate(over="ignore"):  # the share is 1 where s / alpha is infinite
            share = -np.expm1(-self.t * np.log1p(s / self.alpha))
        return _ratio(share, s, self.t / self.alpha)


@dataclass(eq=False, repr=False)
class Landweber(Filter):
    """Gradient descent, t steps of size `step`: (1 - (1 - step s)^t) / s.

    The step must be below 2 / max s, or gradient descent diverges; None is 1 / max s.
    """

    t: int = 100
    step: float | None = 1.0

    def _check(self) -> None:
        _check_steps(self.t)
        if self.step is not None and not self.step > 0:
            raise ValueError(f"step is {self.step}; a positive number is needed.")

    def _psi(self, s: Array) -> Array:
        largest = s.max(initial=0.0) or 1.0  # any step does where all s are 0
        step = 1.0 / largest if self.step is None else self.step
        if step * largest >= 2:
            raise ValueError(
                f"step is {step}, with which gradient descent diverges: the "
                f"largest eigenvalue is {largest:.3g}, so the step must be below "
                f"{2 / largest:.3g}."
            )
        rest = 1.0 - step * s
        small = step * s < 0.5
        share = 1.0 - rest**self.t
        share[small] = -np.expm1(self.t * np.log1p(-step * s[small]))
        return _ratio(share, s, self.t * step)


@dataclass(eq=False, repr=False)
class GradientFlow(_WithAlpha):
    """Gradient descent in continuous time 1 / alpha: (1 - exp(-s / alpha)) / s."""

    def _psi(self, s: Array) -> Array:
        if self.alpha == 0:
            return _ratio(np.ones_like(s), s, 0.0)
        with np.errstate(over="ignore"):  # the share is 1 where s / alpha is infinite
            share = -np.expm1(-s / self.alpha)
        return _ratio(share, s, 1.0 / self.alpha)


@dataclass(eq=False, repr=False)
class Heat(_WithAlpha):
    """The heat equation at time alpha: exp(-alpha / s) / s."""

    def _psi(self, s: Array) -> Array:
        with np.errstate(under="ignore", over="ignore"):
            decay = np.exp(-self.alpha / np.maximum(s, TINY))
        return _ratio(decay * (s > 0), s, 0.0)


#: Filters by name, as functions of alpha. A smaller alpha regularizes less. Landweber
#: takes 1 / alpha steps.
FILTERS: dict[str, Callable[[float], Filter]] = {
    "tikhonov": Tikhonov,
    "cutoff": Cutoff,
    "iterated_tikhonov": IteratedTikhonov,
    "landweber": lambda alpha: Landweber(t=max(1, round(1 / alpha)), step=None),
    "gradient_flow": GradientFlow,
    "heat": Heat,
}
