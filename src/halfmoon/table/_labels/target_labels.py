"""The labels of a target: classes or numbers, and whether they can be learned from.

Labels are numbers if nine in ten of them are finite numbers in any style of writing
(`_cells/number_style.py`), not counting words for a blank, and if

- some of them are not whole, or
- more than 20 of them are different, or more than 10 and some are above 20, or
- more than 7 in 10 are different and they are not all from 0 to 10.

All other labels are classes: text, truth values, a few whole numbers, and codes such
as 01099. So are plain whole numbers from 1000 that occur several times each and are far
apart, such as postal codes, unless they are round or equally spaced, as prices are.
Dates, times, ranges and the like are no classes if more than 20 of them, and
more than half, are different.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from halfmoon._number_format import count
from halfmoon._rows import Array
from halfmoon.table._cells.cell_values import (
    as_number,
    looks_blank,
    read_numbers,
    without_missing,
    without_repeated_words,
    without_words,
)
from halfmoon.table._cells.compound_numbers import find_form
from halfmoon.table._cells.date_formats import find_date_format, find_time_format
from halfmoon.table._cells.number_detection import are_codes, number_style
from halfmoon.table._cells.number_style import PLAIN, NumberStyle
from halfmoon.table._cells.several_values import find_pattern
from halfmoon.table._parameter_text import argument
from halfmoon.table._table_errors import LabelError

__all__ = [
    "FEW_NUMBERS",
    "MAX_NOTE_VALUES",
    "Kind",
    "LabelNumbers",
    "advice_on_amounts",
    "as_targets",
    "quoted",
    "read_label_numbers",
    "refuse_mixture",
    "refuse_no_blanks",
    "target_kind",
    "valid_labels",
]

Kind = Literal["classes", "numbers"]

FEW_NUMBERS = 20  # different whole numbers that may be classes
MOSTLY_DIFFERENT = 0.7  # share of different labels above which they are no classes
CODES = (0, 10)  # whole numbers in this range may be classes even if all differ
MAX_CLASSES = 200
SMALLEST_CODE, LARGEST_CODE = 1e3, 1e15  # of whole numbers that are codes
MIN_REPEATS = 3.0  # mean number of labels with the same code
CODE_GAP = 50  # mean distance of codes
LARGEST = 1e100  # a label of this size can still be squared and summed
MAX_NOTE_VALUES = 3  # labels, or groups of them, that a note shows
SHOWN_CHARACTERS = 40  # of a value in a message
MAX_STRAYS = 3  # different labels that are named in a message
MIN_REPEATED = 0.1  # share of the labels of many classes that are not alone in theirs
MIXTURE = 0.5  # share of numbers among labels that makes a mixture
MIXTURE_NUMBERS = 10  # different numbers in a mixture

LIMIT = re.compile(r"[<>≤≥]=? ?[^\W\d_]{0,3} ?[0-9].*")  # such as <0.5

STRAYS = 0.1  # share of labels that may be words among numbers


def target_kind(labels: Iterable[Any]) -> Kind:
    """Return whether labels, None for a blank, are classes or numbers; see above.

    Examples
    --------
    >>> target_kind(["3", "5", "3", "8", "5", "3"]), target_kind(["2.5", "4", "7"])
    ('classes', 'numbers')
    """
    known = [label for label in labels if label is not None]
    if not known or any(isinstance(label, bool) for label in known):
        return "classes"
    read = read_label_numbers(known)
    texts = pa.array([label for label in known if isinstance(label, str)], pa.string())
    if not read.nearly_all or (len(texts) == len(known) and are_codes(texts)):
        return "classes"
    numbers = np.array([value for value in read.values if value is not None])
    different = np.unique(numbers).size
    # 4.87B has decimals, though it is whole.
    letters = read.style is not None and read.style.letters and read.style.digits
    if _may_be_codes(numbers, read.style):
        return "classes"
    # Ages and years, but not the numbers of 12 departments.
    many = different > (FEW_NUMBERS if numbers.max() <= FEW_NUMBERS else CODES[1])
    if letters or (numbers != np.round(numbers)).any() or many:
        return "numbers"
    codes = CODES[0] <= numbers.min() and numbers.max() <= CODES[1]
    if len(numbers) > 2 and different > MOSTLY_DIFFERENT * len(numbers) and not codes:
        return "numbers"
    return "classes"


def _may_be_codes(numbers: Array, style: NumberStyle | None) -> bool:
    """Whether numbers are repeated codes, such as postal codes; see above."""
    values = np.unique(numbers)
    if (
        len(values) * MIN_REPEATS > len(numbers)
        or not SMALLEST_CODE <= values[0] <= values[-1] <= LARGEST_CODE
        or (values != np.round(values)).any()
        or (style is not None and style != PLAIN)
    ):
        return False
    gaps = np.diff(values).astype(np.int64)
    far = len(gaps) > 0 and gaps.sum() > CODE_GAP * len(gaps)
    return bool(far and np.gcd.reduce(gaps) == 1)


def refuse_mixture(name: str, labels: Sequence[Any]) -> None:
    """Raise an error if labels are partly amounts and partly something else."""
    read = read_label_numbers(labels)
    numbers = [value for value in read.values if value is not None]
    different = len(set(numbers))
    _refuse_limits(name, read, different)
    if (
        not read.strays
        or len(numbers) < MIXTURE * (len(numbers) + len(read.strays))
        or different < max(MIXTURE_NUMBERS, MIXTURE * len(numbers))
    ):
        return
    strays = list(dict.fromkeys(str(stray).strip() for stray in read.strays))
    shown = ", ".join(map(quoted, strays[:MAX_STRAYS]))
    raise LabelError(
        f"{count(len(numbers), 'label')} of {name!r} are numbers, but "
        f"{count(len(read.strays), 'label')} are not, such as {shown}. To learn from "
        f"the numbers and fill the others, {_as_blanks(strays)}. If all of them are "
        f"classes, use `task='classes'`."
    )


def _as_blanks(texts: list[str]) -> str:
    """Return how to have cells with these texts filled."""
    if len(texts) > MAX_STRAYS:
        return "name them in `unlabeled`"
    return f"use `{argument('unlabeled', texts)}`"


def _refuse_limits(name: str, read: LabelNumbers, different: int) -> None:
    """Raise an error if all labels that are no numbers are limits of numbers."""
    limits = list(dict.fromkeys(str(stray).strip() for stray in read.strays))
    if (
        read.nearly_all
        or different < MIXTURE_NUMBERS
        or not all(map(LIMIT.fullmatch, limits))
    ):
        return
    parameter = "high" if "<" in limits[0] or "≤" in limits[0] else "low"
    raise LabelError(
        f"{count(len(read.strays), 'label')} of {name!r} "
        f"{'is' if len(read.strays) == 1 else 'are'} only limits, such as "
        f"{quoted(limits[0])}, and the others are numbers. Move the limits, as numbers "
        f"without the sign, to a column of their own, and name it: "
        f"`{parameter}='COLUMN'`. To fill these cells instead, {_as_blanks(limits)}."
    )


def refuse_no_blanks(name: str, labels: Sequence[Any]) -> None:
    """Raise the error that every row has a label; some may be words for a blank."""
    words = sorted({str(label).strip() for label in labels if looks_blank(label)})[:3]
    advice = "If a value stands for a blank, name it in `unlabeled`."
    for common, n in Counter(str(each).strip() for each in labels).most_common(1):
        if n > MIXTURE * len(labels):
            advice = (
                f"If {quoted(common)}, which most rows have, stands for a blank, use "
                f"`{argument('unlabeled', [common])}`."
            )
    if words:
        looks = "looks" if len(words) == 1 else "look"
        advice = (
            f"{' and '.join(map(quoted, words))} {looks} like a blank: use "
            f"`{argument('unlabeled', words)}`."
        )
    raise LabelError(
        f"Every row of {name!r} has a label: there is nothing to fill. {advice}"
    )


def valid_labels(name: str, labels: Sequence[Any], kind: Kind) -> list[Any]:
    """Return labels as they are learned from, None for a blank, or raise an error.

    Classes keep their text or value, without spaces around it: " cat" is "cat", but
    "1" and "1.0" are two classes. Numbers become floats.
    """
    known = sum(label is not None for label in labels)
    if known < 2:
        some = "No row" if known == 0 else "Only 1 row"
        raise LabelError(
            f"{some} of {name!r} has a label; at least two different labels are "
            f"needed. If a class is called NA or None, turn these words into labels: "
            f"`unlabeled=''`."
        )
    if kind == "numbers":
        return _checked_numbers(name, labels)
    return _checked_classes(name, labels)


def as_targets(y: Sequence[Any], kind: Kind) -> NDArray[Any]:
    """Return labels as an array for an estimator: NaN or None for a blank."""
    if kind == "numbers":
        return np.array([np.nan if label is None else label for label in y])
    targets = np.empty(len(y), dtype=object)
    targets[:] = y
    return targets


def quoted(value: Any) -> str:
    """Return a value in quotes, shortened if it is long."""
    text = str(value)
    if len(text) > SHOWN_CHARACTERS:
        text = text[: SHOWN_CHARACTERS - 3] + "..."
    return repr(text)


def _checked_numbers(name: str, labels: Sequence[Any]) -> list[float | None]:
    numbers, _, strays, _ = read_label_numbers(labels)
    if strays:
        raise LabelError(
            f"{count(len(strays), 'label')} of {name!r} "
            f"{'is not a number' if len(strays) == 1 else 'are not numbers'}, such "
            f"as {quoted(strays[0])}. Fix them, name them in `unlabeled`, or take all "
            f"labels as classes: `task='classes'`."
        )
    different = {x for x in numbers if x is not None}
    if len(different) < 2:
        raise LabelError(
            f"Every label of {name!r} is {different.pop():g}; at least two different "
            f"numbers are needed."
        )
    largest, spread = max(map(abs, different)), max(different) - min(different)
    if largest > LARGEST or spread < 1 / LARGEST:
        raise LabelError(
            f"The labels of {name!r} reach {largest:.3g} in size and differ by "
            f"{spread:.3g}, which is too extreme to compute with. Change their unit, "
            f"so that they are between {1 / LARGEST:g} and {LARGEST:g} in size, or "
            f"name those that are not labels in `unlabeled`."
        )
    return numbers


def _checked_classes(name: str, labels: Sequence[Any]) -> list[Any]:
    classes = [
        label.strip() if isinstance(label, str) else _plain(label) for label in labels
    ]
    counts = Counter(label for label in classes if label is not None)
    if len(counts) < 2:
        raise LabelError(
            f"Every label of {name!r} is {quoted(next(iter(counts)))}; at least two "
            f"classes are needed. Label some rows of another class. If empty cells "
            f"mean another class, write its name into some of them; if it is called NA "
            f"or None, use `unlabeled=''`."
        )
    _refuse_no_classes(name, counts)
    kinds = {type(label) for label in counts}
    if len(kinds) > 1 and not kinds <= {int, float}:
        return [None if label is None else str(label) for label in classes]
    return classes


def _refuse_no_classes(name: str, counts: Counter[Any]) -> None:
    """Raise an error if labels are too many classes, or hardly any repeats."""
    several = [n for n in counts.values() if n > 1]
    repeated = len(several)
    some_repeat = repeated >= 2 and sum(several) >= MIN_REPEATED * counts.total()
    too_many = len(counts) > MAX_CLASSES
    texts = pa.array([str(label) for label in counts], pa.string())
    advice = advice_on_amounts(texts) if len(counts) > FEW_NUMBERS else ""
    amounts = advice != "" and len(counts) > MIXTURE * counts.total()
    few = len(counts) <= FEW_NUMBERS
    if not too_many and (few or (some_repeat and not amounts)):
        return
    start = (
        f"{name!r} has {len(counts):,} different values in {counts.total():,} labels"
    )
    if too_many and repeated > MIXTURE * len(counts):
        raise LabelError(
            f"{start}, but at most {MAX_CLASSES} classes are possible. Merge rare "
            f"classes, or choose a target with fewer."
        )
    why = "more than half are different" if some_repeat else "hardly any repeat"
    why = f"at most {MAX_CLASSES} are possible" if too_many else why
    advice = advice or "Choose a target whose values repeat."
    raise LabelError(f"{start}, so they are not classes: {why}. {advice}")


def advice_on_amounts(texts: pa.Array) -> str:
    """Return what to do with labels that are amounts; empty if they are not."""
    if not read_label_numbers(texts.to_pylist()).strays:
        return "If they are amounts, use `task='numbers'`."
    if find_date_format(texts, STRAYS):
        return "Dates cannot be filled: turn them into numbers, such as days."
    if number_style(texts, STRAYS, inexact=True):
        return (
            "If they are amounts, write all of them in one unit or currency, without "
            "other signs."
        )
    if (
        find_time_format(texts, STRAYS)
        or find_form(texts, STRAYS)
        or find_pattern(texts, STRAYS)
    ):
        return (
            "Choose a target whose values repeat; or if they are amounts, write each "
            "as one number, without other signs."
        )
    return ""


def _plain(value: Any) -> Any:
    """Return a value of NumPy as one of Python."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    return value.item() if isinstance(value, np.generic) else str(value)


