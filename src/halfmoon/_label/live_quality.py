r"""How well the model does, and what more labels would gain.

The accuracy comes from rows drawn at random, each predicted by a model that did not
know the answer, and labeled by a person who saw no proposal. Other rows do not count:
chosen rows are harder than most, and answers next to a proposal agree with it more
often. Predictions of models with fewer than half of today's labels do not count either,
because the model is better now.

For classes the interval is Wilson's. For numbers, the mean absolute error e has the
interval :math:`e \exp(\pm z \sqrt{v / n})` with v the squared coefficient of variation
of the errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from types import NoneType
from typing import Any

import numpy as np
from scipy.stats import norm

from halfmoon._label.answers import Answer
from halfmoon._report.number_format import PERCENT, count, format_aligned, percent
from halfmoon._report.quality_scores import LEVEL, wilson_interval
from halfmoon.queries import forecast_learning_curve
from halfmoon.table._models.table_model import TableModel

__all__ = [
    "MORE_LABELS",
    "LiveAccuracy",
    "MoreLabelsGain",
    "expected_gain",
    "live_accuracy",
]

MIN_RANDOM_ROWS = 5  # random rows, for an accuracy
MIN_LABELS_SHARE = 0.5  # share of today's labels that a model must have had
MORE_LABELS = 50  # that the forecast is for
SMALL_GAIN = 0.01  # share of the rows, or of the error


@dataclass(frozen=True)
class LiveAccuracy:
    """A share of right rows, or a mean absolute error, with its interval."""

    value: float
    low: float
    high: float
    n: int
    is_share: bool  # whether the labels are classes

    @property
    def sentence(self) -> str:
        """The accuracy in words.

        Examples
        --------
        >>> LiveAccuracy(0.9, 0.7, 0.97, 20, True).sentence.replace("\u00a0", " ")
        'About 90 % right (70–97 %), from 20 random rows.'
        """
        rows = count(self.n, "random row")
        if self.is_share:
            value, low, high = map(percent, (self.value, self.low, self.high))
            low = low.removesuffix(PERCENT)
            return f"About {value} right ({low}–{high}), from {rows}."
        value, low, high = format_aligned(self.value, self.low, self.high)
        return f"Off by {value} on average ({low}–{high}), from {rows}."


def live_accuracy(
    answers: Iterable[Answer], labels: int, is_share: bool
) -> LiveAccuracy | None:
    """Measure the accuracy on random rows; None if there are too few.

    `labels` is the number of labels that the latest model was fitted to. The first
    answer for each row counts.
    """
    rows: dict[object, Answer] = {}
    for x in answers:
        is_random = x.why == "random" and not x.shown
        kinds = {type(x.value), type(x.predicted)}
        is_known = NoneType not in kinds and (is_share or str not in kinds)
        if is_random and is_known and x.labels >= MIN_LABELS_SHARE * labels:
            rows.setdefault(x.place, x)
    n = len(rows)
    if n < MIN_RANDOM_ROWS:
        return None
    if is_share:
        right = sum(str(x.value) == str(x.predicted) for x in rows.values())
        return LiveAccuracy(right / n, *wilson_interval(right, n), n, True)
    pairs: Any = [(x.value, x.predicted) for x in rows.values()]
    errors = np.abs(np.diff(np.array(pairs, dtype=float)))
    mean = float(errors.mean())
    if mean == 0.0:
        return LiveAccuracy(0.0, 0.0, 0.0, n, False)
    variation = float(errors.var(ddof=1)) / mean**2
    half = norm.ppf((1 + LEVEL) / 2) * np.sqrt(variation / n)
    low, high = mean * np.exp(-half), mean * np.exp(half)
    return LiveAccuracy(mean, float(low), float(high), n, False)


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
        '50 more labels: about 2 points more accuracy.'
        >>> MoreLabelsGain(0.002, 0.004, False).sentence.replace("\u00a0", " ")
        '50 more labels: an error smaller by less than 1 %.'
        """
        about = "less than" if self.gain < SMALL_GAIN else "about"
        gain = max(self.gain, SMALL_GAIN)
        if self.is_share:
            more = f"{about} {count(round(100 * gain), 'point')} more accuracy"
        else:
            more = f"an error smaller by {about} {percent(gain)}"
        return f"{MORE_LABELS} more labels: {more}."

    @property
    def is_small(self) -> bool:
        """Whether more labels are not worth the effort, even at best."""
        return self.high < SMALL_GAIN


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
