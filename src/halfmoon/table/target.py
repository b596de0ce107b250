"""The labels of a target: classes or numbers, and whether they can be learned from.

======================  ==========================================================
labels are              if
======================  ==========================================================
numbers                 nine in ten read as finite numbers, however they are written
                        (`number_style.py`) and words that mean a blank aside, and
                        of these either some are not whole, or there are more than 20
                        different ones, or more than 7 different ones in every 10
                        that are not all from 0 to 10
classes                 otherwise: text, truth values, a few whole numbers
======================  ==========================================================

"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from halfmoon.table.blanks import looks_blank
from halfmoon.table.errors import LabelError
from halfmoon.table.label_numbers import read_label_numbers
from halfmoon.table.number_style import NumberStyle

__all__ = [
    "Kind",
    "as_targets",
    "check_counts",
    "check_labels",
    "least_label",
    "target_kind",
]

Kind = Literal["classes", "numbers"]

FEW_NUMBERS = 20  # different whole numbers that may be classes
MOSTLY_DIFFERENT = 0.7  # of the labels: then they are no classes
CODES = (0, 10)  # between these, whole numbers may be classes however few they are
MOST_CLASSES = 200
LARGEST = 1e100  # label of a size that can be squared and summed
SHOWN = 40  # characters of a value in an error
AMOUNTS = 20  # labels from which, if none is below 0, no other is taken to be


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
    read = read_label_numbers(known)
    if not read.nearly_all:
        return "classes"
    numbers = np.array([value for value in read.values if value is not None])
    different = np.unique(numbers).size
    if (numbers != np.round(numbers)).any() or different > FEW_NUMBERS:
        return "numbers"
    codes = CODES[0] <= numbers.min() and numbers.max() <= CODES[1]
    if len(numbers) > 2 and different > MOSTLY_DIFFERENT * len(numbers) and not codes:
        return "numbers"
    return "classes"


def check_counts(
    name: str, labeled: int, rows: int, labels: Sequence[Any] = ()
) -> None:
    """Raise an error where every row has a label, or where too few have one.

    Parameters
    ----------
    name : str
        Of the target.
    labeled, rows : int
        Rows with a label, and all rows.
    labels : sequence
        Some of the labels, among which words for a blank are looked for.
    """
    if labeled == rows:
        marks = sorted({str(label).strip() for label in labels if looks_blank(label)})
        what = (
            f"{' and '.join(map(_shown, marks[:3]))} look{'s' * (len(marks) == 1)} "
            f"like a blank: name it"
            if marks
            else "If a value stands for a blank, name it"
        )
        raise LabelError(
            f"Every row of {name!r} has a label: there is nothing to fill. {what} as "
            f"unlabeled ({' '.join(['--unlabeled', *map(shlex.quote, marks[:3])])})."
        )
    _refuse_too_few(name, labeled)


def _refuse_too_few(name: str, labeled: int) -> None:
    if labeled < 2:
        some = "No row" if labeled == 0 else "Only 1 row"
        raise LabelError(
            f"{some} of {name!r} has a label; at least two different ones are needed "
            f"to learn from. If a class is called NA or None, turn these words into "
            f"labels: unlabeled='' (--unlabeled '')."
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


def as_targets(y: Sequence[Any], kind: Kind) -> NDArray[Any]:
    """Labels as an estimator takes them: NaN or None where there is none."""
    if kind == "numbers":
        return np.array([np.nan if label is None else label for label in y])
    targets = np.empty(len(y), dtype=object)
    targets[:] = y
    return targets


def least_label(y: Sequence[float], style: NumberStyle | None) -> float:
    """The least that a label can be: 0 if all are amounts, which are above 0."""
    money = style is not None and bool(style.prefix or style.thousands)
    return 0.0 if min(y) > 0 and (money or len(y) >= AMOUNTS) else -np.inf


def _checked_numbers(name: str, labels: Sequence[Any]) -> list[float | None]:
    numbers, _, strange, _ = read_label_numbers(labels)
    if strange:
        raise LabelError(
            f"{_many(len(strange), 'label')} of {name!r} "
            f"{'is not a number' if len(strange) == 1 else 'are not numbers'}, such "
            f"as {_shown(strange[0])}. Fix them, name them as unlabeled (--unlabeled), "
            f"or take all labels as classes (--task classes)."
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
            f"{spread:.3g}, which is too extreme to compute with. Change their unit, "
            f"so that they are between {1 / LARGEST:g} and {LARGEST:g} in size, or "
            f"name what is not a label as unlabeled (--unlabeled)."
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
        why = (
            f"at most {MOST_CLASSES} can be learned"
            if len(counts) > MOST_CLASSES
            else "hardly any value repeats"
        )
        numbers = not read_label_numbers(counts).strays
        advice = (
            "If they are amounts, take them as numbers (--task numbers)"
            if numbers
            else "Choose a target whose values repeat"
        )
        raise LabelError(
            f"{name!r} has {len(counts):,} different values in {known:,} labels, so "
            f"they are not classes: {why}. {advice}."
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


def _shown(value: Any) -> str:
    text = str(value)
    return repr(text if len(text) <= SHOWN else text[: SHOWN - 3] + "...")


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"
