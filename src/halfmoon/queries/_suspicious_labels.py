r"""Labels that look wrong, by leave-one-out predictions.

For a class c, with p the leave-one-out probabilities and q the largest one of the other
classes,

.. math:: score = \frac{q}{p_c + q}                                                 (1)

which is above 1/2 if another class is more likely, and sorts rows like the margin
log p_c - log q. For a number y, with g the leave-one-out prediction and [low, high] its
interval at a level of 90 %,

.. math:: score = \frac{|r|}{1 + |r|}, \quad
          r = \frac{y - g}{high - g} \text{ or } \frac{y - g}{g - low}              (2)

on the side of y, which is above 1/2 outside of the interval. The score is 0 for the
only label of a class, and for a row that the other labels do not determine.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from halfmoon._estimators.base import Estimator
from halfmoon._estimators.intervals import Intervals
from halfmoon._estimators.loo_probabilities import loo_class_probabilities
from halfmoon._rows import Array, Indices
from halfmoon.queries._pool import last_step

__all__ = ["class_doubts", "interval_ratios", "suspicious_labels"]

LEVEL = 0.9


def suspicious_labels(estimator: Any) -> np.recarray[Any, Any]:
    """Return the labels of a fitted estimator, the most suspicious first.

    A high score does not prove that a label is wrong, only that it disagrees with the
    other labels.

    Parameters
    ----------
    estimator : estimator
        A fitted estimator of halfmoon, or a pipeline that ends with one.

    Returns
    -------
    recarray of shape (n_labeled,)
        With the columns ``row``, the row number in the fitted X; ``given``, the label;
        ``suggested``, its leave-one-out prediction; and ``score``, from 0 to 1, above
        1/2 if another label is more likely. With landmarks and more than 2,000 labels,
        a random 2,000 of them.

    Examples
    --------
    >>> from halfmoon import ConditionalClassifier
    >>> X = np.linspace(0, 1, 20)[:, None]
    >>> y = np.where(X[:, 0] > 0.5, "high", "low")
    >>> y[3] = "high"
    >>> found = suspicious_labels(ConditionalClassifier().fit(X, y))[0]
    >>> int(found.row), str(found.given), str(found.suggested)
    (3, 'high', 'low')
    """
    estimator, _ = last_step(estimator)
    if not isinstance(estimator, Estimator):
        raise TypeError(
            f"{type(estimator).__name__} has no leave-one-out predictions. Use an "
            f"estimator of halfmoon, such as HalfmoonClassifier."
        )
    find = _classes if is_classifier(estimator) else _numbers
    places, given, suggested, scores = find(estimator)
    kind = [
        ("row", np.intp),
        ("given", given.dtype),
        ("suggested", given.dtype),
        ("score", np.float64),
    ]
    order = np.argsort(-scores, kind="stable")
    found = np.recarray(len(given), dtype=kind)
    found["row"] = estimator._labeled_places[places[order]]
    found["given"], found["suggested"] = given[order], suggested[order]
    found["score"] = scores[order]
    return found


def class_doubts(
    probabilities: Array,  # (m, C)
    codes: NDArray[np.intp],  # (m,)
) -> Array:  # (m,)
    """Return the score (1) of given classes.

    Examples
    --------
    >>> class_doubts(np.array([[0.1, 0.3, 0.6], [0.8, 0.2, 0.0]]), np.array([1, 0]))
    array([0.66666667, 0.2       ])
    """
    rows = np.arange(len(codes))
    p, others = probabilities[rows, codes], probabilities.copy()
    others[rows, codes] = 0.0
    q = others.max(axis=1)
    return np.divide(q, p + q, out=np.zeros_like(q), where=p + q > 0)


def interval_ratios(given: Array, predicted: Array, low: Array, high: Array) -> Array:
    """Return r of (2), with the sign of y - g; NaN if the prediction is unknown.

    Examples
    --------
    >>> at, low, high = np.zeros(2), np.full(2, -1.0), np.full(2, 2.0)
    >>> interval_ratios(np.array([4.0, -4.0]), at, low, high)
    array([ 2., -4.])
    """
    r = given - predicted
    reach = np.where(r >= 0, high - predicted, predicted - low)
    known = np.isfinite(r) & np.isfinite(reach)
    least = np.finfo(np.float64).tiny
    ratio = np.full(r.shape, np.nan)
    with np.errstate(over="ignore"):  # an interval of width 0
        ratio[known] = r[known] / np.maximum(reach[known], least)
    return np.clip(ratio, -1e300, 1e300)


def _classes(estimator: Any) -> tuple[Indices, NDArray[Any], NDArray[Any], Array]:
    """Return places among the labeled rows, given and suggested classes, scores."""
    all_codes, classes = estimator._codes, estimator.classes_
    places, p, codes = loo_class_probabilities(estimator)
    single = (np.bincount(all_codes) < 2)[codes]
    best = np.where(single, codes, p.argmax(axis=1))
    scores = np.where(single, 0.0, class_doubts(p, codes))
    held_out = np.arange(len(all_codes))[estimator._held_out().rows]
    rest = np.setdiff1d(held_out, places)  # rows without a prediction
    given = np.append(codes, all_codes[rest])
    suggested = np.append(best, all_codes[rest])
    scores = np.append(scores, np.zeros(len(rest)))
    return np.append(places, rest), classes[given], classes[suggested], scores


def _numbers(estimator: Any) -> tuple[Indices, NDArray[Any], NDArray[Any], Array]:
    """Do the same as `_classes` for numbers."""
    held = estimator._held_out()
    if held.y.shape[1] > 1:
        raise ValueError(
            f"There are {held.y.shape[1]} targets, but suspicious_labels works for "
            f"one. Fit each target in a model of its own."
        )
    y, g = held.y[:, 0], held.values[:, 0]
    ratios = np.abs(interval_ratios(y, g, *Intervals.of(y, g, LEVEL)(g)))
    scores = np.where(np.isfinite(ratios), ratios / (1.0 + ratios), 0.0)
    places = np.arange(estimator.n_labeled_)[held.rows]
    return places, y, np.where(np.isfinite(g), g, y), scores
