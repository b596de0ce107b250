"""The labels of a table, batch by batch.

A cell of the target is a label unless it is blank: empty, one of the usual words for a
blank, or one of the user's own marks. Predictions of an earlier run count
as blank. Labels that were typed into a list of rows count as if they were in the table.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from halfmoon._notes import Note
from halfmoon._number_format import count
from halfmoon.table._cells.cell_values import INVISIBLE, as_column, as_number
from halfmoon.table._columns.column_names import is_predicted
from halfmoon.table._files import Batch
from halfmoon.table._files.arrow_types import is_text
from halfmoon.table._files.far_dates import far_dates
from halfmoon.table._run_settings import as_tuple
from halfmoon.table._table_errors import LabelError

__all__ = ["BLANK_TEXTS", "Blanks", "GivenLabels", "TypedLabels", "label_text"]

#: Texts that count as blank in a target, in upper or lower case; \N is of databases.
BLANK_TEXTS = ("", "na", "n/a", "nan", "null", "none", "<na>", r"\n")
#: A text as spreadsheets protect it.
PROTECTED = re.compile(r'="([^"]*)"')
#: Those that may also be a class: no sex, North America, not applicable.
DOUBTFUL = ("na", "n/a", "none")


@dataclass
class Blanks:
    """Finds and counts the blank cells of a target.

    The texts of `unlabeled` mark a blank, in addition to `BLANK_TEXTS`. If one of them
    is empty, these words are labels, so that a class may be called "None". A number
    marks every cell with that number, however it is written: -1 also marks "-1.0".

    Examples
    --------
    >>> blanks = Blanks()
    >>> blanks.mask(pa.array(["cat", "", "NA", "dog"]))
    array([False,  True,  True, False])
    >>> blanks.counts
    Counter({'': 1, 'NA': 1})
    """

    unlabeled: str | Iterable[str] | None = ()
    counts: Counter[str] = field(default_factory=Counter)  # of blanks, by their text
    matched: set[str] = field(default_factory=set)  # texts of `unlabeled` seen so far

    def __post_init__(self) -> None:
        marks = [mark.strip() for mark in as_tuple(self.unlabeled)]
        self._words = ("",) if "" in marks else BLANK_TEXTS
        self._marks = {mark: as_number(mark) for mark in marks if mark}

    @property
    def unmatched(self) -> list[str]:
        """Texts of `unlabeled` that no cell had so far."""
        return [mark for mark in self._marks if mark not in self.matched]

    @property
    def doubtful_words(self) -> Counter[str]:
        """Counts of blanks by words that may be a class and that no one named."""
        words = (text for text in self.counts if text.lower() in DOUBTFUL)
        return Counter({x: self.counts[x] for x in words if x not in self._marks})

    def mask(self, column: Any) -> NDArray[np.bool_]:
        """Return where a column of Arrow is blank, shape (n,), and count its blanks."""
        array = as_column(column)
        if is_text(array.type):
            blank, counts = self._in_text(array)
        else:
            blank, counts = self._in_values(array)
        self.counts += counts
        return blank

    def _in_text(self, array: pa.Array) -> tuple[NDArray[np.bool_], Counter[str]]:
        encoded = array.cast(pa.large_string()).dictionary_encode()
        values = [*encoded.dictionary.to_pylist(), ""]  # the last is null, code -1
        marked = np.array([self._is_blank_text(value) for value in values])
        codes = encoded.indices.fill_null(len(values) - 1)
        codes = codes.to_numpy(zero_copy_only=False)
        counts: Counter[str] = Counter()
        seen = np.bincount(codes, minlength=len(values))
        for i in np.flatnonzero(marked):
            counts[values[i].strip()] += int(seen[i])
        return marked[codes], counts

    def _is_blank_text(self, value: str) -> bool:
        value = value.strip().strip(INVISIBLE).strip()
        if protected := PROTECTED.fullmatch(value):
            value = protected[1].strip()
        return self._is_mark(value, value) or value.lower() in self._words

    def _in_values(self, array: pa.Array) -> tuple[NDArray[np.bool_], Counter[str]]:
        blank = np.array(array.is_null().to_numpy(zero_copy_only=False))
        counts = Counter({"": int(blank.sum())})
        if pa.types.is_floating(array.type):
            nan = pc.is_nan(array).fill_null(False).to_numpy(zero_copy_only=False)
            blank |= nan
            counts["NaN"] = int(nan.sum())
        if self._marks:
            for i in np.flatnonzero(~blank):
                value = array[i].as_py()
                if self._is_mark(str(value), value):
                    blank[i] = True
                    counts[str(value)] += 1
        return blank, counts

    def _is_mark(self, text: str, value: Any) -> bool:
        """Whether a value is one of the user's marks; a match is noted."""
        is_bool = isinstance(value, bool)
        number = math.nan if is_bool else as_number(value)
        for mark, marked_number in self._marks.items():
            same = mark.lower() == text.lower() if is_bool else mark == text
            if same or number == marked_number:
                self.matched.add(mark)
                return True
        return False


