r"""Columns as vectors: what each kind of column becomes in the matrix to learn from.

=============  ==================================================================
column         becomes
=============  ==================================================================
number, time,  :math:`z = (x - m) / s`, the median m where it is missing, and beside
boolean        it 1 where it is missing, if it is in some of the rows; :math:`asinh(z)`
               where the tails are so heavy that all else would shrink to a point
date           its time in seconds as a number, and the places of its month, day,
               weekday and hour on their circles
category       1 in the column of its value, 0 in the others
text           its leading directions among all texts (`texts.py`)
=============  ==================================================================

Dates, categories and texts are encoded by what skrub's table vectorizer fits to them;
texts that repeat are encoded once. Where all columns are numbers in one unit, as pixels
are, s is the same for all of them. All is float32, which is enough for numbers that
were centered before. Outputs that do not vary are left out.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.preprocessing import OneHotEncoder
from skrub import DatetimeEncoder, TableVectorizer

from halfmoon.rows import Array
from halfmoon.table.columns import CATEGORIES, ColumnUse
from halfmoon.table.texts import text_encoder

__all__ = ["DateVectors", "NumberVectors", "TextVectors", "Vectors"]

MOST_COMPONENTS = 300  # directions of all texts together
MOST_ONE_HOTS = 1_000  # of all categories together
ENCODER_ROWS = 10_000  # rows from which the directions of texts are found
ENCODED_TEXTS = 4_096  # encoded at once: each has thousands of parts
MISSING_ROWS = 2  # rows without a number before that is worth a column
HEAVY = 100.0  # quartile ranges from the median beyond which tails are heavy
UNIT_COLUMNS = 10  # at least, that may be in one unit
UNIT_RATIO = 2.0  # between the quartiles of the ranges of such columns
UNIT_LARGEST = 1e100  # value of such columns
FARTHEST = 1e9  # deviations; farther values are held there


@dataclass
class NumberVectors:
    """A column of numbers.

    Attributes
    ----------
    name : str
    middle, scale : float
        The median, also where a number is missing, and the deviation.
    heavy : bool
        Heavy tails are drawn in.
    indicator : bool
        A column tells where the number is missing.
    """

    name: str
    middle: float
    scale: float
    heavy: bool
    indicator: bool

    @classmethod
    def of(cls, name: str, x: Array, *, linear: bool = False) -> NumberVectors:
        """Learn a column.

        Parameters
        ----------
        name : str
        x : ndarray of shape (n,)
            NaN where it is missing.
        linear : bool
            Keep it linear, whatever its tails: it is to be followed wherever it leads.
        """
        known = x[~np.isnan(x)]
        if known.size == 0:
            return cls(name, 0.0, 1.0, False, False)
        middle = float(np.median(known))
        # Halves, because the difference of two numbers may be too large for a number.
        half = known / 2 - middle / 2
        low, high = np.quantile(half, [0.25, 0.75])
        farthest = float(np.abs(half).max()) or 1.0
        spread = float(high - low) or float(np.abs(half / farthest).mean()) * farthest
        heavy = not linear and farthest > HEAVY * spread
        # An ordinary column gets a unit deviation; quartiles stand firm in heavy tails.
        deviation = float(np.std(half / farthest)) * farthest
        scale = 2 * (spread if heavy else deviation)
        scale = min(max(scale, np.finfo(float).tiny), np.finfo(float).max)
        missing = x.size - known.size
        return cls(name, middle, scale, heavy, missing >= MISSING_ROWS)

    @property
    def names(self) -> list[str]:
        """Of the columns that it becomes."""
        return [self.name, f"{self.name} is missing"][: 1 + self.indicator]

    def __call__(self, x: Array) -> Array:
        """The columns, shape (b, 1 or 2)."""
        missing = np.isnan(x)
        half = np.where(missing, 0.0, x / 2 - self.middle / 2)
        with np.errstate(over="ignore"):
            z = half / (self.scale / 2)
        if self.heavy:
            z = np.arcsinh(np.clip(z, -1e300, 1e300))
        z = np.clip(z, -FARTHEST, FARTHEST)
        return np.column_stack([z, missing][: 1 + self.indicator])


@dataclass
class DateVectors:
    """A column of dates: seconds as a number, and places on circles.

    Attributes
    ----------
    name : str
    seconds : NumberVectors
    encoder : DatetimeEncoder
        Of the circles, fitted.
    typical : ndarray of shape (k,)
        What stands for a missing date.
    """

    name: str
    seconds: NumberVectors
    encoder: Any
    typical: Array

    @classmethod
    def of(
        cls, name: str, x: pd.Series, encoder: Any, *, linear: bool = False
    ) -> DateVectors:
        """Learn a column; `linear` as in `NumberVectors`."""
        seconds = NumberVectors.of(name, _seconds(x), linear=linear)
        values = _encoded(encoder, x.rename(name))
        return cls(name, seconds, encoder, np.nanmean(values, axis=0))

    @property
    def names(self) -> list[str]:
        """Of the columns that it becomes."""
        return [*self.seconds.names, *map(str, self.encoder.get_feature_names_out())]

    def __call__(self, x: pd.Series) -> Array:
        """The columns, shape (b, k)."""
        circles = _encoded(self.encoder, x.rename(self.name))
        circles = np.where(np.isnan(circles), self.typical, circles)
        return np.hstack([self.seconds(_seconds(x)), circles])


@dataclass
class TextVectors:
    """A column of categories or of texts.

    Attributes
    ----------
    name : str
    encoder : OneHotEncoder or StringEncoder
        Fitted.
    names : list of str
        Of the columns that it becomes.
    """

    name: str
    encoder: Any
    names: list[str]

    def __call__(self, x: pd.Series) -> Array:
        """The columns, shape (b, k): each different text is encoded once."""
        different = list(x.cat.categories)
        if isinstance(self.encoder, OneHotEncoder):
            column = np.array([*different, np.nan], dtype=object)
            values = _encoded(self.encoder, pd.DataFrame({self.name: column}))
        else:
            column = pd.Series([*different, ""], dtype="str", name=self.name)
            starts = range(0, len(column), ENCODED_TEXTS)
            some = (column.iloc[start : start + ENCODED_TEXTS] for start in starts)
            values = np.vstack([_encoded(self.encoder, texts) for texts in some])
        return values[x.cat.codes.to_numpy()]  # -1, the last, where it is missing


def fitted_encoders(
    frame: pd.DataFrame, uses: list[ColumnUse], seed: int, labels: int | None
) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Encoders of the columns that are no numbers, and the names of their outputs."""
    names = [use.name for use in uses if use.kind in ("date", "category", "text")]
    if not names:
        return {}, {}
    texts = sum(use.kind == "text" for use in uses)
    categories = sum(use.kind == "category" for use in uses)
    components = max(2, MOST_COMPONENTS // max(1, texts))
    one_hots = max(2, min(CATEGORIES, MOST_ONE_HOTS // max(1, categories)))
    step = max(1, -(-len(frame) // ENCODER_ROWS))
    if frame[names].iloc[::step].isna().all().any():  # a column of few values
        step = 1
    some = frame[names].iloc[::step]
    table = TableVectorizer(
        cardinality_threshold=CATEGORIES,
        drop_null_fraction=None,
        low_cardinality=OneHotEncoder(
            drop="if_binary",
            dtype="float32",
            handle_unknown="ignore",
            max_categories=one_hots,
            sparse_output=False,
        ),
        specific_transformers=[
            (text_encoder(some[use.name], components, seed, labels), [use.name])
            for use in uses
            if use.kind == "text"
        ],
        datetime=DatetimeEncoder(
            resolution="hour",
            add_weekday=True,
            add_total_seconds=False,
            periodic_encoding="circular",
        ),
    )
    with _quiet():
        table.fit(some)
    return table.transformers_, table.input_to_outputs_


@dataclass
class Vectors:
    """All columns as one matrix.

    Attributes
    ----------
    parts : list of NumberVectors, DateVectors, TextVectors
    kept : ndarray of bool
        Which of their columns vary.
    """

    parts: list[Any]
    kept: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        frame: pd.DataFrame,
        uses: list[ColumnUse],
        seed: int = 0,
        labels: int | None = None,
    ) -> Vectors:
        """Learn the columns of a frame.

        Parameters
        ----------
        frame : DataFrame
            As `Columns.read` gives it.
        uses : list of ColumnUse
            Of its columns, in order.
        seed : int
            For the directions of texts.
        labels : int or None
            How many there are to learn from.
        """
        encoders, outputs = fitted_encoders(frame, uses, seed, labels)
        parts: list[Any] = []
        for use in uses:
            name, x, linear = use.name, frame[use.name], use.role == "known"
            encoder = encoders.get(name)
            if use.kind == "date":
                parts.append(DateVectors.of(name, x, encoder, linear=linear))
            elif use.kind in ("category", "text"):
                parts.append(TextVectors(name, encoder, list(outputs[name])))
            else:
                parts.append(NumberVectors.of(name, x.to_numpy(), linear=linear))
        unit = _common_unit(frame, uses)
        if unit is not None:
            parts = [replace(part, scale=unit, heavy=False) for part in parts]
        vectors = cls(parts, np.ones(sum(len(p.names) for p in parts), dtype=bool))
        if vectors.kept.any():
            X = vectors(frame)
            vectors.kept = X.min(axis=0) < X.max(axis=0)
        return vectors

    @property
    def names(self) -> list[str]:
        """Of the columns of the matrix."""
        names = [name for part in self.parts for name in part.names]
        return [name for name, kept in zip(names, self.kept, strict=True) if kept]

    def outputs_of(self, name: str) -> NDArray[np.intp]:
        """Numbers of the columns of the matrix that come from one of the table."""
        owner = np.array([part.name for part in self.parts for _ in part.names])
        return np.flatnonzero(owner[self.kept] == name)

    def __call__(self, frame: pd.DataFrame) -> NDArray[np.float32]:
        """The matrix, shape (b, d)."""
        X = np.empty((len(frame), int(self.kept.sum())), dtype=np.float32)
        start = end = 0
        for part in self.parts:
            x = frame[part.name]
            values = part(x.to_numpy() if isinstance(part, NumberVectors) else x)
            kept = self.kept[start : start + values.shape[1]]
            start += values.shape[1]
            X[:, end : end + kept.sum()] = values[:, kept]
            end += int(kept.sum())
        return X


def _common_unit(frame: pd.DataFrame, uses: list[ColumnUse]) -> float | None:
    """Deviation of a value where all columns are in one unit, as pixels are; or None.

    They are taken to be where they are many, all numbers, and the ranges of the middle
    half of them are within a factor of two. What varies little is then of little
    weight, as it is in the table; each column on a scale of its own would let the
    edges of a picture count as much as its middle.
    """
    if len(uses) < UNIT_COLUMNS or any(
        use.kind != "number" or use.role == "known" for use in uses
    ):
        return None
    X = frame.to_numpy(dtype=np.float64)
    low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    varied = high > low
    if not varied.any() or max(-low.min(), high.max()) > UNIT_LARGEST:
        return None
    first, third = np.quantile((high - low)[varied], [0.25, 0.75])
    if third > UNIT_RATIO * first:
        return None
    return float(np.sqrt(np.nanvar(X[:, varied], axis=0).mean()))


def _seconds(dates: pd.Series) -> Array:
    """Since 1970, NaN where there is no date."""
    since = dates - pd.Timestamp("1970-01-01")
    return since.dt.total_seconds().to_numpy(dtype=np.float64)


def _encoded(encoder: Any, column: Any) -> Array:
    """What an encoder makes of a column."""
    with _quiet():
        encoded = encoder.transform(column)
    return np.asarray(encoded, dtype=np.float64)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without warnings of values that were not there before, or of short texts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
