"""Class probabilities from the scores of a classifier, and by leave-one-out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmoon._estimators.calibration import probabilities
from halfmoon._rows import Array

__all__ = ["loo_class_probabilities", "probabilities_of_scores", "scores_by_class"]


def loo_class_probabilities(
    classifier: Any,
) -> tuple[NDArray[np.intp], Array, NDArray[np.intp]]:
    """Return the held-out class probabilities of the labeled rows that have some.

    Returns
    -------
    rows : ndarray of shape (m,)
        Positions among the labeled rows.
    p : ndarray of shape (m, C)
    codes : ndarray of shape (m,)
        The given classes.
    """
    held = classifier._held_out()
    known = np.isfinite(held.values).all(axis=1)
    rows = np.arange(len(classifier.labeled_))[held.rows][known]
    p = probabilities_of_scores(classifier, held.values[known])
    return rows, p, classifier._codes[rows]


def probabilities_of_scores(classifier: Any, scores: Array) -> Array:
    """Return the class probabilities of scores, shape (b, C)."""
    return probabilities(scores_by_class(scores), classifier.temperature_)


def scores_by_class(scores: Array) -> Array:
    """Return scores (b, C), also from (b,) or (b, 1) for the second of two classes."""
    scores = scores[:, None] if scores.ndim == 1 else scores  # there may be no rows
    return np.hstack([-scores, scores]) if scores.shape[1] == 1 else scores
