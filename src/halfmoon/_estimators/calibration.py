r"""Probabilities from scores: one temperature, fitted to leave-one-out scores.

.. math:: p_c(x) = exp(T s_c(x)) / \sum_b exp(T s_b(x))

T maximizes the likelihood of the labels given the leave-one-out scores. One number
keeps the order of the classes, and is all that a few labels can support. The weight of
one more row is spread over all classes, so that T stays finite where every
leave-one-out prediction is right. The only row of a class does not count: without its
label the class is unknown, which says nothing about other rows. If the rows that count
are of one class, they cannot show how well classes are told apart. Then T is at most
that at which scores 1 and 0 have the probabilities of a right row with this doubt.

Where scores do not suit a softmax, the likelihood may leave the mean confidence m far
from the leave-one-out accuracy a. So the likelihood of that accuracy,

.. math:: l / 50 \cdot l \, (a \log m + (1 - a) \log(1 - m))

is added. The accuracy is known to about 1 / sqrt(l), so that the first term decides
with few labels, and with many the mean confidence is the accuracy.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from halfmoon._rows import Array

__all__ = ["fitted_temperature", "probabilities"]

LOG_TEMPERATURES = (-7.0, 7.0)  # from certainly uniform to certainly one class
MATCHED_LABELS = 50  # with so many labels, both terms count about the same


def probabilities(
    scores: Array,  # (b, C)
    temperature: float,
) -> Array:
    """Return the softmax of temperature times scores; each row sums to 1.

    Examples
    --------
    >>> probabilities(np.array([[0.0, 0.0], [1e300, -1e300]]), 2.0).round(3)
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    with np.errstate(over="ignore"):  # -inf gives the same as -700
        below = temperature * (scores - scores.max(axis=1, keepdims=True))
    return np.asarray(softmax(np.maximum(below, -700.0), axis=1))


def fitted_temperature(
    scores: Array,  # (l, C)
    codes: NDArray[np.intp],  # (l,)
    w: Array,  # (l,)
) -> float:
    """Return the temperature that suits the labels and the accuracy.

    Parameters
    ----------
    scores : ndarray of shape (l, C)
        Leave-one-out scores. Rows with a score that is not finite do not count, nor
        does the only row of a class. Without any other row, T is 1.
    codes : ndarray of shape (l,)
        The class of each row.
    w : ndarray of shape (l,)
        Weights.
    """
    several = np.bincount(codes, minlength=scores.shape[1]) > 1
    known = np.isfinite(scores).all(axis=1) & several[codes]
    if not known.any():
        return 1.0
    scores, codes = scores[known], codes[known]
    w = w[known] / w[known].mean()
    scores = scores - scores.max(axis=1, keepdims=True)
    doubt = 1.0 / (len(codes) + 1.0)
    target = np.full(scores.shape, doubt / scores.shape[1])
    target[np.arange(len(codes)), codes] += 1.0 - doubt
    best = scores.argmax(axis=1)
    accuracy = float(np.average(target[np.arange(len(codes)), best], weights=w))
    strength = len(codes) ** 2 / MATCHED_LABELS

    def loss(log_temperature: float) -> float:
        log_p = log_softmax(np.exp(log_temperature) * scores, axis=1)
        m = float(np.average(np.exp(log_p.max(axis=1)), weights=w))
        match = accuracy * np.log(m) + (1 - accuracy) * np.log(max(1 - m, 1e-300))
        return -float(np.einsum("i,ic,ic->", w, target, log_p)) - strength * match

    found = minimize_scalar(loss, bounds=LOG_TEMPERATURES, method="bounded")
    temperature = float(np.exp(found.x))
    if (codes == codes[0]).all():
        temperature = min(temperature, float(np.log(target.max() / target.min())))
    return temperature
