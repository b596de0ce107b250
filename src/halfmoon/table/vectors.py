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
from collections.abc import Collection, Iterator, Sequence
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
from halfmoon.table.numbers import NumberVectors, common_unit
from halfmoon.table.texts import text_encoder

__all__ = ["DateVectors", "TextVectors", "Vectors", "free_outputs"]

MOST_COMPONENTS = 300  # directions of all texts together
MOST_ONE_HOTS = 1_000  # of all categories together
ENCODER_ROWS = 10_000  # rows from which the directions of texts are found
ENCODED_TEXTS = 4_096  # encoded at once: each has thousands of parts


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
        unit = common_unit(frame, uses)
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

    def only(self, names: Collection[str]) -> Vectors:
        """The part of the matrix that comes from some columns of the table."""
        owner = np.array([part.name for part in self.parts for _ in part.names])
        chosen = np.isin(owner, list(names))
        parts = [part for part in self.parts if part.name in names]
        return Vectors(parts, self.kept[chosen])

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


def free_outputs(uses: Sequence[ColumnUse], vectors: Vectors) -> list[int]:
    """Columns of the matrix that are left without penalty: those of known columns."""
    free: list[int] = []
    for use in uses:
        if use.role == "known":
            outputs = vectors.outputs_of(use.name).tolist()
            # One-hot columns sum to 1, as the constant does: one is redundant.
            several = use.kind == "category" and len(outputs) > 1
            free += outputs[1:] if several else outputs
    return free
