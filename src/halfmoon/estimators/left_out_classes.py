"""Probabilities of a classifier, also of labeled rows without their own labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmoon.estimators.calibration import probabilities
from halfmoon.rows import Array

__all__ = ["chances_of_scores", "classifier_left_out"]


def classifier_left_out(
    classifier: Any,
) -> tuple[NDArray[np.intp], Array, NDArray[np.intp]]:
    """Labeled rows, by their places among these, without their own labels.

    Returns
    -------
    rows : ndarray of shape (m,)
    p : ndarray of shape (m, C)
        Probabilities of the classes.
    codes : ndarray of shape (m,)
        The classes that were given.
    """
    held = classifier._held_out()
    told = np.isfinite(held.values).all(axis=1)
    rows = np.arange(len(classifier.labeled_))[held.rows][told]
    p = chances_of_scores(classifier, held.values[told])
    return rows, p, classifier._codes[rows]


def chances_of_scores(classifier: Any, scores: Array) -> Array:
    """Probabilities of a classifier's scores, of each class or of two as one."""
    if scores.shape[1] == 1:
        scores = np.hstack([-scores, scores])
    return probabilities(scores, classifier.temperature_)
