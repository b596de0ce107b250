"""Labels known in part: sets of candidates in a cell, or ends in two columns.

==================  ==================================================================
asked for           a label is
==================  ==================================================================
``sets="|"``        the candidates in its cell, as in "cat|dog"; one is a plain label
``low``, ``high``   the number in the target, or else anywhere between the two ends,
                    of which either may be blank or infinite
==================  ==================================================================

A set of all classes, and a row without a number and without ends, are blanks.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa

from halfmoon.report.findings import Note
from halfmoon.report.wording import count
from halfmoon.table.blanks import as_number
from halfmoon.table.errors import LabelError
from halfmoon.table.label_checks import CheckedLabels, merged_labels, spelling_notes
from halfmoon.table.label_numbers import read_label_numbers
from halfmoon.table.number_style import PLAIN, NumberStyle
from halfmoon.table.reading import read_numbers
from halfmoon.table.settings import Settings
from halfmoon.table.target import check_labels

__all__ = [
    "Candidates",
    "Ends",
    "WeakLabel",
    "checked_ends",
    "checked_sets",
    "read_ends",
    "split_sets",
]

LABEL, LOW, HIGH = "label", "low", "high"  # fields of a label with ends


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
        """The class, if there is one alone."""
        return self.classes[0] if len(self.classes) == 1 else None

    def __str__(self) -> str:
        return " or ".join(self.classes)


@dataclass(frozen=True)
class Ends:
    """Numbers between which the true one lies, infinite where an end is open."""

    low: float
    high: float

    @property
    def exact(self) -> float | None:
        """The number, if both ends are it."""
        return self.low if self.low == self.high else None

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}"


WeakLabel: TypeAlias = Candidates | Ends


def split_sets(labels: Sequence[Any], separator: str) -> list[tuple[str, ...] | None]:
    """The candidates in each cell, each once; None where it is blank.

    Examples
    --------
    >>> split_sets(["cat | dog", "cat", None, "|"], "|")
    [('cat', 'dog'), ('cat',), None, ()]
    """
    return [
        None
        if label is None
        else tuple(
            dict.fromkeys(
                part.strip() for part in str(label).split(separator) if part.strip()
            )
        )
        for label in labels
    ]


def checked_sets(labels: Sequence[Any], settings: Settings) -> CheckedLabels:
    """Sets of candidates as they are to be learned, or an error.

    Parameters
    ----------
    labels : sequence
        Cells; None where one is blank.
    settings : Settings
        With `sets`.
    """
    name, separator = settings.target, str(settings.sets)
    cells = split_sets(labels, separator)
    empty = [str(labels[i]) for i, cell in enumerate(cells) if cell == ()]
    if empty:
        one = len(empty) == 1
        raise LabelError(
            f"{count(len(empty), 'cell')} of {name!r} {'holds' if one else 'hold'} a "
            f"set without a class, such as {empty[0]!r}. Name at least one candidate, "
            f"or leave {'the cell' if one else 'these cells'} blank."
        )
    flat = [member for cell in cells if cell is not None for member in cell]
    spellings = spelling_notes(flat, merged=settings.merge_labels)
    if settings.merge_labels:
        new = dict(zip(flat, merged_labels(flat), strict=True))
        cells = [
            None if cell is None else tuple(dict.fromkeys(new[x] for x in cell))
            for cell in cells
        ]
    classes = {x for x in check_labels(name, flat or labels, "classes") if x}
    sets = [
        None if cell is None or set(cell) == classes else Candidates(cell)
        for cell in cells
    ]
    if not any(sets):
        raise LabelError(
            f"Every set of {name!r} holds all {len(classes)} classes, so nothing is "
            f"known of any row. Name the candidates of at least two rows."
        )
    notes = [*spellings, *_set_notes(name, cells, sets, separator)]
    return CheckedLabels("classes", sets, notes=tuple(notes))


def _set_notes(
    name: str,
    cells: Sequence[tuple[str, ...] | None],
    sets: Sequence[Candidates | None],
    separator: str,
) -> Iterator[Note]:
    known = [each for each in sets if each is not None]
    several = sum(each.exact is None for each in known)
    if not several:
        yield Note(
            f"No cell of {name!r} holds several candidates with {separator!r} between "
            f"them: all labels are plain ones.",
            "Leave --sets out, or check the sign between the candidates.",
            important=True,
        )
    full = sum(cell is not None for cell in cells) - len(known)
    if full:
        yield Note(
            f"{count(full, 'set')} of {name!r} "
            f"{'holds' if full == 1 else 'hold'} all classes, which is what a blank "
            f"says: {'it was' if full == 1 else 'they were'} filled like blanks."
        )
    times = Counter(member for each in known for member in each.classes)
    commonest, most = times.most_common(1)[0]
    if most == len(known):
        yield Note(
            f"{commonest!r} is among the candidates of every row, so it explains all "
            f"of them and may be predicted everywhere.",
            "Label some rows that are of another class.",
            important=True,
        )


def checked_ends(
    labels: Sequence[dict[str, Any] | None],
    settings: Settings,
    numbers: Sequence[int],
) -> CheckedLabels:
    """Ends as they are to be learned, or an error.

    Parameters
    ----------
    labels : sequence of dict or None
        Cells of the target and of its ends, as `GivenIntervals` gives them.
    settings : Settings
        With `low` or `high`.
    numbers : sequence of int
        Of the rows, as a spreadsheet shows them.
    """
    columns = {LABEL: settings.target, LOW: settings.low, HIGH: settings.high}
    cells = {
        part: [None if row is None else row[part] for row in labels] for part in columns
    }
    for part, wrong in ((LOW, math.inf), (HIGH, -math.inf)):
        for row, cell in zip(numbers, cells[part], strict=True):
            if cell is not None and as_number(cell) == wrong:
                raise LabelError(
                    f"Row {row} has {cell} in {columns[part]!r}, beyond which no "
                    f"number lies. For an open end leave the cell blank."
                )
        cells[part] = [None if _is_open(cell) else cell for cell in cells[part]]
    read = {part: read_label_numbers(values) for part, values in cells.items()}
    for part, name in columns.items():
        strays = read[part].strays
        if strays:
            one = len(strays) == 1
            raise LabelError(
                f"{count(len(strays), 'cell')} of {name!r} "
                f"{'is not a number' if one else 'are not numbers'}, such as "
                f"{str(strays[0])!r}. Fix {'it' if one else 'them'}, or leave blank "
                f"what is not known."
            )
    ends: list[Ends | None] = []
    for i, known_cells in enumerate(labels):
        if known_cells is None:
            ends.append(None)
            continue
        label, low, high = (read[part].values[i] for part in (LABEL, LOW, HIGH))
        ends.append(_as_ends(label, low, high, settings, numbers[i]))
    known = [each for each in ends if each is not None]
    if not known:
        raise LabelError(
            f"No row has a number in {settings.target!r} or an end in "
            f"{_columns_of_ends(settings)}: all ends are open. At least two rows need "
            f"one."
        )
    if len({(each.low, each.high) for each in known}) < 2:
        raise LabelError(
            f"Every row of which something is known has the ends {known[0]}; at least "
            f"two different ones are needed to learn from."
        )
    styles = [read[part].style for part in (LABEL, LOW, HIGH)]
    style = next((each for each in styles if each is not None), None)
    return CheckedLabels("numbers", ends, style=style)


def _as_ends(
    label: float | None,
    low: float | None,
    high: float | None,
    settings: Settings,
    row: int,
) -> Ends | None:
    """What is known of a row; an error where it contradicts itself."""
    bottom, top = -math.inf if low is None else low, math.inf if high is None else high
    if bottom > top:
        raise LabelError(
            f"{settings.low!r} is above {settings.high!r} in row {row}: {bottom:g} and "
            f"{top:g}. Swap them, or check the columns."
        )
    if label is not None and not bottom <= label <= top:
        raise LabelError(
            f"Row {row} has {label:g} in {settings.target!r} and the ends {bottom:g} "
            f"to {top:g}, which do not hold it. Correct one of them."
        )
    if label is not None:
        return Ends(label, label)
    return None if bottom == -math.inf and top == math.inf else Ends(bottom, top)


def read_ends(column: pa.StructArray, style: NumberStyle | None) -> list[Ends | None]:
    """The ends of some rows, None where nothing is known; what is no number is open.

    Parameters
    ----------
    column : pyarrow.StructArray
        As `GivenIntervals` gives it.
    style : NumberStyle or None
        How numbers are written.
    """
    parts = [
        read_numbers(column.field(part), style or PLAIN)[0]
        for part in (LABEL, LOW, HIGH)
    ]
    found: list[Ends | None] = []
    for label, low, high in zip(*(part.tolist() for part in parts), strict=True):
        if math.isfinite(label):
            found.append(Ends(label, label))
            continue
        bottom = -math.inf if math.isnan(low) else low
        top = math.inf if math.isnan(high) else high
        either = math.isfinite(bottom) or math.isfinite(top)
        found.append(Ends(bottom, top) if either and bottom <= top else None)
    return found


def _is_open(cell: Any) -> bool:
    return cell is None or math.isinf(as_number(cell))


def _columns_of_ends(settings: Settings) -> str:
    return " or ".join(repr(name) for name in (settings.low, settings.high) if name)
