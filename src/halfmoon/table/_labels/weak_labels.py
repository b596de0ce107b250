"""Partial labels: sets of candidates in a cell, or the two ends of an interval.

==================  ==================================================================
setting             a label is
==================  ==================================================================
``sets="|"``        the candidates in its cell, as in "cat|dog"; one is a plain label
``low``, ``high``   the number in the target, or else any number between the two ends,
                    either of which may be blank or infinite
==================  ==================================================================

A set of all classes, and a row without a number and without ends, are blanks.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from halfmoon._notes import Note
from halfmoon._number_format import count
from halfmoon.table._cells.cell_values import as_column, as_number, read_numbers
from halfmoon.table._cells.number_style import PLAIN, NumberStyle
from halfmoon.table._files import Batch
from halfmoon.table._files.arrow_types import is_text
from halfmoon.table._labels.given_labels import Blanks, GivenLabels
from halfmoon.table._labels.label_checks import (
    CheckedLabels,
    merged_labels,
    spelling_notes,
)
from halfmoon.table._labels.target_labels import read_label_numbers, valid_labels
from halfmoon.table._run_settings import Settings
from halfmoon.table._table_errors import LabelError

__all__ = [
    "Candidates",
    "Ends",
    "GivenIntervals",
    "GivenSets",
    "checked_ends",
    "checked_sets",
    "read_ends",
    "split_sets",
]

PARTS = LABEL, LOW, HIGH = "label", "low", "high"  # fields of a label with ends


@dataclass(frozen=True)
class Candidates:
    """Classes, one of which is the true one.

    Examples
    --------
    >>> str(Candidates(("cat", "dog"))), Candidates(("cat",)).exact
    ('cat or dog', 'cat')
    """

    classes: tuple[str, ...]

    @property
    def exact(self) -> str | None:
        """The class, if there is only one."""
        return self.classes[0] if len(self.classes) == 1 else None

    def __str__(self) -> str:
        return " or ".join(self.classes)


@dataclass(frozen=True)
class Ends:
    """An interval with the true number, infinite where an end is open."""

    low: float
    high: float

    @property
    def exact(self) -> float | None:
        """The number, if both ends are the same."""
        return self.low if self.low == self.high else None

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}"


@dataclass
class GivenSets(GivenLabels):
    """Reads labels that are sets of candidates."""

    separator: str = "|"

    def of(self, batch: Batch) -> tuple[Any, NDArray[np.bool_]]:
        column, blank = super().of(batch)
        chosen_from = f"{self.target}_candidates"  # by an earlier run
        if chosen_from not in self.earlier:
            return column, blank
        kept = as_column(batch.plain.column(chosen_from)).cast(column.type)
        again = blank & ~Blanks().mask(kept)
        self.refilled -= int(again.sum())
        return pc.if_else(pa.array(again), kept, column), blank & ~again

    def is_open(self, labels: Any, blank: NDArray[np.bool_]) -> NDArray[np.bool_]:
        if not is_text(labels.type):
            return np.zeros(len(blank), dtype=bool)
        return _as_mask(pc.match_substring(labels, self.separator)) & ~blank


@dataclass
class GivenIntervals(GivenLabels):
    """Reads labels that are numbers or have ends in the columns `low` and `high`."""

    low: str | None = None
    high: str | None = None

    def of(self, batch: Batch) -> tuple[Any, NDArray[np.bool_]]:
        """Return a struct of label, low and high (null for a blank), and the blanks."""
        rows, n = batch.plain, len(batch)
        if self.target in rows.schema.names:
            label, no_label = super().of(batch)
        else:
            typed = self.typed_in(batch)
            label = pa.array([typed.get(i) for i in range(n)], pa.string())
            no_label = np.array([i not in typed for i in range(n)], dtype=bool)
        parts, blank = [pc.if_else(pa.array(no_label), None, label)], no_label.copy()
        for name, sign in ((self.low, -1), (self.high, 1)):
            if name is None:
                parts.append(pa.nulls(n, pa.string()))
                continue
            end = as_column(rows.column(name))
            no_end = Blanks(self.blanks.unlabeled).mask(end)
            parts.append(pc.if_else(pa.array(no_end), None, end))
            blank &= no_end | _is_infinite(end, sign)
        return pa.StructArray.from_arrays(parts, PARTS), blank

    def refuse_far_dates(self, batch: Batch) -> None:
        if self.target in batch.rows.schema.names:
            super().refuse_far_dates(batch)

    def is_open(self, labels: Any, blank: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return np.asarray(labels.field(LABEL).is_null()) & ~blank

    def exact(self, labels: Any) -> Any:
        return labels.field(LABEL)


def split_sets(labels: Sequence[Any], separator: str) -> list[tuple[str, ...] | None]:
    """Return the candidates in each cell, each once; None for a blank.

    Examples
    --------
    >>> split_sets(["cat | dog", "cat", None, "|"], "|")
    [('cat', 'dog'), ('cat',), None, ()]
    """

    def candidates(label: Any) -> tuple[str, ...]:
        parts = (part.strip() for part in str(label).split(separator))
        return tuple(dict.fromkeys(part for part in parts if part))

    return [None if label is None else candidates(label) for label in labels]


def checked_sets(labels: Sequence[Any], settings: Settings) -> CheckedLabels:
    """Check cells with candidates, None for a blank, and return them as sets."""
    name, separator = settings.target, str(settings.sets)
    cells = split_sets(labels, separator)
    empty = [
        str(label) for label, cell in zip(labels, cells, strict=True) if cell == ()
    ]
    if empty:
        one = len(empty) == 1
        raise LabelError(
            f"{count(len(empty), 'cell')} of {name!r} {'holds' if one else 'hold'} a "
            f"set without a class, such as {empty[0]!r}. Name at least one candidate, "
            f"or leave {'the cell' if one else 'these cells'} blank."
        )
    flat = [member for cell in cells if cell is not None for member in cell]
    spellings = list(spelling_notes(flat, merged=settings.merge_labels))
    if settings.merge_labels:
        new = dict(zip(flat, merged_labels(flat), strict=True))
        cells = [
            None if cell is None else tuple(dict.fromkeys(new[x] for x in cell))
            for cell in cells
        ]
    classes = {x for x in valid_labels(name, flat or labels, "classes") if x}
    sets = [
        None if cell is None or set(cell) == classes else Candidates(cell)
        for cell in cells
    ]
    if not any(sets):
        raise LabelError(
            f"Every set of {name!r} holds all {len(classes)} classes, so nothing is "
            f"known about any row. Name the candidates of at least two rows."
        )
    notes = (*spellings, *_set_notes(name, cells, sets, separator))
    n_empty = sum(cell is not None for cell in cells) - sum(map(bool, sets))
    return CheckedLabels("classes", sets, notes=notes, n_empty=n_empty)


def _set_notes(
    name: str,
    cells: Sequence[tuple[str, ...] | None],
    sets: Sequence[Candidates | None],
    separator: str,
) -> Iterator[Note]:
    known = [each for each in sets if each is not None]
    if all(cell is None or len(cell) == 1 for cell in cells):
        yield Note(
            f"No cell of {name!r} holds several candidates separated by "
            f"{separator!r}: all labels are plain ones.",
            "Leave out `sets`, or check the separator.",
            important=True,
        )
    full = sum(cell is not None for cell in cells) - len(known)
    if full:
        yield Note(
            f"{count(full, 'set')} of {name!r} {'holds' if full == 1 else 'hold'} all "
            f"classes and {'was' if full == 1 else 'were'} filled like a blank."
        )
    counts = Counter(member for each in known for member in each.classes)
    most_common, n = counts.most_common(1)[0]
    if n == len(known):
        yield Note(
            f"{most_common!r} is among the candidates of every row, so it may be "
            f"predicted everywhere.",
            "Label some rows that are of another class.",
            important=True,
        )


def checked_ends(
    labels: Sequence[dict[str, Any] | None], settings: Settings, numbers: Sequence[int]
) -> CheckedLabels:
    """Check labels with ends, and return them as `Ends`.

    Labels are those of `GivenIntervals`. `numbers` are the row numbers in a
    spreadsheet, for messages.
    """
    columns = {LABEL: settings.target, LOW: settings.low, HIGH: settings.high}
    cells = {
        part: [None if row is None else row[part] for row in labels] for part in PARTS
    }
    for part, wrong in ((LOW, math.inf), (HIGH, -math.inf)):
        for row, cell in zip(numbers, cells[part], strict=True):
            if cell is not None and as_number(cell) == wrong:
                raise LabelError(
                    f"Row {row} has {cell} in {columns[part]!r}, so no number fits. "
                    f"For an open end, leave the cell blank."
                )
        cells[part] = [
            None if cell is None or math.isinf(as_number(cell)) else cell
            for cell in cells[part]
        ]
    read = {part: read_label_numbers(values) for part, values in cells.items()}
    for part, name in columns.items():
        strays = read[part].strays
        if strays:
            one = len(strays) == 1
            raise LabelError(
                f"{count(len(strays), 'cell')} of {name!r} "
                f"{'is not a number' if one else 'are not numbers'}, such as "
                f"{str(strays[0])!r}. Fix {'it' if one else 'them'}, or leave unknown "
                f"cells blank."
            )
    parts = zip(*(read[part].values for part in PARTS), strict=True)
    ends = [
        None if row is None else _as_ends(label, low, high, settings, number)
        for row, number, (label, low, high) in zip(labels, numbers, parts, strict=True)
    ]
    known = [each for each in ends if each is not None]
    if not known:
        names = " or ".join(map(repr, settings.ends))
        raise LabelError(
            f"No row has a number in {settings.target!r} or an end in {names}: all "
            f"ends are open. At least two rows need one."
        )
    if len(set(known)) < 2:
        raise LabelError(
            f"Every row with a label has the ends {known[0]}; at least two different "
            f"ones are needed."
        )
    style = next((each.style for each in read.values() if each.style), None)
    return CheckedLabels("numbers", ends, style=style)


def _as_ends(
    label: float | None,
    low: float | None,
    high: float | None,
    settings: Settings,
    row: int,
) -> Ends | None:
    """Return what is known about a row, or raise an error if it is contradictory."""
    bottom, top = -math.inf if low is None else low, math.inf if high is None else high
    if bottom > top:
        raise LabelError(
            f"{settings.low!r} is above {settings.high!r} in row {row}: {bottom:g} and "
            f"{top:g}. Swap them, or check the columns."
        )
    if label is None:
        is_blank = bottom == -math.inf and top == math.inf
        return None if is_blank else Ends(bottom, top)
    if not bottom <= label <= top:
        raise LabelError(
            f"Row {row} has {label:g} in {settings.target!r}, which is not between its "
            f"ends {bottom:g} and {top:g}. Correct one of them."
        )
    return Ends(label, label)


def read_ends(column: pa.StructArray, style: NumberStyle | None) -> list[Ends | None]:
    """Return the ends of rows, None for a blank; an end that is no number is open.

    The column is that of `GivenIntervals`; its numbers are written in `style`.
    """
    parts = (read_numbers(column.field(part), style or PLAIN)[0] for part in PARTS)
    label, low, high = parts
    exact = np.isfinite(label)
    bottom = np.where(exact, label, np.where(np.isnan(low), -np.inf, low))
    top = np.where(exact, label, np.where(np.isnan(high), np.inf, high))
    known = (np.isfinite(bottom) | np.isfinite(top)) & (bottom <= top)
    ends = zip(bottom.tolist(), top.tolist(), known, strict=True)
    return [Ends(low, high) if is_known else None for low, high, is_known in ends]


def _is_infinite(column: Any, sign: int) -> NDArray[np.bool_]:
    """Return where an end is written as infinite, below (-1) or above (1)."""
    if is_text(column.type):
        text = pc.utf8_lower(pc.utf8_trim_whitespace(column.cast(pa.large_string())))
        words = ["-inf", "-infinity"] if sign < 0 else ["inf", "+inf", "infinity"]
        return _as_mask(pc.is_in(text, pa.array(words, text.type)))
    if pa.types.is_floating(column.type):
        return _as_mask(pc.equal(column, sign * math.inf))
    return np.zeros(len(column), dtype=bool)


def _as_mask(found: pa.Array) -> NDArray[np.bool_]:
    mask = found.fill_null(False).to_numpy(zero_copy_only=False)
    return np.asarray(mask, dtype=bool)
