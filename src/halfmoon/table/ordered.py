r"""Ordered classes: chances from the classes and from their places on a scale.

A classifier does not know that 4 stars are closer to 5 than to 1. So the places 0, 1,
..., C - 1 of the classes are learned as numbers too. With g(x) what a regression says,
and s the spread of its errors on left-out rows,

.. math:: q_k(x) = \Phi((k + 1/2 - g(x)) / s) - \Phi((k - 1/2 - g(x)) / s)

is the chance of the k-th class, the first and last being open at their ends. With the
probabilities p of the classifier, the answer is

.. math:: \propto ((1 - w) p_k(x) + w q_k(x))^T

The spread s, the share w and the temperature T are, one after the other, those that
suit the labels of left-out rows best, as in `halfmoon.estimators.calibration`: one
further row's worth of weight is spread over all classes, and rows that are the only
ones of their class do not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from halfmoon.estimators import HalfmoonClassifier, HalfmoonRegressor
from halfmoon.estimators.calibration import fitted_temperature, probabilities
from halfmoon.estimators.left_out_classes import classifier_left_out
from halfmoon.rows import Array

__all__ = ["Ordered", "fitted_share", "fitted_spread"]

LOG_SPREADS = (-4.0, 3.0)  # of places, from certain to unknown
SHARES = 20  # steps from the classifier alone to the places alone


@dataclass
class Ordered:
    """What is known of a scale beyond the classes.

    Attributes
    ----------
    regressor : HalfmoonRegressor
        Of the places.
    places : ndarray of shape (C,)
        Of the classes of the classifier, on the scale.
    spread, share, temperature : float
        s, w and T above.
    """

    regressor: HalfmoonRegressor
    places: NDArray[np.intp]
    spread: float
    share: float
    temperature: float = 1.0

    @classmethod
    def of(
        cls,
        classifier: HalfmoonClassifier,
        regressor: HalfmoonRegressor,
        order: Sequence[Any],
    ) -> Ordered:
        """From a classifier and a regressor of places, both fitted to the same rows."""
        place = {each: i for i, each in enumerate(order)}
        places = np.array([place[each] for each in classifier.classes_.tolist()])
        found = cls(regressor, places, 1.0, 0.0)
        rows, p, codes = classifier_left_out(classifier)
        held, g = _regressor_left_out(regressor)
        both, mine, theirs = np.intersect1d(rows, held, return_indices=True)
        several = np.bincount(codes[mine], minlength=len(places)) > 1
        told = several[codes[mine]]
        if len(both) == 0 or not told.any():
            return found
        p, codes, g = p[mine][told], codes[mine][told], g[theirs][told]
        found.spread = fitted_spread(g, places[codes], len(places))
        found.share = fitted_share(p, found.by_place(g), codes)
        pooled = found._pooled(p, g)
        found.temperature = fitted_temperature(_logs(pooled), codes, np.ones(len(p)))
        return found

    def by_place(self, g: Array) -> Array:
        """q above, in the order of the classifier's classes, shape (b, C)."""
        return _chances(g, self.spread, len(self.places))[:, self.places]

    def __call__(self, p: Array, X: NDArray[Any]) -> Array:
        """Chances of rows X, of which the classifier says p, shape (b, C)."""
        if len(X) == 0:
            return p
        return self._sharpened(self._pooled(p, self.regressor.predict(X)))

    def left_out(self, rows: NDArray[np.intp], p: Array) -> Array:
        """Chances of labeled rows without their own labels.

        Parameters
        ----------
        rows : ndarray of shape (m,)
            Their places among the labeled rows.
        p : ndarray of shape (m, C)
            What the classifier says of them without their labels.
        """
        held, g = _regressor_left_out(self.regressor)
        both, mine, theirs = np.intersect1d(rows, held, return_indices=True)
        pooled = p.copy()
        if len(both):
            pooled[mine] = self._pooled(p[mine], g[theirs])
        return self._sharpened(pooled)

    def _pooled(self, p: Array, g: Array) -> Array:
        return np.asarray((1 - self.share) * p + self.share * self.by_place(g))

    def _sharpened(self, pooled: Array) -> Array:
        return probabilities(_logs(pooled), self.temperature)


def fitted_spread(
    g: Array,  # (m,)
    places: NDArray[np.intp],  # (m,)
    n_classes: int,
) -> float:
    """The spread s that gives the places their largest likelihood."""
    doubt = 1.0 / (len(g) + 1.0)

    def loss(log_spread: float) -> float:
        logs = _logs(_chances(g, float(np.exp(log_spread)), n_classes))
        own = logs[np.arange(len(g)), places]
        return -float(((1 - doubt) * own + doubt * logs.mean(axis=1)).sum())

    best = minimize_scalar(loss, bounds=LOG_SPREADS, method="bounded")
    return float(np.exp(best.x))


def fitted_share(p: Array, q: Array, codes: NDArray[np.intp]) -> float:
    """The share w of q beside p that gives the classes their largest likelihood."""
    own = np.arange(len(codes)), codes
    shares = np.linspace(0.0, 1.0, SHARES + 1)
    doubt = 1.0 / (len(codes) + 1.0)
    losses = []
    for w in shares:
        logs = _logs((1 - w) * p + w * q)
        losses.append(-((1 - doubt) * logs[own] + doubt * logs.mean(axis=1)).mean())
    return float(shares[int(np.argmin(losses))])


def _chances(g: Array, spread: float, n_classes: int) -> Array:
    """q above in the order of the scale, shape (b, C)."""
    edges = np.concatenate([[-np.inf], np.arange(n_classes - 1) + 0.5, [np.inf]])
    below = norm.cdf((edges - np.asarray(g)[:, None]) / spread)
    return np.asarray(np.diff(below, axis=1))


def _logs(p: Array) -> Array:
    return np.log(np.maximum(p, 1e-300))


def _regressor_left_out(
    regressor: HalfmoonRegressor,
) -> tuple[NDArray[np.intp], Array]:
    held = regressor._held_out()
    g = held.values[:, 0]
    told = np.isfinite(g)
    return np.arange(len(regressor.labeled_))[held.rows][told], g[told]
