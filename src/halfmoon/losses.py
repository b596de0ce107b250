r"""Losses: the cost of predicting g for a label y.

==============  =======================================================  =============
loss            formula                                                  labels y
==============  =======================================================  =============
``"squared"``   :math:`(y - g)^2`                                        numbers
``"huber"``     the same up to a residual of d, then
                :math:`2 d |y - g| - d^2`                                numbers
``"quantile"``  :math:`q (y - g)_+ + (1 - q) (g - y)_+`                  numbers
``"hinge"``     :math:`(1 - y g)_+`                                      -1 and 1
``"logistic"``  :math:`\log(1 + e^{-y g})`                               -1 and 1
``Softmax``     :math:`\log \sum_c e^{g_c} - \sum_c y_c g_c`             0 and 1, one 1
                                                                         in each row
==============  =======================================================  =============

A loss with parameters may be given as an object, such as ``Quantile(0.9)``. With more
than two classes, ``"logistic"`` is `Softmax`.

All are convex, and all but the last are sums over outputs. `halfmoon._solvers` solves
them in two ways. A piecewise linear or quadratic loss is a quadratic program in
:math:`v_i = -w_i \, \partial loss / \partial g_i` with bounds on v (`Box`). A smooth
loss is solved by Newton's method (`slope`, `curvature`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import expit, log_softmax, softmax

from halfmoon._rows import Array

__all__ = ["Huber", "Quantile", "Softmax"]  # the others are given by their names


def _positive(value: Any, name: str) -> None:
    if isinstance(value, str) or not 0 < value < np.inf:
        raise ValueError(f"{name} is {value!r}; a positive number is needed.")


class Box(NamedTuple):
    r"""A loss of one output, by its conjugate: a quadratic program in v.

    .. math:: \sum_i w_i loss(y_i, g_i) = \max_{low \le v \le high} \;
              \sum_i v_i (target_i - g_i) - e_i v_i^2 / 2

    Attributes
    ----------
    target, low, high : ndarrays of shape (l,)
    e : ndarray of shape (l,)
        0 for a piecewise linear loss.
    """

    target: Array
    low: Array
    high: Array
    e: Array


@dataclass(frozen=True)
class Loss(ABC):
    """Base class of the convex losses in the table above."""

    name: ClassVar[str]
    #: Whether targets are classes: -1 and 1, or 0 and 1 in a column for each class.
    of_classes: ClassVar[bool] = False
    #: Whether the loss couples the outputs of a row.
    joint: ClassVar[bool] = False

    @abstractmethod
    def values(self, y: Array, g: Array) -> Array:
        """Return the loss of each entry, in the shape of y; of each row if joint."""

    def check(self, y: Array) -> None:  # noqa: B027 - most targets are valid
        """Raise a ValueError if the targets do not suit the loss."""

    def of_output(self, j: int) -> Loss:
        """Return the loss of one of several outputs."""
        return self


@dataclass(frozen=True)
class Squared(Loss):
    """Squared residuals: ridge regression, with everything in closed form."""

    name = "squared"

    def values(self, y: Array, g: Array) -> Array:
        return np.asarray((y - g) ** 2)


@dataclass(frozen=True)
class Huber(Loss):
    """Squared residuals up to a threshold, absolute ones above it: for outliers.

    Parameters
    ----------
    delta : float
        The threshold, in units of `scale`. 1.35 keeps 95 % of the efficiency of
        squared residuals if the noise is normal.
    scale : float, tuple of float or None
        Standard deviation of the noise: one number for all outputs, or one for each.
        None is 1.4826 times the median absolute leave-one-out residual of the median
        fit, ``Quantile(0.5)``, at its best alpha.
    """

    delta: float = 1.35
    scale: float | tuple[float, ...] | None = None

    name = "huber"

    def __post_init__(self) -> None:
        _positive(self.delta, "delta")
        for scale in () if self.scale is None else np.atleast_1d(self.scale):
            _positive(float(scale), "scale")

    def of_output(self, j: int) -> Huber:
        if self.scale is None or np.ndim(self.scale) == 0:
            return self
        return replace(self, scale=np.ravel(self.scale)[j].item())

    def values(self, y: Array, g: Array) -> Array:
        r, d = np.abs(y - g), self.delta * np.asarray(self._known_scale())
        return np.where(r <= d, r**2, 2 * d * r - d * d)

    def box(self, y: Array, w: Array) -> Box:
        """Return the program: v = 2 w (y - g) for small residuals, bounded by 2 d w."""
        bound = 2 * self.delta * np.asarray(self._known_scale()) * w
        return Box(y, -bound, bound, 0.5 / w)

    def _known_scale(self) -> float | tuple[float, ...]:
        if self.scale is None:
            raise ValueError(
                "The scale of Huber's loss is not known before a fit; a number is "
                "needed, such as Huber(scale=1.0)."
            )
        return self.scale


@dataclass(frozen=True)
class Quantile(Loss):
    """The pinball loss, which fits a quantile of the labels, not their mean.

    Parameters
    ----------
    level : float
        Between 0 and 1. 0.5 fits the median, by absolute residuals.
    """

    level: float = 0.5

    name = "quantile"

    def __post_init__(self) -> None:
        if not (isinstance(self.level, Real) and 0 < self.level < 1):
            raise ValueError(
                f"level is {self.level!r}; a number between 0 and 1 is needed."
            )

    def values(self, y: Array, g: Array) -> Array:
        r = y - g
        return np.maximum(self.level * r, (self.level - 1) * r)

    def box(self, y: Array, w: Array) -> Box:
        """Return the program: v = q w for labels above the fit, -(1 - q) w below."""
        return Box(y, (self.level - 1) * w, self.level * w, np.zeros_like(w))


@dataclass(frozen=True)
class _OfSigns(Loss):
    """A loss of y g, for classes -1 and 1."""

    of_classes = True

    def check(self, y: Array) -> None:
        if not np.isin(y, (-1.0, 1.0)).all():
            raise ValueError(f"The {self.name} loss needs targets that are -1 or 1.")


@dataclass(frozen=True)
class Hinge(_OfSigns):
    """The loss of support vector machines: 0 beyond the margin."""

    name = "hinge"

    def values(self, y: Array, g: Array) -> Array:
        return np.maximum(0.0, 1.0 - y * g)

    def box(self, y: Array, w: Array) -> Box:
        """Return the program: v = y a with 0 <= a <= w."""
        return Box(y, np.minimum(0.0, y * w), np.maximum(0.0, y * w), np.zeros_like(w))


@dataclass(frozen=True)
class Logistic(_OfSigns):
    """Negative log likelihood of logistic regression, where g are log odds."""

    name = "logistic"

    def values(self, y: Array, g: Array) -> Array:
        return np.logaddexp(0.0, -y * g)

    def slope(self, y: Array, g: Array) -> Array:
        """Return the derivative in g."""
        return np.asarray(-y * expit(-y * g))

    def curvature(self, y: Array, g: Array) -> Array:
        """Return the second derivative in g."""
        return np.asarray(expit(g) * expit(-g))


@dataclass(frozen=True)
class Softmax(Loss):
    """Negative log likelihood of multinomial logistic regression."""

    name = "logistic"
    of_classes = True
    joint = True

    def check(self, y: Array) -> None:
        if not (np.isin(y, (0.0, 1.0)).all() and (y.sum(axis=1) == 1).all()):
            raise ValueError(
                "The softmax loss needs a column of 0 and 1 for each class, and one 1 "
                "in each row."
            )

    def values(self, y: Array, g: Array) -> Array:
        """Return minus the log probability of the class of each row, shape (l, 1)."""
        return np.asarray(-(y * log_softmax(g, axis=1)).sum(axis=1, keepdims=True))

    def probabilities(self, g: Array) -> Array:
        """Return the probability of each class, shape (l, C)."""
        return np.asarray(softmax(g, axis=1))


#: The losses by name, with the default parameters.
LOSSES: dict[str, Loss] = {
    each.name: each() for each in (Squared, Huber, Quantile, Hinge, Logistic)
}
