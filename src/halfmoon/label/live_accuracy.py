r"""How well the model does, from rows that were drawn at random.

Each of them was predicted by a model that did not know its answer, and the person saw
no proposal. Rows that were picked because they tell much are harder than others, and
answers beside a proposal agree with it more often: neither counts. Nor do predictions
of models that had fewer than half of today's labels: the model is better now.

For classes the interval is Wilson's. For numbers the mean absolute error e has the
interval :math:`e \exp(\pm z \sqrt{v / n})` with v the squared variation of the errors.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from halfmoon.label.answers import Answer
from halfmoon.report.scores import LEVEL, wilson_interval
from halfmoon.report.wording import alike, count, percent

__all__ = ["LiveAccuracy", "live_accuracy"]

FEWEST = 5  # random rows, below which nothing is said
HALF = 0.5  # of today's labels that a model must have had


@dataclass(frozen=True)
class LiveAccuracy:
    """A share of right rows, or a mean absolute error, with its interval."""

    value: float
    low: float
    high: float
    n: int
    is_share: bool

    @property
    def sentence(self) -> str:
        """For a person to read.

        Examples
        --------
        >>> LiveAccuracy(0.9, 0.7, 0.97, 20, True).sentence.replace("\u00a0", " ")
        'About 90 % right (70–97 %), from 20 random rows.'
        """
        rows = count(self.n, "random row")
        if self.is_share:
            low = percent(self.low).removesuffix("\u00a0%")
            return (
                f"About {percent(self.value)} right ({low}–{percent(self.high)}), from "
                f"{rows}."
            )
        value, low, high = alike(self.value, self.low, self.high)
        return f"Off by {value} on average ({low}–{high}), from {rows}."


def live_accuracy(
    answers: Iterable[Answer], labels: int, is_share: bool
) -> LiveAccuracy | None:
    """What random rows say; None if they are too few.

    Parameters
    ----------
    answers : iterable of Answer
        All that count; the first one for each row is taken.
    labels : int
        That the model has learned from by now.
    is_share : bool
        The labels are classes.
    """
    rows: dict[object, Answer] = {}
    for answer in answers:
        told = answer.value is not None and answer.predicted is not None
        fair = answer.why == "random" and not answer.shown
        if told and fair and answer.labels >= HALF * labels:
            rows.setdefault(answer.place, answer)
    n = len(rows)
    if n < FEWEST:
        return None
    if is_share:
        right = sum(str(x.value) == str(x.predicted) for x in rows.values())
        return LiveAccuracy(right / n, *wilson_interval(right, n), n, True)
    errors = np.array([abs(float(x.value) - float(x.predicted)) for x in rows.values()])  # type: ignore[arg-type]
    mean = float(errors.mean())
    if mean == 0.0:
        return LiveAccuracy(0.0, 0.0, 0.0, n, False)
    variation = float(errors.var(ddof=1)) / mean**2
    half = float(norm.ppf((1 + LEVEL) / 2)) * np.sqrt(variation / n)
    low, high = mean * np.exp(-half), mean * np.exp(half)
    return LiveAccuracy(mean, float(low), float(high), n, False)
