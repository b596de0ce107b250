r"""Spectral filters: how much of each direction a fit takes.

For a generalized eigenpair of (Sigma, Q) with eigenvalue s, a fit takes psi(s) of the
labels' moment in that direction: theta = sum psi(s) u u'b. A filter is the function
psi; 1/s would take all. Each has its limit at s = 0, never NaN.

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

from halfmoon.rows import Array

__all__ = [
    "FILTERS",
    "Cutoff",
    "Filter",
    "GradientFlow",
    "Heat",
    "IteratedTikhonov",
    "Landweber",
    "Tikhonov",
]


class Filter(BaseEstimator, ABC):
    """A function psi of the generalized eigenvalues."""

    def __call__(self, s: Array) -> Array:
        """psi(s) for s >= 0; what rounding left below 0 counts as 0."""
        for name, value in self.get_params().items():
            if name == "step" and value is None:
                continue
            if not value > 0 and not (name == "alpha" and value == 0):
                raise ValueError(f"{name} is {value}; a positive number is needed.")
            if name == "t" and value != int(value):
                raise ValueError(f"t is {value}; a whole number of steps is needed.")
        return self._psi(np.maximum(np.asarray(s, dtype=np.float64), 0.0))

    @abstractmethod
    def _psi(self, s: Array) -> Array: ...


def _ratio(numerator: Array, s: Array, limit: float) -> Array:
    """numerator / s, with its limit where s is 0 (or so small that 1/s overflows)."""
    usable = s > np.finfo(np.float64).tiny
    out = np.full(np.broadcast_shapes(numerator.shape, s.shape), limit)
    return np.divide(numerator, s, out=out, where=usable)


@dataclass(eq=False, repr=False)
class Tikhonov(Filter):
    """Ridge: 1 / (s + alpha). At alpha = 0, 1 / s where s is not 0.

    Examples
    --------
    >>> Tikhonov(alpha=1.0)(np.array([0.0, 1.0, 3.0]))
    array([1.  , 0.5 , 0.25])
    """

    alpha: float = 1.0

    def _psi(self, s: Array) -> Array:
        return _ratio(np.ones_like(s), s + self.alpha, 0.0)


@dataclass(eq=False, repr=False)
class Cutoff(Filter):
    """Principal components: 1 / s above alpha, nothing below."""

    alpha: float = 1.0

    def _psi(self, s: Array) -> Array:
        return _ratio((s > self.alpha).astype(float), s, 0.0)


@dataclass(eq=False, repr=False)
class IteratedTikhonov(Filter):
    """Ridge on the residuals of ridge, t times: (1 - (alpha / (s + alpha))^t) / s."""

    alpha: float = 1.0
    t: int = 2

    def _psi(self, s: Array) -> Array:
        if self.alpha == 0:
            return _ratio(np.ones_like(s), s, 0.0)
        # -expm1(-t log1p(s / alpha)) is 1 - (...)^t without cancellation for small s.
        with np.errstate(over="ignore"):  # all is taken where s / alpha is infinite
            taken = -np.expm1(-self.t * np.log1p(s / self.alpha))
        return _ratio(taken, s, self.t / self.alpha)


@dataclass(eq=False, repr=False)
class Landweber(Filter):
    """Gradient descent, t steps of size `step`: (1 - (1 - step s)^t) / s.

    Converges for step < 2 / max s, which is checked; None is 1 / max s.
    """

    t: int = 100
    step: float | None = 1.0

    def _psi(self, s: Array) -> Array:
        largest = s.max(initial=np.finfo(np.float64).tiny)
        step = 1.0 / largest if self.step is None else self.step
        if step * largest >= 2:
            raise ValueError(
                f"step is {step}, with which gradient descent diverges: the "
                f"largest eigenvalue is {largest:.3g}, so the step must be below "
                f"{2 / largest:.3g}."
            )
        left = 1.0 - step * s
        small = step * s < 0.5
        taken = 1.0 - left**self.t
        taken[small] = -np.expm1(self.t * np.log1p(-step * s[small]))
        return _ratio(taken, s, self.t * step)


@dataclass(eq=False, repr=False)
class GradientFlow(Filter):
    """Gradient descent in continuous time 1 / alpha: (1 - exp(-s / alpha)) / s."""

    alpha: float = 1.0

    def _psi(self, s: Array) -> Array:
        if self.alpha == 0:
            return _ratio(np.ones_like(s), s, 0.0)
        with np.errstate(over="ignore"):  # all is taken where s / alpha is infinite
            taken = -np.expm1(-s / self.alpha)
        return _ratio(taken, s, 1.0 / self.alpha)


@dataclass(eq=False, repr=False)
class Heat(Filter):
    """The heat equation run for a time alpha: exp(-alpha / s) / s."""

    alpha: float = 1.0

    def _psi(self, s: Array) -> Array:
        tiny = np.finfo(np.float64).tiny
        with np.errstate(under="ignore", over="ignore"):
            decay = np.exp(-self.alpha / np.maximum(s, tiny))
        return _ratio(decay * (s > 0), s, 0.0)


#: Filters by name, as a function of alpha: the smaller, the more a fit takes. Of
#: Landweber's filter 1 / alpha is the number of steps.
FILTERS: dict[str, Callable[[float], Filter]] = {
    "tikhonov": Tikhonov,
    "cutoff": Cutoff,
    "iterated_tikhonov": IteratedTikhonov,
    "landweber": lambda alpha: Landweber(t=max(1, round(1 / alpha)), step=None),
    "gradient_flow": GradientFlow,
    "heat": Heat,
}
