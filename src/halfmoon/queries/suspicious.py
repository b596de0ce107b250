r"""Labels that look wrong, by what the other labels say of their rows.

Each labeled row is predicted without its own label. Of a class c, with p the
probabilities of that prediction and q the largest of the other classes,

.. math:: score = \frac{q}{p_c + q}                                                 (1)

which is above 1/2 where another class is likelier, and orders rows as the margin
log p_c - log q does. Of a number y, with g the prediction and [low, high] its own
interval at a level of 90 %,

.. math:: score = \frac{|r|}{1 + |r|}, \quad
          r = \frac{y - g}{high - g} \text{ or } \frac{y - g}{g - low}              (2)

on the side of y, which is above 1/2 outside of the interval. A label that is the only
one of its class scores 0, and so does a row of which nothing is known without its own
label: there is nothing to doubt it by.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from halfmoon.estimators.base import Estimator
from halfmoon.estimators.intervals import Intervals
from halfmoon.estimators.left_out_classes import classifier_left_out
from halfmoon.queries.pool import last_step
from halfmoon.rows import Array, Indices

__all__ = ["class_doubts", "interval_ratios", "suspicious_labels"]

LEVEL = 0.9


def suspicious_labels(estimator: Any) -> np.recarray[Any, Any]:
    """Labels of a fitted estimator by how wrong they look, the most suspicious first.

    A high score does not prove that a label is wrong, only that the other labels speak
    against it.

    Parameters
    ----------
    estimator : estimator
        Fitted: any of halfmoon's, or a pipeline that ends with one.

    Returns
    -------
    recarray of shape (n_labeled,)
        With ``row``, the number of the row in the X that was fitted, the ``given``
        label, the ``suggested`` one, which is the prediction without it, and a
        ``score`` from 0 to 1, above 1/2 where another label is likelier. Of more than
        2,000 labels at landmarks, a random 2,000.

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
    """The score (1) of given classes.

    Examples
    --------
    >>> class_doubts(np.array([[0.1, 0.3, 0.6], [0.8, 0.2, 0.0]]), np.array([1, 0]))
    array([0.66666667, 0.2       ])
    """
    each = np.arange(len(codes))
    others = probabilities.copy()
    others[each, codes] = 0.0
    other, own = others.max(axis=1), probabilities[each, codes]
    total = own + other
    return np.divide(other, total, out=np.zeros_like(total), where=total > 0)


def interval_ratios(given: Array, predicted: Array, low: Array, high: Array) -> Array:
    """r of (2), with the sign of y - g; NaN where something is not known.

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
    with np.errstate(over="ignore"):  # beside an interval of no width
        ratio[known] = r[known] / np.maximum(reach[known], least)
    return np.clip(ratio, -1e300, 1e300)


def _classes(estimator: Any) -> tuple[Indices, NDArray[Any], NDArray[Any], Array]:
    """Places among the labeled rows, given and suggested classes, and scores."""
    places, p, codes = classifier_left_out(estimator)
    every, unknown = estimator._codes, np.bincount(estimator._codes) < 2
    best = np.where(unknown[codes], codes, p.argmax(axis=1))
    scores = np.where(unknown[codes], 0.0, class_doubts(p, codes))
    held = estimator._held_out().rows
    asked = np.arange(len(every))[held]
    rest = np.setdiff1d(asked, places)  # nothing is known of these
    codes, best = np.append(codes, every[rest]), np.append(best, every[rest])
    classes = estimator.classes_
    scores = np.append(scores, np.zeros(len(rest)))
    return np.append(places, rest), classes[codes], classes[best], scores


def _numbers(estimator: Any) -> tuple[Indices, NDArray[Any], NDArray[Any], Array]:
    """As `_classes`, for numbers."""
    held = estimator._held_out()
    if held.y.shape[1] > 1:
        raise ValueError(
            f"There are {held.y.shape[1]} targets; suspicious_labels looks at the "
            f"labels of one. Fit each target by itself."
        )
    y, g = held.y[:, 0], held.values[:, 0]
    ratios = np.abs(interval_ratios(y, g, *Intervals.of(y, g, LEVEL)(g)))
    scores = np.where(np.isfinite(ratios), ratios / (1.0 + ratios), 0.0)
    places = np.arange(estimator.n_labeled_)[held.rows]
    return places, y, np.where(np.isfinite(g), g, y), scores
