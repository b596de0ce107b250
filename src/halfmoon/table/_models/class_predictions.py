"""Predictions from the probabilities of classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmoon._report.findings import LooClasses
from halfmoon._rows import Array
from halfmoon.table._models.predictions import Prediction

__all__ = ["class_prediction", "loo_class_prediction"]


def class_prediction(classes: NDArray[Any], p: Array) -> Prediction:
    """Return the most probable classes by probabilities p, shape (b, C)."""
    best, each = p.argmax(axis=1), np.arange(len(p))
    confidence = p[each, best]
    others = p.copy()
    others[each, best] = -1.0
    second = classes[others.argmax(axis=1)].tolist()
    return Prediction(classes[best].tolist(), confidence, second=second)


def loo_class_prediction(
    classes: NDArray[Any],
    p: Array,  # (m, C)
    rows: NDArray[np.intp],  # (m,)
    codes: NDArray[np.intp],  # (m,), of the given labels
) -> LooClasses:
    """Return leave-one-out predictions of classes by their probabilities."""
    best, each = p.argmax(axis=1), np.arange(len(p))
    given, predicted = classes[codes].tolist(), classes[best].tolist()
    return LooClasses(given, predicted, p[each, best], p[each, codes], rows)
