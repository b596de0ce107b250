r"""Probabilities from scores: one temperature, fitted on left-out rows.

.. math:: p_c(x) = exp(T s_c(x)) / \sum_b exp(T s_b(x))

T maximizes the likelihood of the labels under the scores that rows get without their
own label, so that confidence is what was earned and not what was memorized. One number
keeps the order of the classes, and is all that a few labels can support; one further
row's worth of weight is spread over all classes, so that T stays finite where every
left-out row was right. A row that is the only one of its class does not count: without
its label nobody knows that the class is there, which says nothing of other rows.

Where scores are not of the form that a softmax takes them to be, the likelihood may
leave the mean confidence m far from the share a of left-out rows that were right. So
the likelihood of that share,

.. math:: l / 50 \cdot l \, (a \log m + (1 - a) \log(1 - m))

is added: by itself a share is known to 1 / sqrt(l), so that with few labels the first
term decides, and with many the mean confidence is the accuracy.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from halfmoon.rows import Array

__all__ = ["fitted_temperature", "probabilities"]

LOG_TEMPERATURES = (-7.0, 7.0)  # from certainly uniform to certainly one class
MATCHED = 50  # labels with which the share of right rows counts as much as the labels


def probabilities(
    scores: Array,  # (b, C)
    temperature: float,
) -> Array:
    """Softmax of temperature times scores; rows sum to 1 whatever the scores.

    Examples
    --------
    >>> probabilities(np.array([[0.0, 0.0], [1e300, -1e300]]), 2.0).round(3)
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    # Differences to the largest score, of which what underflows is as good as 0.
    with np.errstate(over="ignore"):  # minus infinity is as good as -700
        below = temperature * (scores - scores.max(axis=1, keepdims=True))
    return np.asarray(softmax(np.maximum(below, -700.0), axis=1))


def fitted_temperature(
    scores: Array,  # (l, C)
    codes: NDArray[np.intp],  # (l,)
    w: Array,  # (l,)
) -> float:
    """The temperature T that suits the labels and the share of rows that are right.

    Parameters
    ----------
    scores : ndarray of shape (l, C)
        Of rows whose labels had no part in them; rows that are not finite, of which
        nothing is known without their labels, do not count, nor do rows that are the
        only ones of their class. Where no row is left, T is 1.
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
    # The share of right rows, with the same doubt.
    own = scores.argmax(axis=1)
    share = float(np.average(target[np.arange(len(codes)), own], weights=w))
    matched = len(codes) ** 2 / MATCHED

    def loss(log_temperature: float) -> float:
        log_p = log_softmax(np.exp(log_temperature) * scores, axis=1)
        m = float(np.average(np.exp(log_p.max(axis=1)), weights=w))
        of_share = share * np.log(m) + (1 - share) * np.log(max(1 - m, 1e-300))
        return -float(np.einsum("i,ic,ic->", w, target, log_p)) - matched * of_share

    best = minimize_scalar(loss, bounds=LOG_TEMPERATURES, method="bounded")
    return float(np.exp(best.x))