class TypedLabels(dict[int, str]):
    """Labels that are not in the table itself, by the number of their row, from 0.

    Those of the rows in `replaces` replace the label of the cell: a person has seen it.
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
        """Return these labels and others, which win if a row has both."""
        more = other if isinstance(other, TypedLabels) else TypedLabels(other)
        replaces = (self.replaces - set(more)) | more.replaces
        return TypedLabels({**self, **more}, replaces, (*self.notes, *more.notes))


@dataclass
class GivenLabels:
    """Reads the labels of a target, batch by batch."""

    target: str
    blanks: Blanks
    earlier: Sequence[str] = ()  # columns that an earlier run added, its source first
    # Labels that are not in the table itself; a mapping of row numbers will do.
    typed: TypedLabels = field(default_factory=TypedLabels)
    first_row: int = 2  # number of the first row in a spreadsheet
    refilled: int = 0  # predictions of an earlier run seen so far
    # Cells under the typed labels seen so far, None if blank.
    under: dict[int, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.typed, TypedLabels):
            self.typed = TypedLabels(self.typed)

    def of(self, batch: Batch) -> tuple[Any, NDArray[np.bool_]]:
        """Return the labels of a batch and where they are blank, each of shape (b,)."""
        rows = batch.plain
        column = as_column(rows.column(self.target))
        blank = self.blanks.mask(column)
        if self.earlier:
            predicted = is_predicted(rows.column(self.earlier[0]))
            self.refilled += int((predicted & ~blank).sum())
            blank |= predicted
        here = self.typed_in(batch)
        if here:
            for place, label in here.items():
                number = batch.start + place
                cell = None if blank[place] else column[place].as_py()
                if cell is not None and number not in self.typed.replaces:
                    self._refuse_other_label(number, label_text(cell), label)
                self.under[number] = cell
            column = self._with_typed(column, here)
            blank[list(here)] = False
        return column, blank

    def refuse_far_dates(self, batch: Batch) -> None:
        """Refuse dates that Python cannot represent."""
        if self.target in far_dates(batch.rows.select([self.target])):
            raise LabelError(
                f"{self.target!r} has dates before the year 1 or after 9999, which "
                f"cannot be filled. Store them as text, or leave these rows out."
            )

    def is_open(self, labels: Any, blank: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return where a label is partial, so that it is filled too, shape (b,)."""
        return np.zeros(len(blank), dtype=bool)

    def exact(self, labels: Any) -> Any:
        """Return the labels of rows whose label is not partial, as cells."""
        return labels

    def typed_in(self, batch: Batch) -> dict[int, str]:
        """Return the typed labels of a batch, by their position in it."""
        return {
            number - batch.start: label
            for number, label in self.typed.items()
            if batch.start <= number < batch.start + len(batch)
        }

    def again(self) -> Self:
        """Return a copy that has seen nothing yet."""
        blanks = Blanks(self.blanks.unlabeled)
        return replace(self, blanks=blanks, refilled=0, under={})

    def notes(self) -> Iterator[Note]:
        """Note labels that do not come from the cells of this table."""
        if self.refilled:
            rows, source = count(self.refilled, "row"), self.earlier[0]
            yield Note(
                f"{rows} marked 'predicted' in {source!r} "
                f"{'was' if self.refilled == 1 else 'were'} filled again.",
                "To keep a correction, set its source to 'given' or clear that cell.",
                important=True,
            )
        from_page = len(self.typed.replaces)
        from_lists = len(self.typed) - from_page
        if from_lists:
            yield Note(
                f"{count(from_lists, 'label')} came from lists of rows to label."
            )
        if from_page:
            yield Note(f"{count(from_page, 'label')} came from the labeling page.")
        yield from self.typed.notes

    def _refuse_other_label(self, number: int, cell: str, label: str) -> None:
        if cell != label and as_number(cell) != as_number(label):
            raise LabelError(
                f"Row {number + self.first_row} has the label {cell!r} in the table, "
                f"but {label!r} in a list of rows. Correct one of them."
            )

    def _with_typed(self, column: Any, here: Mapping[int, str]) -> Any:
        values = column.to_pylist()
        for place, label in here.items():
            try:
                values[place] = pa.scalar(label).cast(column.type).as_py()
            except pa.ArrowException as error:
                raise LabelError(
                    f"The label {label!r} does not fit into {self.target!r}, a column "
                    f"of type {column.type}. Correct it in the list of rows."
                ) from error
        return pa.array(values, column.type)


def label_text(label: Any) -> str:
    """Return a label as a person would type it.

    Examples
    --------
    >>> label_text(" cat "), label_text(3.0), label_text(2.5)
    ('cat', '3', '2.5')
    """
    if isinstance(label, float) and label.is_integer():
        label = int(label)  # a column with blanks may hold whole numbers as floats
    return str(label).strip()
