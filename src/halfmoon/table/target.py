"""The target of a table: which of its cells are blank, and what the others are.

======================  ==========================================================
labels are              if
======================  ==========================================================
numbers                 all read as finite numbers, and either some are not whole,
                        or there are more than 20 different ones, or more than 7
                        different ones in every 10 that are not all from 0 to 10
classes                 otherwise: text, truth values, a few whole numbers
======================  ==========================================================

"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from halfmoon.table.errors import LabelError
from halfmoon.table.reading import as_column, is_text

__all__ = [
    "BLANK_TEXTS",
    "Blanks",
    "Kind",
    "check_counts",
    "check_labels",
    "target_kind",
]

Kind = Literal["classes", "numbers"]

#: Texts that count as blank in a target, in any mixture of upper and lower case.
BLANK_TEXTS = ("", "na", "n/a", "nan", "null", "none", "<na>")

FEW_NUMBERS = 20  # different whole numbers that may be classes
MOSTLY_DIFFERENT = 0.7  # of the labels: then they are no classes
CODES = (0, 10)  # between these, whole numbers may be classes however few they are
MOST_CLASSES = 200
LARGEST = 1e100  # label of a size that can be squared and summed
SHOWN = 40  # characters of a value in an error


@dataclass
class Blanks:
    """Which cells of a target are blank.

    Parameters
    ----------
    unlabeled : str or None
        A text that marks a blank; then only it and cells with nothing in them are
        blank, so that a class may be called "None". A number marks every cell with
        that number, however it is written: -1 is also "-1.0". None takes what usually
        stands for nothing: an empty cell, NaN, NA, N/A, null, None, <NA>.

    Attributes
    ----------
    counts : dict
        How many blanks of each marker were seen, by the text of the marker.

    Examples
    --------
    >>> blanks = Blanks()
    >>> blanks.mask(pa.array(["cat", "", "NA", "dog"]))
    array([False,  True,  True, False])
    >>> blanks.counts
    {'': 1, 'NA': 1}
    """

    unlabeled: str | None = None
    counts: dict[str, int] = field(default_factory=dict)

    def mask(self, column: Any) -> NDArray[np.bool_]:
        """Where a column is blank, shape (n,); its blanks are counted.

        Parameters
        ----------
        column : pyarrow.Array or ChunkedArray
            Text or of any other type.
        """
        array = as_column(column)
        if is_text(array.type):
            blank, counts = self._in_text(array)
        else:
            blank, counts = self._in_values(array)
        for text, count in counts.items():
            if count:
                self.counts[text] = self.counts.get(text, 0) + int(count)
        return blank

    def describe(self) -> str:
        """What was blank, for a person to read.

        Examples
        --------
        >>> Blanks(counts={"": 1200, "NA": 3}).describe()
        'empty (1,200 rows), "NA" (3 rows)'
        """
        parts = []
        for text, count in sorted(self.counts.items(), key=lambda each: -each[1]):
            name = f'"{text}"' if text else "empty"
            parts.append(f"{name} ({count:,} row{'s' * (count != 1)})")
        return ", ".join(parts)

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
        value = value.strip()
        if self.unlabeled is None:
            return value.lower() in BLANK_TEXTS
        if value in ("", self.unlabeled.strip()):
            return True
        number = _number(self.unlabeled)
        return not math.isnan(number) and _number(value) == number

    def _in_values(self, array: pa.Array) -> tuple[NDArray[np.bool_], Counter[str]]:
        blank = np.array(array.is_null().to_numpy(zero_copy_only=False))
        counts = Counter({"": int(blank.sum())})
        if pa.types.is_floating(array.type):
            nan = pc.is_nan(array).fill_null(False).to_numpy(zero_copy_only=False)
            blank |= nan
            counts["NaN"] = int(nan.sum())
        if self.unlabeled:
            marked = np.array([self._is_mark(value) for value in array.to_pylist()])
            counts[self.unlabeled] += int((marked & ~blank).sum())
            blank = blank | marked
        return blank, counts

    def _is_mark(self, value: Any) -> bool:
        mark = str(self.unlabeled).strip()
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return str(value).strip().lower() == mark.lower()
        return value == _number(mark)


def target_kind(labels: Iterable[Any]) -> Kind:
    """Whether labels are classes or numbers; see the table above.

    Parameters
    ----------
    labels : iterable
        Text or values of any type; None where there is none.

    Examples
    --------
    >>> target_kind(["3", "5", "3", "8", "5", "3"]), target_kind(["2.5", "4", "7"])
    ('classes', 'numbers')
    """
    known = [label for label in labels if label is not None]
    if not known or any(isinstance(label, bool) for label in known):
        return "classes"
    numbers = np.array([_number(label) for label in known])
    if not np.isfinite(numbers).all():
        return "classes"
    different = np.unique(numbers).size
    if (numbers != np.round(numbers)).any() or different > FEW_NUMBERS:
        return "numbers"
    codes = CODES[0] <= numbers.min() and numbers.max() <= CODES[1]
    if len(known) > 2 and different > MOSTLY_DIFFERENT * len(known) and not codes:
        return "numbers"
    return "classes"


def check_counts(name: str, labeled: int, rows: int) -> None:
    """Raise an error where every row has a label, or where too few have one.

    Parameters
    ----------
    name : str
        Of the target.
    labeled, rows : int
        Rows with a label, and all rows.
    """
    if labeled == rows:
        raise LabelError(
            f"Every row of {name!r} has a label: there is nothing to fill. If some "
            f"cells hold a value that stands for no label, name it with --unlabeled."
        )
    _refuse_too_few(name, labeled)


def _refuse_too_few(name: str, labeled: int) -> None:
    if labeled < 2:
        some = "No row" if labeled == 0 else "Only 1 row"
        raise LabelError(
            f"{some} of {name!r} has a label; at least two different ones are needed "
            f"to learn from. If the labels look like blanks (NA, None), say what a "
            f"blank is with --unlabeled."
        )


def check_labels(name: str, labels: Sequence[Any], kind: Kind) -> list[Any]:
    """Labels as they are to be learned, None where a cell is blank; or an error.

    Classes keep the text or value that they had, without blanks before and after it:
    " cat" is "cat", but "1" and "1.0" are two classes. Numbers are floats.

    Parameters
    ----------
    name : str
        Of the target.
    labels : sequence
        None where a cell is blank.
    kind : "classes" or "numbers"
    """
    known = sum(label is not None for label in labels)
    _refuse_too_few(name, known)
    if kind == "numbers":
        return _checked_numbers(name, labels)
    return _checked_classes(name, labels, known)


def _checked_numbers(name: str, labels: Sequence[Any]) -> list[float | None]:
    numbers = [None if label is None else _number(label) for label in labels]
    pairs = zip(labels, numbers, strict=True)
    strange = [label for label, x in pairs if x is not None and not math.isfinite(x)]
    if strange:
        raise LabelError(
            f"{_many(len(strange), 'label')} of {name!r} "
            f"{'is' if len(strange) == 1 else 'are'} no finite number, such as "
            f"{_shown(strange[0])}. Mend them, mark them as blank with --unlabeled, or "
            f"take the labels as classes with --task classes."
        )
    different = {x for x in numbers if x is not None}
    if len(different) < 2:
        raise LabelError(
            f"Every label of {name!r} is {different.pop():g}; at least two different "
            f"numbers are needed to learn from."
        )
    largest, spread = max(map(abs, different)), max(different) - min(different)
    if largest > LARGEST or spread < 1 / LARGEST:
        raise LabelError(
            f"The labels of {name!r} reach {largest:.3g} in size and differ by "
            f"{spread:.3g}; their squares are no numbers to compute with. Bring them "
            f"to a size between {1 / LARGEST:g} and {LARGEST:g}, or mark what is no "
            f"label as blank with --unlabeled."
        )
    return numbers


def _checked_classes(name: str, labels: Sequence[Any], known: int) -> list[Any]:
    classes = [
        label.strip() if isinstance(label, str) else _plain(label) for label in labels
    ]
    counts = Counter(label for label in classes if label is not None)
    if len(counts) < 2:
        raise LabelError(
            f"Every label of {name!r} is {_shown(next(iter(counts)))}; labels of at "
            f"least two classes are needed. Label some rows of another class."
        )
    repeated = sum(count > 1 for count in counts.values())
    if len(counts) > MOST_CLASSES or (len(counts) > 20 and repeated < 2):
        numbers = np.isfinite([_number(label) for label in counts]).all()
        advice = (
            "use --task numbers if they are amounts"
            if numbers
            else "choose a target whose values repeat"
        )
        raise LabelError(
            f"{name!r} has {len(counts):,} different values in {known:,} labels; that "
            f"is no set of classes (at most {MOST_CLASSES}): {advice}."
        )
    kinds = {type(label) for label in counts}
    if len(kinds) > 1 and not kinds <= {int, float}:
        return [None if label is None else str(label) for label in classes]
    return classes


def _plain(value: Any) -> Any:
    """A value of Python rather than of NumPy."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    return value.item() if isinstance(value, np.generic) else str(value)


def _number(value: Any) -> float:
    """A value, or text, as a number; NaN if it is none."""
    if isinstance(value, str):
        value = value.strip()
        if "_" in value:  # Python reads 1_000 as a number
            return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _shown(value: Any) -> str:
    text = str(value)
    return repr(text if len(text) <= SHOWN else text[: SHOWN - 3] + "...")


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"
