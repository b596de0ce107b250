"""What a model says of rows, and what their labels are, as numbers on one scale.

A class is its number among the sorted classes; of two classes, what the model says is
the probability of the second.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from halfmoon.labels import label_array, labeled_rows
from halfmoon.rows import Array

__all__ = ["label_values", "model_values"]


def model_values(model: Any, X: Any) -> tuple[Array, float | None]:
    """What a model says of rows, and where the border between two classes lies."""
    if not is_classifier(model):
        values = np.asarray(model.predict(X), dtype=np.float64)
        if values.ndim == 2 and values.shape[1] > 1:
            raise ValueError(
                f"The model predicts {values.shape[1]} targets, and a surface shows "
                f"one. Fit a model of one target."
            )
        return values.ravel(), None
    if len(model.classes_) == 2:
        if hasattr(model, "predict_proba"):
            return np.asarray(model.predict_proba(X))[:, 1], 0.5
        if hasattr(model, "decision_function"):
            return np.asarray(model.decision_function(X)), 0.0
    return _codes(model.classes_, model.predict(X)), None


def label_values(model: Any, y: Any, n: int, unlabeled: Any = None) -> Array:
    """Labels of n rows: targets, or numbers of classes; NaN where there is none."""
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
    strange = [value for value in known if value not in classes]
    if strange:
        raise ValueError(
            f"y has the label {strange[0]!r}, which the model has not been fitted "
            f"with; its classes are {classes!r}."
        )
    values[labeled] = [classes.index(value) for value in known]
    return values


def _codes(classes: NDArray[Any], labels: Any) -> Array:
    number = {value: float(code) for code, value in enumerate(classes.tolist())}
    return np.array([number[value] for value in np.asarray(labels).tolist()])
