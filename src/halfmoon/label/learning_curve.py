"""What more labels would gain: the forecast of the learning curve, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfmoon.queries import forecast_learning_curve
from halfmoon.report.wording import percent
from halfmoon.table.model import TableModel

__all__ = ["MORE", "Gain", "expected_gain"]

MORE = 50  # labels that the forecast is for
LITTLE = 0.01  # share of the rows, or of the error: what is less is not worth them


@dataclass(frozen=True)
class Gain:
    """What `MORE` labels would gain.

    Attributes
    ----------
    gain, high : float
        Of classes: the share of rows that would become right, and the upper end of its
        interval. Of numbers: the share by which the error would become smaller.
    is_share : bool
        The labels are classes.
    """

    gain: float
    high: float
    is_share: bool

    @property
    def sentence(self) -> str:
        """For a person to read.

        Examples
        --------
        >>> Gain(0.021, 0.04, True).sentence
        '50 more labels: about 2 points.'
        >>> Gain(0.002, 0.004, False).sentence.replace("\u00a0", " ")
        '50 more labels: less than 1 % off the error.'
        """
        little = self.gain < LITTLE
        if self.is_share:
            points = round(100 * self.gain)
            what = "less than 1 point" if little else f"about {points} point"
            return f"{MORE} more labels: {what}{'s' * (not little and points != 1)}."
        what = "less than" if little else "about"
        share = percent(max(self.gain, LITTLE))
        return f"{MORE} more labels: {what} {share} off the error."

    @property
    def is_little(self) -> bool:
        """Whether it is not worth the labels, at its best."""
        return self.high < LITTLE


def expected_gain(model: TableModel, X: Any, labels: Sequence[Any]) -> Gain | None:
    """The gain of more labels; None where it cannot be told.

    Parameters
    ----------
    model : TableModel
        Fitted.
    X : array of shape (n, d)
        Its rows.
    labels : sequence
        None where there is none.
    """
    is_share = model.kind == "classes"
    y: Any = np.empty(len(labels), dtype=object)
    y[:] = labels
    if not is_share:
        y = np.array([np.nan if label is None else label for label in labels])
    try:
        found = forecast_learning_curve(model.estimator_, X, y, MORE)
    except (ValueError, MemoryError):  # too few labels
        return None
    gain, high = float(found.gain[0]), float(found.gain_high[0])
    if not is_share:
        scale = max(found.error, np.finfo(float).tiny)
        gain, high = gain / scale, high / scale
    return Gain(max(gain, 0.0), max(high, 0.0), is_share)
