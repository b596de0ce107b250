"""Check labels before learning from them, and write notes on what looks odd.

Spellings of one class stay separate classes unless they are to be merged. Words for a
blank stay classes. A few words among numbers are ignored: not learned from, not filled.
Numbers far outside the range of the others may be typing errors. Whole numbers may be
classes. Each note says what to do.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
import pyarrow as pa

from halfmoon._notes import Note
from halfmoon._number_format import count, listed
from halfmoon._selection.target_transforms import within_limits
from halfmoon.table._cells.cell_values import INVISIBLE, as_number, looks_blank
from halfmoon.table._cells.missing_codes import missing_codes
from halfmoon.table._cells.number_style import NumberStyle
from halfmoon.table._labels.class_order import resolved_order
from halfmoon.table._labels.given_labels import Blanks
from halfmoon.table._labels.target_labels import (
    FEW_NUMBERS,
    MAX_NOTE_VALUES,
    Kind,
    advice_on_amounts,
    quoted,
    read_label_numbers,
    refuse_mixture,
    target_kind,
    valid_labels,
)
from halfmoon.table._parameter_text import argument
from halfmoon.table._run_settings import Settings

__all__ = [
    "CheckedLabels",
    "checked_labels",
    "filled_word_notes",
    "mark_notes",
    "merged_labels",
    "spelling_key",
    "spelling_notes",
]

LETTERS = {"y": "yes", "n": "no", "t": "true", "f": "false"}
QUOTES = "\"'`“”‘’«»"
MAX_SCALE = 10  # classes of a usual scale
MAX_REPEATS = 4  # mean number of labels of each amount
LIKE_THOUSANDS = re.compile(r"^[^0-9]*[1-9][0-9]{0,2}\.[0-9]{3}(?:[^0-9].*)?$")
LEADING_ZERO = re.compile(r"\s*0[0-9]")  # of a code
WHOLE_CLASSES = 3  # different whole numbers that may be a scale or amounts


@dataclass(frozen=True)
class CheckedLabels:
    """Labels to learn from."""

    kind: Kind
    labels: list[Any]  # None for a blank, and for an ignored label
    order: tuple[Any, ...] = ()  # ordered classes from low to high
    n_ignored: int = 0  # labels that are neither learned from nor filled
    n_empty: int = 0  # labels that say nothing: their rows are blanks
    notes: tuple[Note, ...] = ()
    style: NumberStyle | None = None  # of numbers in text


def checked_labels(labels: Sequence[Any], settings: Settings) -> CheckedLabels:
    """Decide what labels (text or values, None for a blank) are, and check them."""
    name, task = settings.target, settings.task
    if task is None:
        kind = target_kind(labels)
        if kind == "classes":
            refuse_mixture(name, labels)
    else:
        kind = "numbers" if task == "numbers" else "classes"
    notes: list[Note] = []
    if kind == "numbers":
        read = read_label_numbers(labels)
        strays = Counter(map(str, read.strays)) if read.nearly_all else Counter()
        if strays:
            labels = [None if str(label) in strays else label for label in labels]
            notes.append(_stray_note(name, strays))
        codes = missing_codes(np.array(read.values, dtype=float))
        coded = [value in codes for value in read.values]
        if codes:
            labels = [None if c else x for x, c in zip(labels, coded, strict=True)]
            notes.append(_code_note(name, codes, sum(coded)))
        numbers = valid_labels(name, labels, kind)
        notes += _outlying_notes(name, numbers)
        notes += _point_notes(name, labels, read.style)
        if task is None:
            notes += _whole_number_notes(name, labels, kind)
        ignored = strays.total() + sum(coded)
        return CheckedLabels(
            kind, numbers, n_ignored=ignored, notes=tuple(notes), style=read.style
        )
    notes += spelling_notes(labels, merged=settings.merge_labels)
    if settings.merge_labels:
        labels = merged_labels(labels)
    notes += _blank_word_notes(labels)
    if task is None:
        notes += _whole_number_notes(name, labels, kind)
    classes = valid_labels(name, labels, kind)
    order: tuple[Any, ...] = ()
    if task == "ordered":
        known = {label for label in classes if label is not None}
        order = resolved_order(name, known, settings.order)
        if not settings.order:
            notes += _order_notes(order)
    elif task is None:
        notes += _amount_notes(name, classes)
    return CheckedLabels(kind, classes, order, notes=tuple(notes))


def mark_notes(name: str, blanks: Blanks, labels: Iterable[Any]) -> Iterator[Note]:
    """Note marks for a blank that no cell has; suggest similar ones of the labels."""
    values = list(dict.fromkeys(str(label).strip() for label in labels if label))
    for mark in blanks.unmatched:
        parts = [part.strip() for part in mark.split(",")]
        close = [part for part in parts if part in values] if len(parts) > 1 else []
        close = close or get_close_matches(mark, values, 1, cutoff=0.5)
        close = close or [each for each in values if each.lower() == mark.lower()]
        fix = argument("unlabeled", close) if close else ""
        yield Note(
            f"No cell of {name!r} is {quoted(mark)}, which is named in `unlabeled`.",
            f"Did you mean `{fix}`?" if fix else "",
            fix,
            important=True,
        )


def filled_word_notes(name: str, blanks: Blanks, kind: Kind) -> Iterator[Note]:
    """Note words that counted as blank in a target that has empty cells as well.

    Someone who leaves a cell empty for a blank may mean a class by "none".
    """
    words = blanks.doubtful_words
    if kind != "classes" or not words or not blanks.counts[""]:
        return
    n = words.total()
    marks = [quoted(word) for word, _ in words.most_common()]
    fix = argument("unlabeled", [""])
    yield Note(
        f"{count(n, 'cell')} of {name!r} {'says' if n == 1 else 'say'} "
        f"{listed(marks)}. {'It was' if n == 1 else 'They were'} filled like an "
        f"empty cell.",
        f"If {'this' if len(marks) == 1 else 'one of these'} is a class, use `{fix}`.",
        fix,
        important=True,
    )


def spelling_key(label: str) -> str:
    """Return what spellings of one class have in common.

    Case, accents, spaces, underscores, hyphens between letters, quotation marks and a
    full stop at the end do not count, nor do zeros around a whole number, and the first
    letter stands for yes, no, true and false. Signs that distinguish classes do count,
    as in A+ and A-, or <50 and >50.

    Examples
    --------
    >>> [spelling_key(each) for each in (" New_York", "new-york", "Café.", "A+", "A-")]
    ['new york', 'new york', 'cafe', 'a+', 'a-']
    >>> spelling_key("01"), spelling_key("1.0"), spelling_key("1.10")
    ('1', '1', '1.10')
    """
    letters = unicodedata.normalize("NFD", label.strip().strip(QUOTES))
    seen = (c for c in letters if unicodedata.category(c) != "Cf")  # it has a sign
    text = "".join(c for c in seen if not unicodedata.combining(c)).casefold()
    text = re.sub(r"(?<=[^\W\d_])-(?=[^\W\d_])", " ", text)
    text = re.sub(r"[\s_]+", " ", text).strip()
    if whole := re.fullmatch(r"([0-9]++)(?:\.0*)?", text):
        return whole[1].lstrip("0") or "0"
    text = text.rstrip(".,;:!").strip() or text or label
    return LETTERS.get(text, text)


def merged_labels(labels: Sequence[Any]) -> list[Any]:
    """Return labels with each spelling replaced by the most common one of its class.

    One with an invisible character stands for the others only if all have some.
    """
    most_common = {
        spelling: _best_first(group)[0]
        for group in _spellings(labels)
        for spelling in group
    }
    return [
        most_common.get(label.strip(), label) if isinstance(label, str) else label
        for label in labels
    ]


def spelling_notes(labels: Sequence[Any], *, merged: bool) -> Iterator[Note]:
    """Note classes with several spellings."""
    spellings = _spellings(labels)
    for group in spellings[:MAX_NOTE_VALUES]:
        names = [quoted(each) for each in _best_first(group)]
        if merged:
            yield Note(f"{listed(names)} were merged into one class, {names[0]}.")
            continue
        yield Note(
            f"{listed(names)} look like one class, but were taken as {len(names)} "
            f"classes.",
            "To merge such spellings into the most common one, use "
            "`merge_labels=True`.",
            "merge_labels=True",
            important=True,
        )
    more = len(spellings) - MAX_NOTE_VALUES
    if more > 0:
        what = "were merged" if merged else "have several spellings"
        yield Note(f"{count(more, 'more class', 'more classes')} {what}.")


def _spellings(labels: Sequence[Any]) -> list[Counter[str]]:
    """Count the spellings of each class that has several."""
    groups: dict[str, Counter[str]] = {}
    for label in labels:
        if isinstance(label, str):
            text = label.strip()
            groups.setdefault(spelling_key(text), Counter())[text] += 1
    return [group for group in groups.values() if len(group) > 1]


def _best_first(group: Counter[str]) -> list[str]:
    """Return spellings, the visible and most common ones first."""
    common = [spelling for spelling, _ in group.most_common()]
    return sorted(common, key=lambda text: not set(INVISIBLE).isdisjoint(text))


def _blank_word_notes(labels: Sequence[Any]) -> Iterator[Note]:
    found = Counter(label.strip() for label in labels if looks_blank(label))
    if not found:
        return
    marks = [mark for mark, _ in found.most_common()]
    words = listed(
        [f"{quoted(mark)} ({count(found[mark], 'label')})" for mark in marks]
    )
    fix = argument("unlabeled", marks)
    yield Note(
        f"{words} looks like a blank, but was taken as a class."
        if len(marks) == 1
        else f"{words} look like blanks, but were taken as classes.",
        f"To have such cells filled, use `{fix}`.",
        fix,
        important=True,
    )


def _stray_note(name: str, strays: Counter[str]) -> Note:
    n = strays.total()
    values = [each.strip() for each in strays]
    shown = ", ".join(map(quoted, values[:MAX_NOTE_VALUES]))
    shown += ", ..." if len(values) > MAX_NOTE_VALUES else ""
    are_not = "is not a number" if n == 1 else "are not numbers"
    what = f"{count(n, 'label')} of {name!r} {are_not} ({shown})"
    return _ignored_note(
        n, what, values, " If the labels are classes, use `task='classes'`."
    )


def _code_note(name: str, codes: Sequence[float], n: int) -> Note:
    marks = [f"{code:.10g}" for code in codes]
    what = (
        f"{count(n, 'label')} of {name!r} {'is' if n == 1 else 'are'} {listed(marks)}, "
        f"far from all others, as a mark for a blank would be"
    )
    return _ignored_note(n, what, marks)


def _ignored_note(n: int, what: str, texts: Sequence[str], more: str = "") -> Note:
    """Note labels with some texts that are neither learned from nor filled."""
    it, cell = ("It was", "this cell") if n == 1 else ("They were", "these cells")
    fix = argument("unlabeled", texts)
    remedy = f"To have {cell} filled, use `{fix}`.{more}"
    return Note(f"{what}. {it} ignored and not changed.", remedy, fix, important=True)


def _outlying_notes(name: str, numbers: Sequence[float | None]) -> Iterator[Note]:
    """Note labels that are learned as the largest or smallest of the others."""
    given = np.array([x for x in numbers if x is not None])
    learned = within_limits(given[:, None])[:, 0]
    far = np.flatnonzero(given != learned)
    if len(far) == 0:
        return
    shown = [f"{given[i]:.10g}" for i in far[:MAX_NOTE_VALUES]]
    text = (
        f"{count(len(far), 'label')} of {name!r} {'is' if len(far) == 1 else 'are'} "
        f"far outside the range of the others"
        f"{': ' if len(shown) == len(far) else ', such as '}{listed(shown)}."
    )
    them, treated = (
        "them",
        "They were treated as the largest or smallest of the others.",
    )
    if len(far) == 1:
        i = int(far[0])
        end = "largest" if given[i] > learned[i] else "smallest"
        treated = f"It was treated as {learned[i]:.10g}, the {end} of the others."
        them = "it"
    remedy = f"Check {them} for typing errors."
    yield Note(f"{text} {treated}", remedy, important=True)


def _point_notes(
    name: str, labels: Sequence[Any], style: NumberStyle | None
) -> Iterator[Note]:
    """Note points that may separate thousands, and were read as decimal points."""
    decimals = style is not None and style.digits == 3 and style.decimal == "."
    if style is None or not decimals or style.thousands or style.exponent:
        return
    texts = [label for label in labels if isinstance(label, str)]
    if texts and all(map(LIKE_THOUSANDS.search, texts)):
        yield Note(
            f"The point in labels of {name!r} such as {quoted(texts[0])} was read as "
            f"that of decimals.",
            "If it separates thousands, remove it from the labels.",
        )


def _order_notes(order: Sequence[Any]) -> Iterator[Note]:
    """Say in which order the words of a scale were taken."""
    if all(map(math.isfinite, map(as_number, order))):
        return
    shown = [str(each) for each in order[:MAX_SCALE]]
    more = " < ..." if len(order) > MAX_SCALE else ""
    yield Note(
        f"The order of the classes, from low to high, was taken to be "
        f"{' < '.join(map(quoted, shown))}{more}.",
        "To change it, use `order`.",
    )


def _amount_notes(name: str, classes: Sequence[Any]) -> Iterator[Note]:
    """Note dates, durations and the like that were taken as classes."""
    counts = Counter(label for label in classes if isinstance(label, str))
    many = len(counts) > MAX_SCALE and MAX_REPEATS * len(counts) > counts.total()
    advice = advice_on_amounts(pa.array(list(counts), pa.string())) if many else ""
    if advice:
        yield Note(
            f"Labels of {name!r} such as {quoted(next(iter(counts)))} were taken as "
            f"classes, without an order.",
            advice,
            important=True,
        )


def _whole_number_notes(name: str, labels: Sequence[Any], kind: Kind) -> Iterator[Note]:
    """Note whole numbers: they may be classes, amounts or a scale."""
    known = [label for label in labels if label is not None]
    if any(isinstance(label, bool) for label in known):
        return
    if any(map(LEADING_ZERO.match, map(str, known))):
        return
    numbers = {as_number(label) for label in known}
    if len(numbers) < WHOLE_CLASSES or not all(x.is_integer() for x in numbers):
        return
    if kind == "numbers" and len(numbers) > FEW_NUMBERS:
        return
    remedy = "Use `task='numbers'` for amounts, or `task='ordered'` for a scale."
    fix = "task='ordered'"
    if kind == "numbers":
        remedy, fix = "If they name classes, use `task='classes'`.", "task='classes'"
    yield Note(
        f"{name!r} holds whole numbers from {min(numbers):g} to {max(numbers):g} and "
        f"was filled as {kind}.",
        remedy,
        fix,
        important=True,
    )
