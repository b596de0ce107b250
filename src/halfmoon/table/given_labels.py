"""Which rows of a table have a label, and what it is.

A cell of the target is a label unless it is blank. Two things may say otherwise: an
earlier run, whose predictions count as blank, and labels that were typed into a list
of rows, which count as if they stood in the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from halfmoon.report.findings import Note
from halfmoon.report.wording import count
from halfmoon.table.blanks import Blanks, as_number
from halfmoon.table.earlier_runs import is_predicted
from halfmoon.table.errors import LabelError
from halfmoon.table.files import Batch
from halfmoon.table.files.arrow_types import far_dates
from halfmoon.table.reading import as_column
from halfmoon.table.target import check_counts

__all__ = ["GivenLabels", "TypedLabels", "label_text"]


class TypedLabels(dict[int, str]):
    """Labels that stand in no cell, by the number of their row, from 0.

    Parameters
    ----------
    labels : mapping or iterable
        As of a dict.
    replaces : frozenset of int
        Rows whose typed label counts even if the cell has another one: a person has
        seen that cell.
    notes : tuple of Note
        What the user should know of them.
    """

    def __init__(
        self,
        labels: Mapping[int, str] | None = None,
        replaces: frozenset[int] = frozenset(),
        notes: tuple[Note, ...] = (),
    ) -> None:
        super().__init__(labels or {})
        self.replaces, self.notes = replaces, notes

    def joined(self, other: Mapping[int, str]) -> TypedLabels:
        """These and others; of two for a row, the others'."""
        more = other if isinstance(other, TypedLabels) else TypedLabels(other)
        replaces = (self.replaces - set(more)) | more.replaces
        return TypedLabels({**self, **more}, replaces, (*self.notes, *more.notes))


@dataclass
class GivenLabels:
    """The labels of a target, batch by batch.

    Parameters
    ----------
    target : str
    blanks : Blanks
    source : str or None
        The column in which an earlier run said which labels it predicted.
    typed : mapping of int to str
        Labels that stand in no cell, by the number of their row, from 0; of
        `TypedLabels`, some may stand against a cell.
    first_row : int
        What a spreadsheet calls the row that stands at 0.

    Attributes
    ----------
    refilled : int
        Labels that an earlier run predicted, seen so far.
    under : dict of int to object
        Of the typed labels seen so far: what the cell itself holds, None if blank.
    """

    target: str
    blanks: Blanks
    source: str | None = None
    typed: Mapping[int, str] = field(default_factory=dict)
    first_row: int = 2
    refilled: int = 0
    under: dict[int, Any] = field(default_factory=dict)

    def of(self, batch: Batch) -> tuple[Any, NDArray[np.bool_]]:
        """The labels of a batch, and where there are none, each of shape (b,)."""
        rows = batch.plain
        column = as_column(rows.column(self.target))
        blank = self.blanks.mask(column)
        if self.source is not None:
            predicted = is_predicted(rows.column(self.source))
            self.refilled += int((predicted & ~blank).sum())
            blank |= predicted
        here = self.typed_in(batch)
        if here:
            self._refuse_two_labels(column, blank, batch.start)
            for place in here:
                cell = None if blank[place] else column[place].as_py()
                self.under[batch.start + place] = cell
            column = self._with_typed(column, here)
            blank[list(here)] = False
        return column, blank

    def refuse_far_dates(self, batch: Batch) -> None:
        """Refuse labels that are dates which Python does not have."""
        if self.target in far_dates(batch.rows.select([self.target])):
            raise LabelError(
                f"{self.target!r} has dates before the year 1 or after 9999, which "
                f"cannot be filled in. Give them as text, or leave these rows out."
            )

    def is_open(self, labels: Any, blank: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Where a label is known in part, so that it is filled in too, shape (b,)."""
        return np.zeros(len(blank), dtype=bool)

    def exact(self, labels: Any) -> Any:
        """Labels of rows that are not open, as cells."""
        return labels

    def check_counts(
        self, labeled: int, rows: int, n_open: int, labels: Sequence[Any]
    ) -> None:
        """Raise an error where there is nothing to fill, or too little to learn from.

        Parameters
        ----------
        labeled, rows : int
            Rows with a label, and all rows.
        n_open : int
            Labels that are known in part.
        labels : sequence
            Some of the labels.
        """
        if not n_open:
            check_counts(self.target, labeled, rows, labels)

    def typed_in(self, batch: Batch) -> dict[int, str]:
        """Typed labels of a batch, by their place in it."""
        return {
            number - batch.start: label
            for number, label in self.typed.items()
            if batch.start <= number < batch.start + len(batch)
        }

    def again(self) -> Self:
        """The same, with nothing seen so far."""
        blanks = Blanks(self.blanks.unlabeled)
        return replace(self, blanks=blanks, refilled=0, under={})

    def notes(self) -> Iterator[Note]:
        """What the user should know of labels that are not simply in their cells."""
        if self.refilled:
            yield Note(
                f"{count(self.refilled, 'row')} marked 'predicted' in {self.source!r} "
                f"{'was' if self.refilled == 1 else 'were'} filled again.",
                "To keep a correction, set its source to 'given' or clear it.",
                important=True,
            )
        replaces = getattr(self.typed, "replaces", ())
        listed = len(self.typed) - len(replaces)
        if listed:
            yield Note(f"{count(listed, 'label')} came from lists of rows to label.")
        if replaces:
            yield Note(f"{count(len(replaces), 'label')} came from the labeling page.")
        yield from getattr(self.typed, "notes", ())

    def _refuse_two_labels(
        self, column: Any, blank: NDArray[np.bool_], start: int
    ) -> None:
        replaces = getattr(self.typed, "replaces", ())
        for number, label in self.typed.items():
            place = number - start
            if number in replaces or not 0 <= place < len(blank) or blank[place]:
                continue
            cell = label_text(column[place].as_py())
            if cell != label and as_number(cell) != as_number(label):
                raise LabelError(
                    f"Row {number + self.first_row} has the label {cell!r} in the "
                    f"table and {label!r} in a list of rows. Correct one of them."
                )

    def _with_typed(self, column: Any, here: Mapping[int, str]) -> Any:
        values = column.to_pylist()
        for place, label in here.items():
            try:
                values[place] = pa.scalar(label).cast(column.type).as_py()
            except pa.ArrowException as error:
                raise LabelError(
                    f"The label {label!r} does not fit into {self.target!r}, a column "
                    f"of {column.type}. Correct it in the list of rows."
                ) from error
        return pa.array(values, column.type)


def label_text(label: Any) -> str:
    """A label as text, as a person would type it.

    Examples
    --------
    >>> label_text(" cat "), label_text(3.0), label_text(2.5)
    ('cat', '3', '2.5')
    """
    if isinstance(label, float) and label.is_integer():
        label = int(label)  # a column with blanks may hold whole numbers as floats
    return str(label).strip()