class LabelNumbers(NamedTuple):
    """Labels as numbers."""

    values: list[float | None]  # None for a blank, or what is not a number
    style: NumberStyle | None  # None if the labels are not text
    strays: list[Any]  # labels that are not finite numbers
    nearly_all: bool  # nine in ten are numbers, not counting words for a blank


def read_label_numbers(labels: Iterable[Any]) -> LabelNumbers:
    """Read labels as numbers; `_cells/number_style.py` says how they may be written.

    Labels are text or values of any type, None for a blank.

    Examples
    --------
    >>> read = read_label_numbers(["$1,053", None, "$986"])
    >>> read.values, read.style.describe(), read.strays
    ([1053.0, None, 986.0], 'written with $ and commas', [])
    """
    labels = list(labels)
    texts = [label if isinstance(label, str) else None for label in labels]
    text, style = pa.array(texts, pa.large_string()), None
    numbers = np.full(len(labels), math.nan)
    if text.null_count < len(text):
        cells = without_repeated_words(without_words(without_missing(text)))
        style = number_style(cells, STRAYS) or PLAIN
        numbers, _ = read_numbers(text, style)
    values: list[float | None] = []
    strays = []
    for label, number in zip(labels, numbers.tolist(), strict=True):
        value = number if isinstance(label, str) else as_number(label)
        values.append(value if math.isfinite(value) else None)
        if label is not None and not math.isfinite(value):
            strays.append(label)
    blank_words = sum(map(looks_blank, strays))
    n = sum(label is not None for label in labels) - blank_words
    n_strays = len(strays) - blank_words
    nearly_all = n_strays < n and n_strays <= STRAYS * n
    return LabelNumbers(values, style, strays, nearly_all)
