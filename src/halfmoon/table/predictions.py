"""What a model of a table says of rows: of new ones, and of labeled ones left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmoon.rows import Array

__all__ = ["LeftOut", "Prediction", "joined"]


@dataclass(frozen=True)
class Prediction:
    """What a model says of some rows.

    Attributes
    ----------
    values : list
        Classes, or numbers.
    confidence : ndarray of shape (b,) or None
        Of classes: how likely the class is.
    low, high : ndarrays of shape (b,) or None
        Of numbers: the ends of their intervals.
    second : list or None
        Of classes: the next most likely.
    """

    values: list[Any]
    confidence: Array | None = None
    low: Array | None = None
    high: Array | None = None
    second: list[Any] | None = None


@dataclass(frozen=True)
class LeftOut:
    """Labeled rows as predicted without their own labels.

    Attributes
    ----------
    rows : ndarray of shape (m,)
        Their numbers among the rows given to `fit`.
    given, predicted : lists
    confidence : ndarray of shape (m,) or None
        Of classes: the probability of the predicted one.
    given_probability : ndarray of shape (m,) or None
        Of classes: the probability of the given one.
    low, high : ndarrays of shape (m,) or None
        Of numbers: the ends of their intervals.
    """

    rows: NDArray[np.intp]
    given: list[Any]
    predicted: list[Any]
    confidence: Array | None = None
    given_probability: Array | None = None
    low: Array | None = None
    high: Array | None = None


def joined(parts: list[Prediction]) -> Prediction:
    """Predictions of some rows after another, as one."""
    if len(parts) == 1:
        return parts[0]

    def all_of(name: str) -> Any:
        values = [getattr(part, name) for part in parts]
        if values[0] is None:
            return None
        if isinstance(values[0], list):
            return [value for some in values for value in some]
        return np.concatenate(values)

    names = ("values", "confidence", "low", "high", "second")
    return Prediction(**{name: all_of(name) for name in names})
