"""What 50 more labels would gain, forecast from the learning curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from halfmoon._label.live_accuracy import LiveAccuracy
from halfmoon._number_format import count, percent
from halfmoon.queries import forecast_learning_curve
from halfmoon.table._models.table_model import TableModel

__all__ = ["MORE_LABELS", "SMALL_SHARE", "MoreLabelsGain", "expected_gain"]

MORE_LABELS = 50  # that the forecast is for
SMALL_POINTS, SMALL_SHARE = 0.01, 0.02  # gains too small to go on, of accuracy or error


@dataclass(frozen=True)
class MoreLabelsGain:
    """What `MORE_LABELS` labels would gain.

    For classes it is the share of rows that would become right; for numbers, the share
    by which the error would shrink.
    """

    gain: float
    high: float  # upper end of its interval
    is_share: bool  # whether the labels are classes
    error: float = 0.0  # of classes, that the forecast starts from; 0 if unknown

    def measured(self, found: LiveAccuracy | None) -> MoreLabelsGain:
        """Return the same part of the error that random rows show.

        The forecast starts from the error on all labeled rows. Chosen rows are harder
        than most, so that error is too large, and so is the gain.

        Examples
        --------
        >>> half = MoreLabelsGain(0.1, 0.15, True, error=0.2)
        >>> half.measured(LiveAccuracy(0.96, 0.9, 0.98, 50, True)).gain.__round__(3)
        0.02
        """
        if found is None or not self.is_share or not self.error:
            return self
        part, most = (min(x / self.error, 1.0) for x in (self.gain, self.high))
        high = min(self.high, most * (1.0 - found.low))
        return replace(self, gain=min(part * (1.0 - found.value), high), high=high)

    @property
    def sentence(self) -> str:
        """The gain in words.

        Examples
        --------
        >>> MoreLabelsGain(0.021, 0.04, True).sentence
        '50 more labels would gain about 2 points of accuracy.'
        >>> MoreLabelsGain(0.002, 0.004, False).sentence.replace("\u00a0", " ")
        '50 more labels would make the error less than 1 % smaller.'
        """
        about = "less than" if self.gain < 0.01 else "about"
        gain = max(self.gain, 0.01)
        if self.is_share:
            points = count(round(100 * gain), "point")
            return f"{MORE_LABELS} more labels would gain {about} {points} of accuracy."
        smaller = f"{about} {percent(gain)} smaller"
        return f"{MORE_LABELS} more labels would make the error {smaller}."

    def is_small(self, found: LiveAccuracy) -> bool:
        """Whether more labels gain so little that nobody could see it."""
        half = (found.high - found.low) / 2
        if self.is_share:
            return self.gain < SMALL_POINTS and self.high < half
        return self.gain < SMALL_SHARE and self.high * found.value <= half


def expected_gain(
    model: TableModel, X: Any, labels: Sequence[Any]
) -> MoreLabelsGain | None:
    """Forecast the gain of more labels; None if that is not possible.

    `X` are the rows of the model, and `labels` is None for unlabeled ones.
    """
    is_share = model.kind == "classes"
    y: Any = np.empty(len(labels), dtype=object)
    y[:] = labels
    if not is_share:
        y = np.array([np.nan if label is None else label for label in labels])
    try:
        found = forecast_learning_curve(model.estimator_, X, y, MORE_LABELS)
    except (ValueError, MemoryError):  # too few labels
        return None
    gain, high = max(float(found.gain[0]), 0.0), max(float(found.gain_high[0]), 0.0)
    if is_share:
        return MoreLabelsGain(gain, high, True, float(found.error))
    error = max(float(found.error), np.finfo(float).tiny)
    return MoreLabelsGain(gain / error, high / error, False)
