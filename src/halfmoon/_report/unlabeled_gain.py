"""What unlabeled rows changed, in the units of the headline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from scipy.stats import binomtest, t

from halfmoon._number_format import format_aligned
from halfmoon._report.quality_scores import LEVEL
from halfmoon._rows import Array
from halfmoon._selection.comparison import SUMMARIES, plain_name

__all__ = [
    "Helped",
    "ModelFamily",
    "UnlabeledGain",
    "families",
    "gain_of_classes",
    "gain_of_numbers",
    "plain_name",
    "tried_unlabeled",
]

MAX_CANDIDATES = 100  # the heaviest, which the report adds up by family
MAX_FAMILIES = 8


@dataclass(frozen=True)
class UnlabeledGain:
    """Leave-one-out predictions with and without the use of unlabeled rows.

    `difference` is with minus without: of the share of labels recovered, or of the mean
    absolute error. It is NaN if unknown.
    """

    kind: Literal["classes", "numbers"]
    rows: int  # unlabeled ones
    labels: int  # hidden in turn, except those that are the only ones of their class
    with_rows: float  # labels recovered, or the mean absolute error
    without: float
    difference: float
    low: float  # ends of the 95 % interval of the difference
    high: float

    @property
    def better(self) -> bool:
        """Whether predictions are better with unlabeled rows."""
        return self.difference > 0 if self.kind == "classes" else self.difference < 0

    @property
    def same(self) -> bool:
        """Whether the figures agree as far as they are printed."""
        if self.kind == "classes":
            return self.with_rows == self.without
        both = self.with_rows, self.without
        printed = format_aligned(*both)
        return printed[0] == printed[1] or f"{both[0]:.2g}" == f"{both[1]:.2g}"

    @property
    def chance(self) -> bool:
        """Whether the interval holds 0, so that the difference could be chance."""
        return not (self.low > 0 or self.high < 0)


def gain_of_classes(
    given: Sequence[str], with_rows: Sequence[str], without: Sequence[str], rows: int
) -> UnlabeledGain:
    """Compare two sequences of leave-one-out predictions of classes.

    Only labels that one sequence predicts right and the other wrong tell them apart.
    The share of these that the first predicts right has an exact interval (Clopper and
    Pearson's), so the interval of the difference holds 0 where a sign test does not
    reject.

    Examples
    --------
    >>> gain = gain_of_classes("aabb", "aabb", "abbb", rows=10)
    >>> gain.with_rows, gain.without, gain.difference, gain.chance
    (4, 3, 0.25, True)
    """
    labels = Counter(given)
    right = np.array(
        [
            (label == one, label == other)
            for label, one, other in zip(given, with_rows, without, strict=True)
            if labels[label] > 1
        ],
        dtype=float,
    ).reshape(-1, 2)
    n, (one, other) = len(right), (int(k) for k in right.sum(axis=0))
    if n < 2:
        return UnlabeledGain("classes", rows, n, one, other, np.nan, np.nan, np.nan)
    ends = [0.0, 0.0]
    differ = int((right[:, 0] != right[:, 1]).sum())
    if differ:
        better = (differ + one - other) // 2
        share = binomtest(better, differ).proportion_ci(LEVEL)
        ends = [(2 * end - 1) * differ / n for end in (share.low, share.high)]
    return UnlabeledGain("classes", rows, n, one, other, (one - other) / n, *ends)


def gain_of_numbers(
    given: Array, with_rows: Array, without: Array, rows: int
) -> UnlabeledGain:
    """Compare two arrays of leave-one-out predictions of numbers."""
    size = np.abs(np.column_stack([with_rows, without]) - np.asarray(given)[:, None])
    size = size[np.isfinite(size).all(axis=1)]
    n = len(size)
    one, other = map(float, size.mean(axis=0) if n else (np.nan, np.nan))
    if n < 2:
        return UnlabeledGain("numbers", rows, n, one, other, np.nan, np.nan, np.nan)
    differences = size[:, 0] - size[:, 1]
    mean = float(differences.mean())
    half = float(t.ppf((1 + LEVEL) / 2, n - 1) * differences.std(ddof=1) / np.sqrt(n))
    return UnlabeledGain("numbers", rows, n, one, other, mean, mean - half, mean + half)


class ModelFamily(NamedTuple):
    """Models of one kind."""

    name: str  # how they learn
    columns: str  # how they use the columns
    unlabeled: bool | None  # whether they use unlabeled rows; None if only some do
    weight: float  # share of the predictions
    models: int


@dataclass(frozen=True)
class Helped:
    """Whether unlabeled rows helped."""

    used_unlabeled: bool  # by the predictions
    gain: UnlabeledGain
    models: tuple[ModelFamily, ...] = ()  # that were averaged
    tried: bool = True  # whether there was time for models that use unlabeled rows

    @classmethod
    def from_comparison(
        cls, comparison: Mapping[str, Any], *, used_unlabeled: bool, gain: UnlabeledGain
    ) -> Self:
        """Read the `comparison_` of a HalfmoonClassifier or HalfmoonRegressor."""
        models, tried = tuple(families(comparison)), tried_unlabeled(comparison)
        return cls(used_unlabeled, gain, models, tried)


def tried_unlabeled(comparison: Mapping[str, Any]) -> bool:
    """Return whether any candidate uses unlabeled rows."""
    candidates = zip(comparison["candidate"], comparison["unlabeled"], strict=True)
    return any(unlabeled for name, unlabeled in candidates if name not in SUMMARIES)


def families(comparison: Mapping[str, Any]) -> list[ModelFamily]:
    """Group candidates, the heaviest first; the last ones become "Other models"."""
    columns = (comparison[name] for name in ("candidate", "unlabeled", "weight"))
    candidates = [
        (float(weight), str(name), bool(unlabeled))
        for name, unlabeled, weight in zip(*columns, strict=True)
        if name not in SUMMARIES and weight > 0
    ]
    candidates.sort(key=lambda each: -each[0])
    groups: dict[tuple[str, str, bool], list[float]] = {}
    for weight, name, unlabeled in candidates[:MAX_CANDIDATES]:
        groups.setdefault((*plain_name(name), unlabeled), []).append(weight)
    rows = [ModelFamily(*key, sum(w), len(w)) for key, w in groups.items()]
    rows.sort(key=lambda row: (-row.weight, row.name, row.columns))
    if len(rows) <= MAX_FAMILIES:
        return rows
    rest = rows[MAX_FAMILIES - 1 :]
    uses = {row.unlabeled for row in rest}
    use = uses.pop() if len(uses) == 1 else None
    total, models = sum(row.weight for row in rest), sum(row.models for row in rest)
    other = ModelFamily("Other models", "", use, total, models)
    return [*rows[: MAX_FAMILIES - 1], other]
