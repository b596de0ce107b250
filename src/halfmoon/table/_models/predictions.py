"""The predictions of a table model, also of the labels that it learned from.

Each label is predicted from the others. If labels lie in clumps, whole clumps may be
hidden instead (`_labels/unrepresentative_labels.py`).

**The range that predicted numbers stay in.** If no label is below 0, predictions and
their intervals are not either: prices, counts and areas have no negative values. Of
6,113 columns of numbers in public tables, 2.3 % of those with five labels of at least
0, drawn at random, had negative numbers among 1 % or more of the other rows, and 0.3 %
of all other rows were negative. So five labels are enough, also if some are 0. Labels
do not show an upper end as clearly: of columns whose 20 labels are between 0 and 100
and reach 95, a quarter go beyond 100. So percentages end at 100 only if they are
written with a percent sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfmoon._estimators.classification import probabilities_of_scores
from halfmoon._report.findings import LooClasses, LooNumbers
from halfmoon._rows import Array, Indices
from halfmoon.table._cells.number_style import NumberStyle

__all__ = [
    "Prediction",
    "RowPrediction",
    "Unsure",
    "class_prediction",
    "held_out_values",
    "joined_predictions",
    "label_range",
    "loo_class_prediction",
    "loo_prediction",
    "loo_predictions",
]

ENOUGH_LABELS = 5  # none below 0, after which no prediction is


class RowPrediction(NamedTuple):
    """The prediction for one row."""

    value: Any
    second: Any  # the second most likely class, or None
    confidence: float | None
    low: float | None
    high: float | None


class Unsure(NamedTuple):
    """A row and its prediction."""

    number: int  # in the table, from 0
    cells: dict[str, str]
    prediction: RowPrediction


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
        return RowPrediction(value, second, *_sureness(self, i))


def loo_prediction(loo: LooClasses | LooNumbers, i: int) -> RowPrediction:
    """Return the leave-one-out prediction of labeled row i."""
    return RowPrediction(loo.predicted[i], None, *_sureness(loo, i))


def _sureness(predicted: Any, i: int) -> tuple[Any, ...]:
    """Return confidence, low and high of row i; None for those that do not exist."""
    columns = (getattr(predicted, name, None) for name in ("confidence", "low", "high"))
    return tuple(None if x is None else float(x[i]) for x in columns)


def joined_predictions(parts: list[Prediction]) -> Prediction:
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


def held_out_values(
    model: Any, estimator: Any, by_clump: bool = False
) -> tuple[Indices, Array]:
    """Return positions among the labeled rows, (m,), and scores or numbers, (m, t).

    The estimator is that of the model, or another one that was fitted to its rows. Rows
    without a finite prediction are left out.
    """
    if by_clump and model.hides_clumps:
        places, values = _without_clumps(model, estimator)
    else:
        held = estimator._held_out()
        places, values = np.arange(len(estimator.labeled_))[held.rows], held.values
    known = np.isfinite(values).all(axis=1)
    return places[known], values[known]


def _without_clumps(model: Any, estimator: Any) -> tuple[Indices, Array]:
    clumps = model.clumps_
    sets = [np.flatnonzero(clumps == clump) for clump in range(int(clumps.max()) + 1)]
    places = np.concatenate(sets)
    values = np.concatenate(estimator.solution_.leave_sets_out(sets))
    if model.kind == "numbers":
        return places, values
    # A class that is hidden whole with one clump cannot be predicted.
    codes = model.estimator_._codes
    several = [len(set(clumps[codes == code])) > 1 for code in codes[places]]
    return places[several], values[several]


def loo_predictions(
    model: Any, by_clump: bool, as_given: bool
) -> LooClasses | LooNumbers:
    """Return held-out predictions of the labeled rows; see `TableModel.left_out`."""
    estimator = model.estimator_
    places, values = held_out_values(model, estimator, by_clump)
    rows, independent = estimator.labeled_[places], 1.0
    if by_clump and model.hides_clumps:
        independent = (model.clumps_.max() + 1) / len(model.clumps_)
    if model.kind == "numbers":
        both = estimator.solution_.y, estimator._given_targets()
        learned, unmoved = (y[places, 0] for y in both)
        moved = not as_given and not np.array_equal(learned, unmoved)
        predicted = model.in_range(values[:, 0])
        low, high = model.ends_around(predicted)
        given, level = unmoved if as_given else learned, model.level
        found = LooNumbers(given, predicted, low, high, level, rows, independent)
        return replace(found, unmoved=unmoved) if moved else found
    p = probabilities_of_scores(estimator, values)
    if model.ordered_ is not None:
        ranks = held_out_values(model, model.ordered_.regressor, by_clump)
        p = model.ordered_.left_out(places, p, *ranks)
    codes = estimator._codes[places]
    return loo_class_prediction(estimator.classes_, p, rows, codes, independent)


def loo_class_prediction(
    classes: NDArray[Any],
    p: Array,  # (m, C)
    rows: NDArray[np.intp],  # (m,)
    codes: NDArray[np.intp],  # (m,), of the given labels
    independent: float = 1.0,
) -> LooClasses:
    """Return leave-one-out predictions of classes by their probabilities."""
    best, each = p.argmax(axis=1), np.arange(len(p))
    given, predicted = classes[codes].tolist(), classes[best].tolist()
    return LooClasses(
        given, predicted, p[each, best], p[each, codes], rows, independent
    )


def label_range(y: Sequence[float], style: NumberStyle | None) -> tuple[float, float]:
    """Return the smallest and the largest number that is predicted; may be infinite.

    Examples
    --------
    >>> label_range([3, 0, 8, 2, 5], None)
    (0.0, inf)
    >>> label_range([3, 0, 8, 2, -5], None)
    (-inf, inf)
    """
    is_money = style is not None and bool(style.prefix or style.thousands)
    is_percent = style is not None and style.suffix.strip() == "%"
    known = len(y) >= ENOUGH_LABELS or is_money or is_percent
    if not known or min(y) < 0:
        return -np.inf, np.inf
    return 0.0, 100.0 if is_percent and max(y) <= 100 else np.inf
