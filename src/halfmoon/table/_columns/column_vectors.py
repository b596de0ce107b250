r"""Columns as vectors: what each kind of column becomes in the matrix to learn from.

=============  ==================================================================
column         becomes
=============  ==================================================================
number, time,  :math:`z = (x - m) / s`, with m the median, which also replaces missing
boolean        numbers, and s the standard deviation of the column, or of all columns
               if they share one unit; :math:`asinh(z)` if z has heavy tails; and an
               indicator of missing numbers
date           its time in seconds as a number, its year, and sine and cosine of its
               month, day, weekday and hour
category       1 in the column of its value, 0 in the others; its place, as a number,
               if the order is known (`_cells/scales.py`)
several        each of them as a number
numbers
several        1 in the column of each of its items, 0 in the others
choices
text           its leading components by tf-idf and a truncated SVD
=============  ==================================================================

The encoders are in `column_encoders.py` and `text_columns.py`. The matrix is float32,
which is enough for centered numbers. Outputs that do not vary are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from halfmoon._number_format import count
from halfmoon.table._columns.column_encoders import (
    CategoryEncoder,
    ChoicesEncoder,
    DateEncoder,
    NumberEncoder,
    ScaleEncoder,
    SeveralNumbersEncoder,
)
from halfmoon.table._columns.column_kinds import CATEGORIES, ColumnUse
from halfmoon.table._columns.text_columns import TextEncoder
from halfmoon.table._table_errors import CommandError

__all__ = ["TableEncoder", "unpenalized_outputs"]

MAX_TEXT_COMPONENTS = 300  # of all texts together
MAX_ONE_HOTS = 1_000  # of all categories together
MIN_UNIT_COLUMNS = 10  # columns that may share one unit
MAX_UNIT_RATIO = 2.0  # between the quartiles of the ranges of such columns
MAX_UNIT_VALUE = 1e100  # in such columns, so that their squares are finite
MIN_LABELS_PER_KNOWN = 2  # for each output of the known columns


@dataclass
class TableEncoder:
    """Encodes all columns of a table as one matrix."""

    encoders: list[Any]  # one for each column of the table
    varying: NDArray[np.bool_]  # which of their outputs vary; the others are left out

    @classmethod
    def fit(
        cls,
        frame: pd.DataFrame,
        uses: list[ColumnUse],
        seed: int = 0,
        n_labels: int | None = None,
    ) -> TableEncoder:
        """Learn the columns of a frame of `Columns.read`; `uses` are in their order.

        `seed` is for the components of texts. `n_labels` is the number of labels to
        learn from, None for enough.
        """
        n_texts = sum(use.kind == "text" for use in uses)
        n_categories = sum(use.kind in ("category", "several choices") for use in uses)
        max_components = max(2, MAX_TEXT_COMPONENTS // max(1, n_texts))
        max_one_hots = max(2, min(CATEGORIES, MAX_ONE_HOTS // max(1, n_categories)))
        encoders: list[Any] = []
        for use in uses:
            name, x, linear = use.name, frame[use.name], use.role == "known"
            if use.kind == "date":
                encoders.append(DateEncoder.fit(name, x, linear=linear))
            elif use.steps and not linear:
                encoders.append(ScaleEncoder.on(name, x, use.steps))
            elif use.kind == "category":
                encoders.append(CategoryEncoder.fit(name, x, max_one_hots))
            elif use.pattern is not None and use.pattern.count > 1:
                encoders.append(
                    SeveralNumbersEncoder.fit(name, x, use.pattern, linear=linear)
                )
            elif use.separator:
                encoders.append(
                    ChoicesEncoder.fit(name, x, use.separator, max_one_hots)
                )
            elif use.kind == "text":
                encoders.append(
                    TextEncoder.fit(name, x, max_components, seed, n_labels)
                )
            else:
                encoders.append(NumberEncoder.fit(name, x.to_numpy(), linear=linear))
        unit = common_unit(frame, uses)
        if unit is not None:
            encoders = [replace(each, scale=unit, heavy=False) for each in encoders]
        n_outputs = sum(len(encoder.names) for encoder in encoders)
        table = cls(encoders, np.ones(n_outputs, dtype=bool))
        if n_outputs:
            X = table.transform(frame)
            table.varying = X.min(axis=0) < X.max(axis=0)
        return table

    @property
    def names(self) -> list[str]:
        """Names of the columns of the matrix."""
        names = [name for encoder in self.encoders for name in encoder.names]
        return [name for name, keep in zip(names, self.varying, strict=True) if keep]

    @property
    def _sources(self) -> NDArray[np.object_]:
        """Column of the table that each output comes from."""
        names = [each.name for each in self.encoders for _ in each.names]
        return np.array(names, dtype=object)  # others lose null characters at the end

    @property
    def outputs(self) -> dict[str, list[int]]:
        """Columns of the matrix that come from each column of the table."""
        outputs: dict[str, list[int]] = {each.name: [] for each in self.encoders}
        for i, name in enumerate(self._sources[self.varying].tolist()):
            outputs[name].append(i)
        return outputs

    def only(self, names: Collection[str]) -> TableEncoder:
        """Return the encoder of some columns of the table."""
        chosen = np.isin(self._sources, list(names))
        encoders = [each for each in self.encoders if each.name in names]
        return TableEncoder(encoders, self.varying[chosen])

    def transform(self, frame: pd.DataFrame) -> NDArray[np.float32]:
        """Return the matrix, shape (b, d)."""
        X = np.empty((len(frame), int(self.varying.sum())), dtype=np.float32)
        start = end = 0
        for encoder in self.encoders:
            values = encoder.transform(frame[encoder.name])
            keep = self.varying[start : start + values.shape[1]]
            start += values.shape[1]
            X[:, end : end + keep.sum()] = values[:, keep]
            end += int(keep.sum())
        return X


def unpenalized_outputs(
    uses: Sequence[ColumnUse], table: TableEncoder, labeled: float = np.inf
) -> list[int]:
    """Return the columns of the matrix that come from known columns.

    Raise an error if there are too many for the number of labeled rows.
    """
    known = [use for use in uses if use.role == "known"]
    outputs_of = table.outputs if known else {}
    unpenalized: list[int] = []
    for use in known:
        outputs = outputs_of[use.name]
        # One-hot columns sum to 1, as the constant does: one is redundant.
        several = use.kind == "category" and len(outputs) > 1
        unpenalized += outputs[1:] if several else outputs
    needed = MIN_LABELS_PER_KNOWN * (len(unpenalized) + 1)
    if needed > labeled and unpenalized:
        names = ", ".join(repr(use.name) for use in known)
        raise CommandError(
            f"The effects of the known columns ({names}: "
            f"{count(len(unpenalized), 'number')}) need at least {needed} labels, and "
            f"there are {labeled}. Name fewer columns as known, or label more rows."
        )
    return unpenalized


def common_unit(frame: pd.DataFrame, uses: list[ColumnUse]) -> float | None:
    """Return one deviation for all columns if they share a unit, as pixels do; or None.

    Columns share a unit if there are many, all are numbers, and the ranges of the
    middle half of them differ by a factor of at most two. With one deviation, a column
    that varies little has little weight, as in the table. With a deviation for each
    column, the edges of a picture would count as much as its middle.
    """
    if len(uses) < MIN_UNIT_COLUMNS or any(
        use.kind != "number" or use.role == "known" for use in uses
    ):
        return None
    X = frame.to_numpy(dtype=np.float64)
    low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    varied = high > low
    if not varied.any() or max(-low.min(), high.max()) > MAX_UNIT_VALUE:
        return None
    first, third = np.quantile((high - low)[varied], [0.25, 0.75])
    if third > MAX_UNIT_RATIO * first:
        return None
    return float(np.sqrt(np.nanvar(X[:, varied], axis=0).mean()))
