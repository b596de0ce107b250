r"""Why an answer is what it is: the labels that it comes from, each with its weight.

Every fit here is linear in the targets of the labeled rows,

.. math:: g(x) = \sum_i H_i(x) y_i ,

so that an answer can be taken apart exactly. What a label pulls the answer by is
:math:`H_i(x) (y_i - \bar y)`: where the constant is not penalized the weights sum to 1,
and the pulls to :math:`g(x) - \bar y`. A row *speaks for* an answer if it pulls
the way that the answer lies: for a class, if it raises its score; for a number, if it
pulls away from the mean to the side of the answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfmoon.memory import parse_bytes
from halfmoon.problem import LocalFit
from halfmoon.rows import Array, Indices, Rows
from halfmoon.selection import Average

__all__ = ["Explanation", "LabelWeight"]

MATRICES = 3  # of labels by labels, held at once
SHOWN = 3  # rows on each side, in what is printed


class LabelWeight(NamedTuple):
    """A labeled row, and what it has to do with an answer."""

    row: int  # among the rows that were fitted
    label: Any
    weight: float  # H_i(x)
    pull: float  # along the answer if positive


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """The labels behind the answers at some rows.

    Attributes
    ----------
    answers : ndarray of shape (b,)
        Classes or numbers.
    rows : ndarray of shape (l,)
        The labeled rows, by their numbers in the X that was fitted.
    labels : ndarray of shape (l,)
        Their labels.
    weights : ndarray of shape (b, l)
        Of each label in each answer: `smoother_matrix` of the estimator.
    targets : ndarray of shape (l, t)
        What the weights are of: numbers; for classes 0 and 1 in a column for each, or
        -1 and 1 for two. ``weights @ targets`` are the values of the function.
    pulls : ndarray of shape (b, l)
        What each label adds to the answer, beside the mean of the labels; positive if
        it speaks for the answer.
    scale : {"as given", "log", "mixed"}
        Of the targets. With "log" the weights are of the logarithms of the labels (and
        an offset, if some are near 0). With "mixed", part of the answer is a fit to
        logarithms and part is not: the weights are those of both, averaged, and their
        sum with the labels is not the answer.
    """

    answers: NDArray[Any]
    rows: Indices
    labels: NDArray[Any]
    weights: Array
    targets: Array
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
        """Take the answers of a solution apart.

        Parameters
        ----------
        solution : Average or Fit
        X : array or CSR of shape (b, d)
        answers : ndarray of shape (b,)
        codes : ndarray of shape (b,) or None
            Of the classes that are the answers; None for numbers.
        rows : ndarray of shape (l,)
            The labeled rows.
        labels : ndarray of shape (l,) or None
            None where they are the targets.
        """
        weights, y, targets, scale = _behind(solution, X)
        labels = y[:, 0] if labels is None else labels
        centered = targets - targets.mean(axis=0)
        if targets.shape[1] > 1 and codes is not None:
            along = centered[:, codes].T  # (b, l)
        elif codes is not None:  # the two classes are -1 and 1
            along = np.outer(2.0 * codes - 1.0, centered[:, 0])
        else:
            # On the scale of the fit: labels are y, and what was fitted is targets.
            shift = np.exp(targets[0, 0]) - y[0, 0] if scale == "log" else 0.0
            middle = targets.mean()
            middle = np.exp(middle) - shift if scale == "log" else middle
            along = np.outer(np.where(answers < middle, -1.0, 1.0), centered[:, 0])
        return cls(answers, rows, labels, weights, targets, weights * along, scale)

    def __len__(self) -> int:
        return len(self.answers)

    def speaks_for(self, i: int, most: int = 5) -> list[LabelWeight]:
        """The labeled rows that speak for the i-th answer, the strongest first."""
        return list(self._strongest(i, -self.pulls[i], most))

    def speaks_against(self, i: int, most: int = 5) -> list[LabelWeight]:
        """The labeled rows that speak against the i-th answer, the strongest first."""
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
        for i in range(min(len(self), 10)):
            sides = [
                f"{side}: {_told(found)}"
                for side, found in (
                    ("for", self.speaks_for(i, SHOWN)),
                    ("against", self.speaks_against(i, SHOWN)),
                )
                if found
            ]
            lines.append(f"{self.answers[i]}  {'; '.join(sides)}")
        if len(self) > 10:
            lines.append(f"... and {len(self) - 10} more")
        return "\n".join(lines)


def _told(found: list[LabelWeight]) -> str:
    return ", ".join(f"row {f.row} ({f.label}, {f.weight:+.0%})" for f in found)


def _behind(solution: Any, X: Rows) -> tuple[Array, Array, Array, str]:
    """Weights of the labels at rows; targets, and as they are fitted; their scale."""
    if isinstance(solution, Average):
        if not all(isinstance(each.fit, LocalFit) for each in solution.members):
            _refuse_many(len(solution.y), solution.stream.memory_limit)
        weights, targets = solution.label_weights(X), solution.fitted_targets
        return weights, solution.y, targets, solution.scale
    y = solution.posed.y
    _refuse_many(len(y), solution.posed.stream.memory_limit)
    return solution.smoother_matrix(X), y, y, "as given"


def _refuse_many(l: int, memory_limit: int | str) -> None:
    """Weights of labels come from a matrix of labels by labels, unless local."""
    needed = 8 * MATRICES * l * l
    if needed > parse_bytes(memory_limit):
        raise MemoryError(
            f"The weights of {l} labels need {needed / 1e9:.1f} GB, but memory_limit "
            f"is {memory_limit}. Raise it, or fit fewer labels."
        )
