"""Why a row of a table was filled as it was: the labeled rows behind the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from halfmoon.estimators.explanations import LabelWeight
from halfmoon.report.findings import Reason, ShownRow
from halfmoon.table.cells import Cells
from halfmoon.table.model import TableModel

__all__ = ["Reasons", "reasons_of", "with_reasons"]

MOST = 5  # on either side
MANY = 1_000  # labels at landmarks, whose weights take a matrix of labels by labels
NEGLIGIBLE = 0.01  # of the strongest pull: less is not told


@dataclass(frozen=True)
class Reasons:
    """Labeled rows that speak for an answer and against it, the strongest first.

    Only rows like the one that is answered, by a positive weight, are told of: that
    unlike rows have another label is true, and helps nobody. `scale` is that of the
    labels that the weights are of, as in `Explanation`.
    """

    speaks_for: tuple[Reason, ...] = ()
    speaks_against: tuple[Reason, ...] = ()
    scale: str = "as given"

    @property
    def all(self) -> tuple[Reason, ...]:
        """Both."""
        return (*self.speaks_for, *self.speaks_against)


def with_reasons(
    rows: Sequence[ShownRow], reasons: Sequence[Reasons]
) -> tuple[ShownRow, ...]:
    """Rows to look at, with the reasons for what is predicted of each."""
    return tuple(
        replace(row, speaks_for=each.speaks_for, speaks_against=each.speaks_against)
        for row, each in zip(rows, reasons, strict=True)
    )


def reasons_of(
    model: TableModel,
    rows: pa.Table | pa.RecordBatch,
    first_row: int,
    answers: Sequence[Any] | None = None,
    own: Sequence[int] | None = None,
    *,
    patient: bool = False,
) -> list[Reasons]:
    """The reasons for the answers at some rows; none where they cannot be had.

    Parameters
    ----------
    model : TableModel
    rows : pyarrow.Table
        A few.
    first_row : int
        Number of the first row of the table, as users count.
    answers : sequence or None
        What the reasons are for; None is what the model predicts.
    own : sequence of int or None
        Of labeled rows: their numbers in the table from 0. A label is no reason for
        the answer in its own row.
    patient : bool
        Wait for the reasons where thousands of labels are fitted at landmarks.
    """
    if rows.num_rows == 0:
        return []
    used = getattr(model.estimator_.solution_, "rows", slice(None))
    at_landmarks = not isinstance(used, slice)
    if at_landmarks and not patient and len(model.estimator_.labeled_) > MANY:
        return [Reasons()] * rows.num_rows
    try:
        told = model.explain(rows, answers)
    except MemoryError:  # of very many labels at landmarks
        return [Reasons()] * rows.num_rows
    cells = Cells.of(model)

    def shown(found: list[LabelWeight], i: int) -> tuple[Reason, ...]:
        least = NEGLIGIBLE * max(abs(told.pulls[i]))
        alike = [x for x in found if x.weight > 0 and abs(x.pull) >= least]
        others = [each for each in alike if own is None or each.row != own[i]]
        return tuple(
            Reason(each.row + first_row, cells.shown(each.label), each.weight)
            for each in others[:MOST]
        )

    every = len(told.rows)
    return [
        Reasons(
            shown(told.speaks_for(i, every), i),
            shown(told.speaks_against(i, every), i),
            told.scale,
        )
        for i in range(len(told))
    ]
