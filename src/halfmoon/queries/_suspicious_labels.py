r"""Labels that look wrong, by leave-one-out predictions.

Let a row have class k with leave-one-out probability p_k, and let a wrong label be of
class c with probability a_c. By Bayes' rule, the odds that a given label c is wrong are
proportional to :math:`a_c (1 - p_c) / p_c`. Errors at random have equal a_c. Errors
towards a likely class have an a_c that grows with the number :math:`n_c` of labels of
class c. Labels rarely tell which kind of errors they have, so a_c is taken between
both, as the fourth root of :math:`n_c`. With C classes and l labels,

.. math:: score = \frac{z}{1 + z}, \quad
          z = \Bigl(\frac{C n_c}{l}\Bigr)^{1/4}
              \frac{1 - p_c}{p_c \sqrt{C - 1}}                                      (1)

The root of C - 1 makes a score of, say, 0.8 as rare with many classes as with two. With
two equal classes the score is the probability of the other one. The suggested class is
the one of largest :math:`p_k / \sqrt{n_k}`: with few labels, p says little more than
how common each class is. If it is the given class, the score is at most 1/2.

Wrong labels make their neighbors look wrong too. So p comes from the other labels as
they are likely to be: if a label is wrong with probability :math:`\rho`, and then any
other of C classes, its row has class k with probability

.. math:: \pi_k \propto \frac{p_k}{\sqrt{n_k}} (1 - \rho)
          \text{ if } k \text{ is given, else }
          \frac{p_k}{\sqrt{n_k}} \frac{\rho}{C - 1}                                 (2)

Each row is predicted again from all others, with these probabilities as their targets
instead of the given classes, and so on a few times. A fit by ridge is linear in its
targets t. With its smoother H, and h the diagonal of H, the leave-one-out values are
:math:`(H t - h t) / (1 - h)`: exact, without a refit.

For a number y, with g the leave-one-out prediction and [low, high] its interval at a
level of 90 %,

.. math:: score = \frac{|r|}{1 + |r|}, \quad
          r = \frac{y - g}{high - g} \text{ or } \frac{y - g}{g - low}              (3)

on the side of y, which is above 1/2 outside of the interval. The score is 0 for the
only label of a class, and for a row that the other labels do not determine.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from halfmoon._estimators.base import Estimator
from halfmoon._estimators.classification import (
    fitted_temperature,
    probabilities,
    scores_by_class,
)
from halfmoon._estimators.fit_problem import HeldOut
from halfmoon._estimators.intervals import Intervals, interval_ratios
from halfmoon._rows import Array, Indices
from halfmoon._selection.average import Average
from halfmoon.problem import Fit
from halfmoon.queries._pool import last_step

__all__ = ["suspicious_labels"]

LEVEL = 0.9
WRONG_RATE = 0.1  # rho
COMMON_POWER = 0.25  # of n_c, between errors at random and as common as classes
ROUNDS = 5  # of corrections; more change nothing
UNDETERMINED = 1e-8  # 1 - h of a row that the other labels do not determine
MAX_CORRECTED = 1_000  # labels; H has the square of that many numbers


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
        ``suggested``, its leave-one-out prediction, where rare classes count more than
        in the predictions of the estimator; and ``score``, from 0 to 1: above 1/2 only
        if another class is suggested, or if a number is outside of its 90 % interval.
        With landmarks and more than 2,000 labels, a random 2,000 of them. With more
        than 1,000 labels, the other labels are taken as given.

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


def _classes(estimator: Any) -> tuple[Indices, NDArray[Any], NDArray[Any], Array]:
    """Return places among the labeled rows, given and suggested classes, scores."""
    held, every, classes = estimator._held_out(), estimator._codes, estimator.classes_
    codes, counts = every[held.rows], np.bincount(every, minlength=len(classes))
    known = np.isfinite(held.values).all(axis=1) & (counts > 1)[codes]
    suggested, scores = codes.copy(), np.zeros(len(codes))
    if known.any():
        p = _corrected(estimator, held, codes, _roots(counts))[known]
        suggested[known] = (p / _roots(counts)).argmax(axis=1)
        scores[known] = _doubts(p, codes[known], counts)
        agrees = suggested == codes
        scores[agrees] = np.minimum(scores[agrees], 0.5)
    places = np.arange(len(every))[held.rows]
    return places, classes[codes], classes[suggested], scores


def _roots(counts: NDArray[np.intp]) -> Array:
    """Return the roots of the numbers of labels of each class."""
    least = np.maximum(1, counts)  # a class may be in candidate sets only
    return np.asarray(np.sqrt(least))


def _doubts(p: Array, codes: NDArray[np.intp], counts: NDArray[np.intp]) -> Array:
    """Return the score (1) of given classes."""
    rows, C = np.arange(len(codes)), len(counts)
    own, others = p[rows, codes], p.copy()
    others[rows, codes] = 0.0
    commonness = C * counts[codes] / counts.sum()
    wrong = commonness**COMMON_POWER * others.sum(axis=1) / np.sqrt(C - 1)
    return np.asarray(wrong / (own + wrong))


def _corrected(
    estimator: Any,
    held: HeldOut,
    codes: NDArray[np.intp],
    roots: Array,  # (C,)
) -> Array:
    """Return the probabilities p of (1), shape (m, C); arbitrary if unknown."""
    known = np.isfinite(held.values).all(axis=1, keepdims=True)
    before = scores_by_class(np.where(known, held.values, 0.0))
    p = probabilities(before, estimator.temperature_)
    others = _weights_of_others(estimator, len(codes))
    if others is None:
        return p
    C = p.shape[1]
    given = np.eye(C)[codes]
    likelihood = np.where(given > 0, 1.0 - WRONG_RATE, WRONG_RATE / (C - 1)) / roots
    unit = 2.0 if C == 2 else 1.0  # the targets are -1 and 1, or 0 and 1
    for _ in range(ROUNDS):
        change = np.where(known, unit * (_shares(p * likelihood) - given), 0.0)
        scores = before + others @ change
        temperature = fitted_temperature(np.where(known, scores, np.nan), codes, held.w)
        p = probabilities(scores, temperature)
    return p


def _shares(p: Array) -> Array:
    """Divide each row by its sum."""
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def _weights_of_others(estimator: Any, m: int) -> Array | None:  # (m, m)
    """Return the weights of labels in the leave-one-out values of the others.

    None if predictions are not linear in the labels, or if there are too many.
    """
    fit = estimator.solution_
    if m != len(estimator._codes) or m > MAX_CORRECTED:
        return None
    if isinstance(fit, Average):
        H = fit.smoother_matrix(fit.X_l)
    elif isinstance(fit, Fit) and fit.by_ridge:
        H = fit.smoother_matrix(fit.posed.X_l)
    else:
        return None
    h = np.diagonal(H).copy()
    np.fill_diagonal(H, 0.0)
    left = np.where(1.0 - h > UNDETERMINED, 1.0 - h, np.inf)
    return np.asarray(H / left[:, None])


def _numbers(estimator: Any) -> tuple[Indices, NDArray[Any], NDArray[Any], Array]:
    """Do the same as `_classes` for numbers."""
    held = estimator._held_out_outputs()
    if held.y.shape[1] > 1:
        raise ValueError(
            f"There are {held.y.shape[1]} targets, but suspicious_labels works for "
            f"one. Fit each target in a model of its own."
        )
    y, g = held.y[:, 0], held.values[:, 0]
    ends = Intervals.of(y, g, LEVEL)(g)
    if hasattr(estimator, "_given_targets"):  # the search moves outlying labels
        y = estimator._given_targets()[held.rows, 0]
    ratios = np.abs(interval_ratios(y, g, *ends))
    scores = np.where(np.isfinite(ratios), ratios / (1.0 + ratios), 0.0)
    places = np.arange(estimator.n_labeled_)[held.rows]
    return places, y, np.where(np.isfinite(g), g, y), scores
