"""Predictions and labels as numbers on one scale.

A class is its number among the sorted classes. For two classes, the prediction is the
probability of the second.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from halfmoon._labels import label_array, labeled_rows
from halfmoon._rows import Array

__all__ = ["label_values", "model_values"]


def model_values(model: Any, X: Any) -> tuple[Array, float | None]:
    """Return the predictions for rows, and the border between two classes."""
    if not is_classifier(model):
        values = np.asarray(model.predict(X), dtype=np.float64)
        if values.ndim == 2 and values.shape[1] > 1:
            raise ValueError(
                f"The model predicts {values.shape[1]} targets, but a surface shows "
                f"one. Fit a model to one target."
            )
        return values.ravel(), None
    if len(model.classes_) == 2:
        if hasattr(model, "predict_proba"):
            return np.asarray(model.predict_proba(X))[:, 1], 0.5
        if hasattr(model, "decision_function"):
            return np.asarray(model.decision_function(X)), 0.0
    return _codes(model.classes_, model.predict(X)), None


def label_values(model: Any, y: Any, n: int, unlabeled: Any = None) -> Array:
    """Return the targets or class numbers of n rows; NaN for unlabeled rows."""
    values = np.full(n, np.nan)
    if y is None:
        return values
    labeled, labels = labeled_rows(y, unlabeled), label_array(y)
    if len(labels) != n:
        raise ValueError(
            f"y has {len(labels)} labels and X has {n} rows; one label, or a missing "
            f"value, is needed for each row."
        )
    if not is_classifier(model):
        values[labeled] = labels[labeled].astype(np.float64)
        return values
    known, classes = labels[labeled].tolist(), model.classes_.tolist()
    unknown = [value for value in known if value not in classes]
    if unknown:
        raise ValueError(
            f"y has the label {unknown[0]!r}, which is not a class of the model; its "
            f"classes are {classes!r}."
        )
    values[labeled] = [classes.index(value) for value in known]
    return values


def _codes(classes: NDArray[Any], labels: Any) -> Array:
    number = {value: float(code) for code, value in enumerate(classes.tolist())}
    return np.array([number[value] for value in np.asarray(labels).tolist()])
