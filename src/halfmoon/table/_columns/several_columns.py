"""Encoders of columns with several values in a cell: numbers, or choices.

Both take a column of categories, whose different texts are encoded once each.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pandas as pd

from halfmoon._rows import Array
from halfmoon.table._cells.several_choices import items_of
from halfmoon.table._cells.several_numbers import NumberPattern
from halfmoon.table._columns.number_columns import MIN_MISSING_ROWS, NumberEncoder

__all__ = ["ChoicesEncoder", "SeveralNumbersEncoder"]


@dataclass
class SeveralNumbersEncoder:
    """Encodes several numbers in a cell, each like a column of numbers."""

    name: str
    pattern: NumberPattern
    parts: list[NumberEncoder]  # one for each number

    @classmethod
    def fit(
        cls, name: str, x: pd.Series, pattern: NumberPattern, *, linear: bool = False
    ) -> SeveralNumbersEncoder:
        """Learn the scale of each number; `linear` as in `NumberEncoder`."""
        columns = _numbers(x, pattern).T
        parts = [
            NumberEncoder.fit(f"{name}_{i}", column, linear=linear)
            for i, column in enumerate(columns, 1)
        ]
        for part in parts[1:]:  # numbers of one cell are missing together
            part.indicator = False
        return cls(name, pattern, parts)

    @property
    def names(self) -> list[str]:
        """Names of the output columns."""
        return [name for part in self.parts for name in part.names]

    def transform(self, x: pd.Series) -> Array:
        """Return the output columns, shape (b, k)."""
        columns = _numbers(x, self.pattern).T
        outputs = (
            part.transform(column)
            for part, column in zip(self.parts, columns, strict=True)
        )
        return np.hstack(list(outputs))


def _numbers(x: pd.Series, pattern: NumberPattern) -> Array:
    """Return the numbers in each row, NaN where the cell is missing, shape (b, k)."""
    distinct = pattern.read([*x.cat.categories, ""])
    return distinct[x.cat.codes.to_numpy()]  # -1, the last, if missing


@dataclass
class ChoicesEncoder:
    """Encodes several choices in a cell: 1 in the column of each item, 0 in others."""

    name: str
    separator: str
    items: list[str]  # those with a column, in lower case
    indicator: bool  # whether the last column is 1 where the cell is missing

    @classmethod
    def fit(
        cls, name: str, x: pd.Series, separator: str, max_columns: int
    ) -> ChoicesEncoder:
        """Learn the most common items."""
        counts: Counter[str] = Counter()
        for cell, n in x.value_counts().items():
            for item in items_of(str(cell), separator):
                counts[item] += n
        common = [item for item, n in counts.most_common(max_columns) if n > 1]
        missing = bool(x.isna().sum() >= MIN_MISSING_ROWS)
        return cls(name, separator, sorted(common), missing)

    @property
    def names(self) -> list[str]:
        """Names of the output columns."""
        missing = [f"{self.name} is missing"] if self.indicator else []
        return [*(f"{self.name}_{item}" for item in self.items), *missing]

    def transform(self, x: pd.Series) -> Array:
        """Return the output columns, shape (b, k)."""
        column_of = {item: i for i, item in enumerate(self.items)}
        distinct = np.zeros((len(x.cat.categories) + 1, len(self.names)))
        for row, cell in enumerate(x.cat.categories):
            for item in items_of(cell, self.separator):
                if item in column_of:
                    distinct[row, column_of[item]] = 1.0
        if self.indicator:
            distinct[-1, -1] = 1.0
        return distinct[x.cat.codes.to_numpy()]
