"""Labels looked at before anything is learned from them.

================================  ==================================================
labels                            what becomes of them
================================  ==================================================
spellings of one class            they stay classes, or are merged if asked for
words that mean a blank           they stay classes
words among numbers               not learned from, not filled
whole numbers taken as classes    they stay classes
================================  ==================================================

Each case is told in a note that names the way to have it otherwise.
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from halfmoon.report.findings import Note
from halfmoon.report.wording import count
from halfmoon.table.blanks import Blanks, as_number, looks_blank
from halfmoon.table.label_numbers import read_label_numbers
from halfmoon.table.number_style import NumberStyle
from halfmoon.table.scales import resolved_order
from halfmoon.table.settings import Settings
from halfmoon.table.target import Kind, check_labels, target_kind

__all__ = [
    "CheckedLabels",
    "checked_labels",
    "mark_notes",
    "merged_labels",
    "spelling_key",
    "spelling_notes",
]

SHOWN = 3  # spellings, words or groups in a note
LENGTH = 40  # characters of a label in a note
QUOTES = "\"'`“”‘’«»"
WHOLE_CLASSES = 3  # different whole numbers that may be a scale or amounts


@dataclass(frozen=True)
class CheckedLabels:
    """Labels as they are learned from.

    Attributes
    ----------
    kind : "classes" or "numbers"
    labels : list
        None where a cell is blank, or is not learned from.
    order : tuple
        Of ordered classes, from low to high; otherwise empty.
    n_ignored : int
        Labels that are neither learned from nor filled.
    notes : tuple of Note
    style : NumberStyle or None
        How numbers are written in text.
    """

    kind: Kind
    labels: list[Any]
    order: tuple[Any, ...] = ()
    n_ignored: int = 0
    notes: tuple[Note, ...] = ()
    style: NumberStyle | None = None


def checked_labels(labels: Sequence[Any], settings: Settings) -> CheckedLabels:
    """Decide what labels are, and what there is to know about them.

    Parameters
    ----------
    labels : sequence
        Text or values; None where a cell is blank.
    settings : Settings
    """
    name, task = settings.target, settings.task
    ordered = task == "ordered"
    kind: Kind = target_kind(labels)
    if task is not None:
        kind = "numbers" if task == "numbers" else "classes"
    notes: list[Note] = []
    ignored = 0
    if kind == "numbers":
        read = read_label_numbers(labels)
        strays = Counter(map(str, read.strays))
        if strays and read.nearly_all:
            ignored = sum(strays.values())
            labels = [None if str(label) in strays else label for label in labels]
            notes.append(_stray_note(name, strays))
        numbers = check_labels(name, labels, kind)
        return CheckedLabels(kind, numbers, (), ignored, tuple(notes), read.style)
    spellings = _spellings(labels)
    if settings.merge_labels:
        labels = _merged(labels, spellings)
    notes += _spelling_notes(spellings, merged=settings.merge_labels)
    notes += _blank_word_notes(labels)
    if task is None:
        notes += _whole_number_notes(name, labels)
    classes = check_labels(name, labels, kind)
    order: tuple[Any, ...] = ()
    if ordered:
        known = {label for label in classes if label is not None}
        order = resolved_order(name, known, settings.order)
    return CheckedLabels(kind, classes, order, 0, tuple(notes))


def mark_notes(name: str, blanks: Blanks, labels: Iterable[Any]) -> Iterator[Note]:
    """Of marks for blanks that no cell of the table has.

    Parameters
    ----------
    name : str
        Of the target.
    blanks : Blanks
        That have seen the whole table.
    labels : iterable
        Among which the mark that was meant is looked for.
    """
    values = list(dict.fromkeys(str(label).strip() for label in labels if label))
    for mark in blanks.unmatched:
        parts = [part.strip() for part in mark.split(",")]
        close = [part for part in parts if part in values] if len(parts) > 1 else []
        close = close or get_close_matches(mark, values, 1, cutoff=0.5)
        close = close or [each for each in values if each.lower() == mark.lower()]
        yield Note(
            f"No cell of {name!r} is {_quoted(mark)}, which was named as unlabeled.",
            f"Did you mean --unlabeled {_words(close)}?" if close else "",
            f"--unlabeled {_words(close)}" if close else "",
            important=True,
        )


def spelling_key(label: str) -> str:
    """What spellings of one class have in common.

    Case, accents, blanks, underscores, hyphens between letters, quotation marks and a
    full stop at the end do not count; signs that tell classes apart, as in A+ and A-
    or <50 and >50, do.

    Examples
    --------
    >>> [spelling_key(each) for each in (" New_York", "new-york", "Café.", "A+", "A-")]
    ['new york', 'new york', 'cafe', 'a+', 'a-']
    """
    letters = unicodedata.normalize("NFD", label.strip().strip(QUOTES))
    text = "".join(c for c in letters if not unicodedata.combining(c)).casefold()
    text = re.sub(r"(?<=[^\W\d_])-(?=[^\W\d_])", " ", text)
    text = re.sub(r"[\s_]+", " ", text).strip()
    return re.sub(r"[.,;:!]+$", "", text).strip() or text or label


def merged_labels(labels: Sequence[Any]) -> list[Any]:
    """Labels with each spelling replaced by the commonest one of its class."""
    return _merged(labels, _spellings(labels))


def spelling_notes(labels: Sequence[Any], *, merged: bool) -> Iterator[Note]:
    """Of classes that are spelled in several ways."""
    return _spelling_notes(_spellings(labels), merged=merged)


def _spellings(labels: Sequence[Any]) -> list[Counter[str]]:
    """How often each spelling of a class stands, for classes with several."""
    groups: dict[str, Counter[str]] = {}
    for label in labels:
        if isinstance(label, str):
            text = label.strip()
            groups.setdefault(spelling_key(text), Counter())[text] += 1
    return [group for group in groups.values() if len(group) > 1]


def _merged(labels: Sequence[Any], spellings: list[Counter[str]]) -> list[Any]:
    """Labels with each spelling replaced by the commonest one of its class."""
    commonest = {
        spelling: group.most_common(1)[0][0]
        for group in spellings
        for spelling in group
    }
    return [
        commonest.get(label.strip(), label) if isinstance(label, str) else label
        for label in labels
    ]


def _spelling_notes(spellings: list[Counter[str]], *, merged: bool) -> Iterator[Note]:
    for group in spellings[:SHOWN]:
        names = [_quoted(each) for each, _ in group.most_common()]
        listed = _and(names)
        if merged:
            yield Note(f"{listed} were merged into one class, {names[0]}.")
            continue
        yield Note(
            f"{listed} look like one class, but were taken as {len(names)}.",
            "To merge such spellings into the most common one, use --merge-labels.",
            "--merge-labels",
            important=True,
        )
    more = len(spellings) - SHOWN
    if more > 0:
        what = "were merged" if merged else "have several spellings"
        yield Note(f"{count(more, 'more class', 'more classes')} {what}.")


def _blank_word_notes(labels: Sequence[Any]) -> Iterator[Note]:
    found = Counter(label.strip() for label in labels if looks_blank(label))
    if not found:
        return
    marks = [mark for mark, _ in found.most_common()]
    listed = _and(
        [f"{_quoted(mark)} ({count(found[mark], 'label')})" for mark in marks]
    )
    one = len(marks) == 1
    yield Note(
        f"{listed} {'looks like a blank, but was' if one else 'look like blanks, but'} "
        f"{'taken as a class' if one else 'were taken as classes'}.",
        f"To have such cells filled, use --unlabeled {_words(marks)}.",
        f"--unlabeled {_words(marks)}",
        important=True,
    )


def _stray_note(name: str, strays: Counter[str]) -> Note:
    n = sum(strays.values())
    one = n == 1
    values = [each.strip() for each in strays]
    shown = ", ".join(map(_quoted, values[:SHOWN]))
    shown += ", ..." if len(values) > SHOWN else ""
    return Note(
        f"{count(n, 'label')} of {name!r} "
        f"{'is not a number' if one else 'are not numbers'} ({shown}): "
        f"{'it was' if one else 'they were'} ignored and left as "
        f"{'it is' if one else 'they are'}.",
        f"To have {'this cell' if one else 'these cells'} filled, use --unlabeled "
        f"{_words(values)}. If the labels are classes, use --task classes.",
        f"--unlabeled {_words(values)}",
        important=True,
    )


def _whole_number_notes(name: str, labels: Sequence[Any]) -> Iterator[Note]:
    """Of whole numbers, which may be classes, amounts or a scale."""
    known = [label for label in labels if label is not None]
    if any(isinstance(label, bool) for label in known):
        return
    numbers = {as_number(label) for label in known}
    if len(numbers) < WHOLE_CLASSES or not all(x.is_integer() for x in numbers):
        return
    yield Note(
        f"{name!r} holds whole numbers {min(numbers):g} to {max(numbers):g} and was "
        f"filled as classes.",
        "Use --task numbers for amounts, or --task ordered for a scale.",
        "--task ordered",
        important=True,
    )


def _quoted(label: str) -> str:
    return repr(label if len(label) <= LENGTH else label[: LENGTH - 3] + "...")


def _words(marks: Sequence[str]) -> str:
    return " ".join(map(shlex.quote, marks))


def _and(names: Sequence[str]) -> str:
    """Some names for a person to read, the last one after "and"."""
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])} and {names[-1]}"
