"""Encoders of columns, by kind: numbers, dates, categories, several values in a cell.

`column_vectors.py` says what each becomes. A column of categories, and one with several
numbers or choices in a cell, has its different texts encoded once each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from halfmoon._rows import Array
from halfmoon.table._cells.scales import folded
from halfmoon.table._cells.several_values import NumberPattern, items_of

__all__ = [
    "CategoryEncoder",
    "ChoicesEncoder",
    "DateEncoder",
    "NumberEncoder",
    "ScaleEncoder",
    "SeveralNumbersEncoder",
]

MIN_MISSING_ROWS = 2  # missing numbers before an indicator column is worth it
HEAVY_TAIL = 100.0  # quartile ranges from the median to the farthest number
MAX_DEVIATIONS = 1e9  # z is clipped there
PERIODS = {"month": 12, "day": 30, "hour": 24, "weekday": 7}


@dataclass
class NumberEncoder:
    """Encodes a column of numbers."""

    name: str
    middle: float  # the median
    scale: float  # the deviation
    heavy: bool  # whether heavy tails are compressed
    indicator: bool  # whether a second column is 1 where the number is missing

    @classmethod
    def fit(cls, name: str, x: Array, *, linear: bool = False) -> NumberEncoder:
        """Learn the scale of a column, shape (n,), NaN where a number is missing.

        With `linear`, the model is linear in this column: tails are not compressed.
        """
        x = np.asarray(x, dtype=np.float64)
        present = x[~np.isnan(x)]
        if present.size == 0:
            return cls(name, 0.0, 1.0, False, False)
        middle = float(np.median(present))
        # Halves, because the difference of two floats may overflow.
        half = present / 2 - middle / 2
        low, high = np.quantile(half, [0.25, 0.75])
        farthest = float(np.abs(half).max()) or 1.0
        spread = float(high - low) or float(np.abs(half / farthest).mean()) * farthest
        heavy = not linear and farthest > HEAVY_TAIL * spread
        # Heavy tails distort the deviation, but not the quartiles.
        deviation = float(np.std(half / farthest)) * farthest
        scale = 2 * (spread if heavy else deviation)
        scale = min(max(scale, np.finfo(float).tiny), np.finfo(float).max)
        n_missing = x.size - present.size
        return cls(name, middle, scale, heavy, n_missing >= MIN_MISSING_ROWS)

    @property
    def names(self) -> list[str]:
        """Names of the output columns."""
        return [self.name, f"{self.name} is missing"][: 1 + self.indicator]

    def transform(self, x: Array) -> Array:
        """Return the output columns, shape (b, 1 or 2)."""
        x = np.asarray(x, dtype=np.float64)
        missing = np.isnan(x)
        half = np.where(missing, 0.0, x / 2 - self.middle / 2)
        with np.errstate(over="ignore"):
            z = half / (self.scale / 2)
        if self.heavy:
            z = np.arcsinh(np.clip(z, -1e300, 1e300))
        z = np.clip(z, -MAX_DEVIATIONS, MAX_DEVIATIONS)
        return np.column_stack([z, missing][: 1 + self.indicator])


@dataclass
class DateEncoder:
    """Encodes a column of dates: seconds as a number, the year, and cyclic parts."""

    name: str
    seconds: NumberEncoder
    typical: Array  # (9,), mean year and cyclic parts, for missing dates

    @classmethod
    def fit(cls, name: str, x: pd.Series, *, linear: bool = False) -> DateEncoder:
        """Learn a column; `linear` as in `NumberEncoder`."""
        seconds = NumberEncoder.fit(name, _seconds(x), linear=linear)
        return cls(name, seconds, np.nanmean(_calendar(x), axis=0))

    @property
    def names(self) -> list[str]:
        """Names of the output columns."""
        cyclic = [f"{self.name}_{p}_circular_{i}" for p in PERIODS for i in (0, 1)]
        return [*self.seconds.names, f"{self.name}_year", *cyclic]

    def transform(self, x: pd.Series) -> Array:
        """Return the output columns, shape (b, 10 or 11)."""
        calendar = _calendar(x)
        calendar = np.where(np.isnan(calendar), self.typical, calendar)
        return np.hstack([self.seconds.transform(_seconds(x)), calendar])


def _seconds(dates: pd.Series) -> Array:
    """Return seconds since 1970, NaN where a date is missing."""
    since = dates - pd.Timestamp("1970-01-01")
    return since.dt.total_seconds().to_numpy(dtype=np.float64)


def _calendar(dates: pd.Series) -> Array:
    """Return the year and the sine and cosine of each part, shape (b, 9)."""
    parts = dates.dt
    columns = [parts.year]
    for name, period in PERIODS.items():
        value = parts.day_of_week + 1 if name == "weekday" else getattr(parts, name)
        columns += [np.sin(value / period * 2 * np.pi)]
        columns += [np.cos(value / period * 2 * np.pi)]
    return np.column_stack(columns).astype(np.float64)


@dataclass
class CategoryEncoder:
    """Encodes a column of categories as one-hot columns; two values need only one.

    Values that differ in case or spaces only are one.
    """

    name: str
    names: list[str]  # of the output columns
    # Output column of each value in `fit`, in lower case, or of a missing cell (None);
    # -1 for none. Other values have no output column.
    column_of: dict[str | None, int]

    @classmethod
    def fit(cls, name: str, x: pd.Series, max_columns: int) -> CategoryEncoder:
        """Learn the values; the rarest share one column if there are too many."""
        counts: Counter[Any] = Counter()
        spelling: dict[Any, str] = {None: "nan"}
        for value, n in x.value_counts().items():  # the most common spelling first
            spelling.setdefault(_folded(value), value)
            counts[_folded(value)] += n
        values: list[Any] = sorted(counts, key=spelling.__getitem__)
        if x.isna().any():
            values.append(None)
            counts[None] = x.isna().sum()
        frequent = values
        if len(values) > max_columns:
            ascending = sorted(range(len(values)), key=lambda i: counts[values[i]])
            frequent = [values[i] for i in sorted(ascending[1 - max_columns :])]
        names = [f"{name}_{spelling[value]}" for value in frequent]
        if len(frequent) < len(values):
            names.append(f"{name}_infrequent")
        drop = len(names) == 2
        column_of = dict.fromkeys(values, len(frequent) - drop)
        column_of |= {value: i - drop for i, value in enumerate(frequent)}
        return cls(name, names[drop:], column_of)

    def transform(self, x: pd.Series) -> Array:
        """Return the output columns, shape (b, k)."""
        k, values = len(self.names), [*x.cat.categories, None]
        columns = np.array([self._column(value) for value in values])
        one_hot = np.eye(k + 1, k)  # the last row, of -1, is 0
        return one_hot[columns[x.cat.codes.to_numpy()]]

    def has_seen(self, value: str) -> bool:
        """Whether a value, in any spelling, was in the rows that were learned from."""
        return value in self.column_of or _folded(value) in self.column_of

    def _column(self, value: str | None) -> int:
        # Models of earlier versions have the values as they were written.
        found = self.column_of.get(value, -1)
        if found < 0 and value is not None:
            found = self.column_of.get(_folded(value), -1)
        return found


def _folded(value: str) -> str:
    return " ".join(value.casefold().split())


@dataclass
class ScaleEncoder(CategoryEncoder):
    """Encodes a column of categories with an order by their places on the scale."""

    places: dict[str, int]
    number: NumberEncoder  # of the places

    @classmethod
    def on(cls, name: str, x: pd.Series, steps: Sequence[str]) -> ScaleEncoder:
        """Learn how often each step occurs."""
        places = {step: place for place, step in enumerate(steps)}
        column_of: dict[str | None, int] = dict.fromkeys([*steps, None], 0)
        number = NumberEncoder.fit(name, _places(x, places))
        return cls(name, number.names, column_of, places, number)

    def transform(self, x: pd.Series) -> Array:
        """Return the output columns, shape (b, 1 or 2)."""
        return self.number.transform(_places(x, self.places))

    def has_seen(self, value: str) -> bool:
        """Whether a value, in any spelling, was in the rows that were learned from."""
        return folded(value) in self.places


def _places(x: pd.Series, places: Mapping[str, int]) -> Array:
    """Return the place of each cell on a scale, NaN where it has none."""
    of_values = [places.get(folded(value), np.nan) for value in x.cat.categories]
    return np.append(of_values, np.nan)[x.cat.codes.to_numpy()]  # -1 if missing


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
