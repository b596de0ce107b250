"""What looking at unlabeled rows gained, in the units of the headline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.stats import t

from halfmoon.rows import Array

__all__ = ["Gain", "gain_of_classes", "gain_of_numbers"]

LEVEL = 0.95


@dataclass(frozen=True)
class Gain:
    """Leave-one-out predictions with and without what unlabeled rows taught.

    Attributes
    ----------
    kind : {"classes", "numbers"}
    rows : int
        Unlabeled rows that were looked at.
    labels : int
        Hidden in turn; labels that are the only ones of their class do not count.
    with_rows, without : float
        Labels recovered, or the mean absolute error.
    difference, low, high : float
        Of the share of labels recovered, or of the mean absolute error: with minus
        without, and the interval that holds it with 95 %. NaN where it is not known.
    """

    kind: Literal["classes", "numbers"]
    rows: int
    labels: int
    with_rows: float
    without: float
    difference: float
    low: float
    high: float

    @property
    def better(self) -> bool:
        """The predictions that look at unlabeled rows are better."""
        return self.difference > 0 if self.kind == "classes" else self.difference < 0

    @property
    def same(self) -> bool:
        """No answer changes, or the errors differ by less than they are rounded to."""
        if self.kind == "classes":
            return self.with_rows == self.without
        return f"{self.with_rows:.2g}" == f"{self.without:.2g}"

    @property
    def chance(self) -> bool:
        """The interval holds 0: the difference could be chance."""
        return not (self.low > 0 or self.high < 0)


def gain_of_classes(
    given: Sequence[str], with_rows: Sequence[str], without: Sequence[str], rows: int
) -> Gain:
    """Of classes predicted without their own labels, by two answers.

    Examples
    --------
    >>> gain = gain_of_classes("aabb", "aabb", "abbb", rows=10)
    >>> gain.with_rows, gain.without, gain.difference, gain.chance
    (4, 3, 0.25, True)
    """
    labels = Counter(given)
    right = np.array(
        [
            (one == first, one == second)
            for one, first, second in zip(given, with_rows, without, strict=True)
            if labels[one] > 1
        ],
        dtype=float,
    ).reshape(-1, 2)
    by_one, by_other = (int(n) for n in right.sum(axis=0))
    return Gain("classes", rows, len(right), by_one, by_other, *_paired(right))


def gain_of_numbers(given: Array, with_rows: Array, without: Array, rows: int) -> Gain:
    """Of numbers predicted without their own labels, by two answers."""
    size = np.abs(np.column_stack([with_rows, without]) - np.asarray(given)[:, None])
    size = size[np.isfinite(size).all(axis=1)]
    by_one, by_other = size.mean(axis=0) if len(size) else (np.nan, np.nan)
    errors = float(by_one), float(by_other)
    return Gain("numbers", rows, len(size), *errors, *_paired(size))


def _paired(values: Array) -> tuple[float, float, float]:
    """Mean difference of two columns, and the ends of its interval."""
    n = len(values)
    if n < 2:
        return float("nan"), float("nan"), float("nan")
    differences = values[:, 0] - values[:, 1]
    mean = float(differences.mean())
    half = t.ppf((1 + LEVEL) / 2, n - 1) * differences.std(ddof=1) / np.sqrt(n)
    return mean, mean - float(half), mean + float(half)
