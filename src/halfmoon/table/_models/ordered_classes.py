r"""Ordered classes: probabilities from a classifier and from a regression of ranks.

A classifier does not know that 4 stars are closer to 5 than to 1. So the ranks 0, 1,
..., C - 1 of the classes are also learned as numbers. With g(x) the prediction of this
regression and s the spread of its leave-one-out errors,

.. math:: q_k(x) = \Phi((k + 1/2 - g(x)) / s) - \Phi((k - 1/2 - g(x)) / s)

is the probability of the k-th class; the first and the last have an open end. With the
probabilities p of the classifier, the result is

.. math:: \propto ((1 - w) p_k(x) + w q_k(x))^T

The spread s, the weight w and the temperature T maximize, one after the other, the
leave-one-out likelihood of the labels. As in `halfmoon._estimators.classification`, the
weight of one additional row is spread over all classes, and the only row of a class
does not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from halfmoon._estimators import HalfmoonClassifier, HalfmoonRegressor
from halfmoon._estimators.classification import fitted_temperature, probabilities
from halfmoon._rows import Array, Indices

__all__ = ["Ordered", "fitted_share", "fitted_spread"]

LOG_SPREADS = (-4.0, 3.0)  # of ranks, from certain to unknown
WEIGHT_STEPS = 20  # from the classifier alone to the ranks alone
MIN_PROBABILITY = 1e-300


@dataclass
class Ordered:
    """Combines a classifier with a regression of the ranks of its classes."""

    regressor: HalfmoonRegressor  # predicts ranks
    places: NDArray[np.intp]  # (C,), ranks of the classes of the classifier
    spread: float  # s above
    share: float  # w
    temperature: float = 1.0  # T

    @classmethod
    def of(
        cls,
        classifier: HalfmoonClassifier,
        regressor: HalfmoonRegressor,
        order: Sequence[Any],
        held_out: tuple[Indices, Array],
        held_out_ranks: tuple[Indices, Array],
    ) -> Ordered:
        """Combine a classifier and a regressor of ranks, fitted to the same rows.

        Their held-out predictions are positions among the labeled rows, with the
        probabilities of the classifier, (m, C), or the ranks of the regressor, (k, 1).
        """
        rank = {each: i for i, each in enumerate(order)}
        places = np.array([rank[each] for each in classifier.classes_.tolist()])
        found = cls(regressor, places, 1.0, 0.0)
        (rows, p), (held, ranks) = held_out, held_out_ranks
        rows, i, j = np.intersect1d(rows, held, return_indices=True)
        codes = classifier._codes[rows]
        several = np.bincount(codes, minlength=len(places)) > 1
        usable = several[codes]
        if not usable.any():
            return found
        p, codes, g = p[i][usable], codes[usable], ranks[j, 0][usable]
        found.spread = fitted_spread(g, places[codes], len(places))
        found.share = fitted_share(p, found.by_place(g), codes)
        pooled = found._pooled(p, g)
        found.temperature = fitted_temperature(_logs(pooled), codes, np.ones(len(p)))
        return found

    def by_place(self, g: Array) -> Array:
        """Return q above, in the order of the classifier's classes, shape (b, C)."""
        return _rank_probabilities(g, self.spread, len(self.places))[:, self.places]

    def __call__(self, p: Array, X: NDArray[Any]) -> Array:
        """Return the probabilities of rows X; p are the classifier's, shape (b, C)."""
        if len(X) == 0:
            return p
        return self._sharpened(self._pooled(p, self.regressor.predict(X)))

    def left_out(
        self,
        rows: Indices,  # (m,), positions among the labeled rows
        p: Array,  # (m, C), held-out probabilities of the classifier
        held: Indices,  # (k,), positions of held-out ranks
        ranks: Array,  # (k, 1), these ranks
    ) -> Array:
        """Return held-out probabilities of labeled rows."""
        _, i, j = np.intersect1d(rows, held, return_indices=True)
        pooled = p.copy()
        pooled[i] = self._pooled(p[i], ranks[j, 0])
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
    """Return the spread s that maximizes the likelihood of the ranks."""

    def loss(log_spread: float) -> float:
        q = _rank_probabilities(g, float(np.exp(log_spread)), n_classes)
        return _smoothed_log_loss(q, places)

    best = minimize_scalar(loss, bounds=LOG_SPREADS, method="bounded")
    return float(np.exp(best.x))


def fitted_share(p: Array, q: Array, codes: NDArray[np.intp]) -> float:
    """Return the weight w of q, relative to p, that maximizes the likelihood."""
    weights = np.linspace(0.0, 1.0, WEIGHT_STEPS + 1)
    losses = [_smoothed_log_loss((1 - w) * p + w * q, codes) for w in weights]
    return float(weights[int(np.argmin(losses))])


def _smoothed_log_loss(p: Array, codes: NDArray[np.intp]) -> float:
    """Return the mean log loss, with one row's weight spread over all classes."""
    logs, doubt = _logs(p), 1.0 / (len(p) + 1.0)
    of_label = logs[np.arange(len(p)), codes]
    return -float(((1 - doubt) * of_label + doubt * logs.mean(axis=1)).mean())


def _rank_probabilities(g: Array, spread: float, n_classes: int) -> Array:
    """Return q above in the order of the scale, shape (b, C)."""
    edges = np.concatenate([[-np.inf], np.arange(n_classes - 1) + 0.5, [np.inf]])
    below = norm.cdf((edges - np.asarray(g)[:, None]) / spread)
    return np.asarray(np.diff(below, axis=1))


def _logs(p: Array) -> Array:
    return np.log(np.maximum(p, MIN_PROBABILITY))
