"""How predictions become cells of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from halfmoon.report.histogram import confidence_edges, number_edges
from halfmoon.table.model import Prediction, TableModel
from halfmoon.table.selection import added_columns
from halfmoon.table.target import Kind

__all__ = ["Cells", "column_types"]

GIVEN, PREDICTED = "given", "predicted"
CONFIDENCE_DIGITS = 4


def column_types(model: TableModel) -> dict[str, Any]:
    """Types of the new columns where a file has types, and of predicted numbers."""
    source, *numbers = added_columns(model.target, model.kind)
    if model.kind == "numbers":
        numbers.append(model.target)
    return {source: pa.string(), **dict.fromkeys(numbers, pa.float64())}


@dataclass(frozen=True)
class Cells:
    """The columns that predictions become.

    Attributes
    ----------
    kind : "classes" or "numbers"
    added : tuple of str
        Names of the columns beside the target.
    edges : ndarray
        Of the histogram of confidences, or of numbers.
    digits : int
        After the point of predicted numbers.
    """

    kind: Kind
    added: tuple[str, ...]
    edges: NDArray[np.float64]
    digits: int

    @classmethod
    def of(cls, model: TableModel) -> Cells:
        """For the predictions of a model."""
        added = added_columns(model.target, model.kind)
        if model.kind == "classes":
            return cls(model.kind, added, confidence_edges(), CONFIDENCE_DIGITS)
        given = np.array(model.left_out().given, dtype=np.float64)
        return cls(model.kind, added, number_edges(given), decimals(float(given.std())))

    def columns(
        self, prediction: Prediction, blank: NDArray[np.bool_]
    ) -> list[list[Any]]:
        """The target, and each added column, over all rows; None for no cell."""
        numbers = (
            [prediction.confidence]
            if prediction.confidence is not None
            else [prediction.low, prediction.high]
        )
        values = prediction.values
        if prediction.confidence is None:
            values = self._rounded(values)
        return [
            _spread(values, blank),
            [PREDICTED if b else GIVEN for b in blank],
            *(_spread(self._rounded(column), blank) for column in numbers),
        ]

    def shown(self, value: Any) -> str:
        """A label, or an end of its interval, for a person to read."""
        if value is None:
            return ""
        return str(value) if self.kind == "classes" else f"{value:.{self.digits}f}"

    def _rounded(self, values: Any) -> list[float]:
        rounded: list[float] = np.round(np.asarray(values, float), self.digits).tolist()
        return rounded


def _spread(values: list[Any], where: NDArray[np.bool_]) -> list[Any]:
    """Values at their places among all rows, None elsewhere."""
    column = np.full(len(where), None, dtype=object)
    column[where] = values
    return list(column)


def decimals(spread: float) -> int:
    """Digits after the point that show a thousandth of the labels' spread.

    Examples
    --------
    >>> decimals(2.5), decimals(120000.0), decimals(0.003)
    (3, 0, 6)
    """
    if not np.isfinite(spread) or spread <= 0:
        return 6
    return int(np.clip(3 - np.floor(np.log10(spread)), 0, 300))
