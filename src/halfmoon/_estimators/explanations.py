r"""Explanations of predictions: the labels behind each, with their weights.

Every fit here is linear in the targets of the labeled rows,

.. math:: g(x) = \sum_i H_i(x) y_i ,

so a prediction is an exact sum over labels, but for what happens to it afterwards. The
*pull* of a label on the prediction is :math:`H_i(x) (y_i - \bar y)`: if the constant is
not penalized, the weights sum to 1 and the pulls to :math:`g(x) - \bar y`. A row speaks
for a prediction if its pull has the same direction: for a class, if it raises its
score; for a number, if it pulls away from the mean towards the prediction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfmoon._labels import is_missing, label_array
from halfmoon._rows import Array, Indices, Rows
from halfmoon._selection.average import Average
from halfmoon.blocks import Stream
from halfmoon.problem._local_fits import LocalFit

__all__ = ["Explanation", "LabelWeight", "as_answers"]

MATRICES = 3  # of labels by labels, in memory at once
PRINTED_ROWS = 3  # for and against each prediction
PRINTED_PREDICTIONS = 10


class LabelWeight(NamedTuple):
    """A labeled row, and its weight in a prediction."""

    row: int  # row number in the fitted table
    label: Any
    weight: float  # H_i(x)
    pull: float  # positive if it speaks for the prediction


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """The labels behind some predictions.

    Attributes
    ----------
    answers : ndarray of shape (b,)
        The explained classes or numbers.
    rows : ndarray of shape (l,)
        Row numbers of the labeled rows in the fitted X.
    labels : ndarray of shape (l,)
        Their labels.
    weights : ndarray of shape (b, l)
        Weight of each label in each prediction: `smoother_matrix` of the estimator.
    targets : ndarray of shape (l, t)
        The fitted targets: numbers, outlying ones moved to the others; for classes 0
        and 1 in a column for each, or -1 and 1 for two.
    rest : ndarray of shape (b, t)
        What the labels do not explain: ``weights @ targets + rest`` are the scores of
        `decision_function`, or the predicted numbers on the scale of the targets. It is
        0 to rounding, unless the prediction was moved to the range of the labels or
        logarithms take part.
    pulls : ndarray of shape (b, l)
        What each label adds to the prediction, relative to the mean of the labels;
        positive if it speaks for the prediction.
    scale : {"as given", "log", "mixed"}
        Scale of the targets. With "log" the targets are logarithms of the labels (and
        an offset, if some are near 0), and so is ``weights @ targets + rest``. With
        "mixed" the prediction averages fits to labels and to logarithms. The weights
        are averaged too, and `rest` has the difference to the prediction.
    """

    answers: NDArray[Any]
    rows: Indices
    labels: NDArray[Any]
    weights: Array
    targets: Array
    rest: Array
    pulls: Array
    scale: str = "as given"

    @classmethod
    def of(
        cls,
        solution: Any,
        X: Rows,
        answers: NDArray[Any],
        codes: Indices | None,
        rows: Indices,
        labels: NDArray[Any] | None = None,
    ) -> Explanation:
        """Explain the answers that a solution, an Average or a Fit, gives at X.

        `codes` are the class codes of the answers, None for numbers; `rows` the labeled
        rows; `labels` their labels, None if they are the targets.
        """
        weights, y, targets, scale = _label_weights(solution, X)
        labels = y[:, 0] if labels is None else labels
        # On the scale of the fit: y are the labels, targets what was fitted.
        shift = np.exp(targets[0, 0]) - y[0, 0] if scale == "log" else 0.0
        values = solution.predict(X).reshape(-1, targets.shape[1])
        values = np.log(values + shift) if scale == "log" else values
        rest = values - weights @ targets
        centered = targets - targets.mean(axis=0)
        if targets.shape[1] > 1 and codes is not None:
            along = centered[:, codes].T  # (b, l)
        elif codes is not None:  # the two classes are -1 and 1
            along = np.outer(2.0 * codes - 1.0, centered[:, 0])
        else:
            middle = targets.mean()
            middle = np.exp(middle) - shift if scale == "log" else middle
            along = np.outer(np.where(answers < middle, -1.0, 1.0), centered[:, 0])
        pulls = weights * along
        return cls(answers, rows, labels, weights, targets, rest, pulls, scale)

    def __len__(self) -> int:
        return len(self.answers)

    def speaks_for(self, i: int, most: int = 5) -> list[LabelWeight]:
        """Return the labeled rows that speak for the i-th answer, strongest first."""
        return list(self._strongest(i, -self.pulls[i], most))

    def speaks_against(self, i: int, most: int = 5) -> list[LabelWeight]:
        """Return the labeled rows that speak against it, strongest first."""
        return list(self._strongest(i, self.pulls[i], most))

    def _strongest(self, i: int, order: Array, most: int) -> Iterator[LabelWeight]:
        for j in np.argsort(order, kind="stable")[:most]:
            if order[j] >= 0:
                return
            yield LabelWeight(
                int(self.rows[j]),
                self.labels[j],
                float(self.weights[i, j]),
                float(self.pulls[i, j]),
            )

    def __repr__(self) -> str:
        lines = []
        for i in range(min(len(self), PRINTED_PREDICTIONS)):
            sides = [
                f"{side}: {_listed(found)}"
                for side, found in (
                    ("for", self.speaks_for(i, PRINTED_ROWS)),
                    ("against", self.speaks_against(i, PRINTED_ROWS)),
                )
                if found
            ]
            lines.append(f"{self.answers[i]}  {'; '.join(sides)}")
        if len(self) > PRINTED_PREDICTIONS:
            lines.append(f"... and {len(self) - PRINTED_PREDICTIONS} more")
        return "\n".join(lines)


def as_answers(answers: Any, b: int) -> NDArray[Any]:
    """Return the answers to explain as an array, one for each of b rows.

    Of shape (b,), or (b, t) if they are predictions of several outputs.
    """
    given = label_array(answers)
    if given.dtype.kind in "US":  # such arrays drop null characters at the end
        given = np.asarray(answers, dtype=object)
    if given.shape[:1] != (b,):
        raise ValueError(
            f"answers has shape {given.shape}, but X has {b} row(s); one class or "
            f"number for each row is needed. Without answers, the predictions are "
            f"explained."
        )
    missing = is_missing(given).reshape(b, -1).any(axis=1)
    if missing.any():
        raise ValueError(
            f"The answer for row {int(missing.argmax())} is missing; a class or number "
            f"for each row is needed. Without answers, the predictions are explained."
        )
    return given[:, 0] if given.shape[1:] == (1,) else given


def _listed(found: list[LabelWeight]) -> str:
    return ", ".join(f"row {f.row} ({f.label}, {f.weight:+.0%})" for f in found)


def _label_weights(solution: Any, X: Rows) -> tuple[Array, Array, Array, str]:
    """Return weights of the labels, targets, fitted targets and their scale."""
    if isinstance(solution, Average):
        if not all(isinstance(each.fit, LocalFit) for each in solution.members):
            _refuse_many(len(solution.y), solution.stream)
        weights, targets = solution.label_weights(X), solution.fitted_targets
        return weights, solution.y, targets, solution.scale
    y = solution.posed.y
    _refuse_many(len(y), solution.posed.stream)
    return solution.smoother_matrix(X), y, y, "as given"


def _refuse_many(l: int, stream: Stream) -> None:
    """Refuse too many labels: the weights need matrices of labels by labels."""
    what = f"The weights of {l:,} labels need"
    advice = "Raise memory_limit, or fit fewer labels."
    stream.require(8 * MATRICES * l * l, what, advice)
