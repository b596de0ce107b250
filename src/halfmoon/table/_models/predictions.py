"""The predictions of a table model."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfmoon._rows import Array

__all__ = [
    "Prediction",
    "RowPrediction",
    "class_prediction",
    "joined",
    "sureness",
]


class RowPrediction(NamedTuple):
    """The prediction for one row."""

    value: Any
    second: Any  # the second most likely class, or None
    confidence: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Prediction:
    """Predictions for b rows."""

    values: list[Any]  # classes, or numbers
    confidence: Array | None = None  # (b,), probabilities of the predicted classes
    low: Array | None = None  # (b,), lower ends of the intervals of numbers
    high: Array | None = None  # (b,), upper ends
    second: list[Any] | None = None  # the second most likely classes

    @property
    def doubt(self) -> Array:
        """How unsure each prediction is: 1 - confidence, or the interval's width."""
        if self.confidence is not None:
            return 1.0 - np.asarray(self.confidence, dtype=np.float64)
        return np.asarray(self.high) - np.asarray(self.low)

    def at(self, i: int) -> RowPrediction:
        """Return the prediction for row i, in values of Python."""
        value, second = self.values[i], self.second[i] if self.second else None
        return RowPrediction(value, second, *sureness(self, i))


def sureness(predicted: Any, i: int) -> tuple[Any, Any, Any]:
    """Return confidence, low and high of row i; None for those that do not exist."""
    columns = (getattr(predicted, name, None) for name in ("confidence", "low", "high"))
    confidence, low, high = (None if x is None else float(x[i]) for x in columns)
    return confidence, low, high


def joined(parts: list[Prediction]) -> Prediction:
    """Join the predictions for consecutive rows."""
    if len(parts) == 1:
        return parts[0]

    def all_of(name: str) -> Any:
        values = [getattr(part, name) for part in parts]
        if values[0] is None:
            return None
        if isinstance(values[0], list):
            return list(chain.from_iterable(values))
        return np.concatenate(values)

    return Prediction(**{name: all_of(name) for name in vars(parts[0])})


def class_prediction(classes: NDArray[Any], p: Array) -> Prediction:
    """Return the most probable classes by probabilities p, shape (b, C)."""
    best, each = p.argmax(axis=1), np.arange(len(p))
    confidence = p[each, best]
    others = p.copy()
    others[each, best] = -1.0
    second = classes[others.argmax(axis=1)].tolist()
    return Prediction(classes[best].tolist(), confidence, second=second)
