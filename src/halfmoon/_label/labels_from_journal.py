"""Turn answers into labels of a table, for ``halfmoon fill --labels``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from halfmoon._label.answers import Answers
from halfmoon._label.journal import JournalLines, read_journal
from halfmoon._label.row_matching import known_heads, matched_rows
from halfmoon._report.findings import Note
from halfmoon._report.sentences import count
from halfmoon.table._cells.number_style import PLAIN, NumberStyle
from halfmoon.table._files import Batch, Table
from halfmoon.table._labels.blank_labels import Blanks
from halfmoon.table._labels.given_labels import TypedLabels
from halfmoon.table._labels.target_labels import read_label_numbers
from halfmoon.table._table_errors import LabelError

__all__ = [
    "answered_labels",
    "joined_lines",
    "labels_of",
    "number_text",
    "unmatched_notes",
]

MAX_LABELS = 2_000  # read to find out how numbers are written


def joined_lines(paths: Iterable[Any]) -> JournalLines:
    """Read several journals as one."""
    read = [read_journal(path) for path in paths]
    heads = {name: columns for each in read for name, columns in each.heads.items()}
    lines = {line["id"]: line for each in read for line in each.lines}
    return JournalLines(
        heads, list(lines.values()), tuple(chain(*(each.notes for each in read)))
    )


def answered_labels(
    paths: Sequence[Any],
    table: Table,
    target: str,
    unlabeled: Sequence[str] = (),
) -> TypedLabels:
    """Read the labels in journals, by row number in the table, from 0.

    `unlabeled` are more texts that mean a blank.
    """
    names = " and ".join(Path(path).name for path in paths)
    return labels_of(joined_lines(paths), names, table, target, unlabeled)


def labels_of(
    read: JournalLines,
    names: str,
    table: Table,
    target: str,
    unlabeled: Sequence[str] = (),
) -> TypedLabels:
    """Return the labels of journals that were read; `names` are those of the files."""
    answers = Answers(target)
    answers.add_all(read.lines)
    if not answers.every:
        raise LabelError(
            f"{names} has no answers for {target!r}. Label some rows: halfmoon label "
            f"{table.name} --target {target}."
        )
    places = [answer.place for answer in answers.every.values()]
    given: list[Any] = []
    batches = _watched(table, target, Blanks(unlabeled), given)
    heads = known_heads(table, target, read.heads)
    answers.rows = matched_rows(table, places, heads, batches)
    lost = sum(place not in answers.rows for place in places)
    if lost == len(places):
        none = f"None of the {count(lost, 'answer')} in {names} is"
        if lost == 1:
            none = f"The answer in {names} is not"
        raise LabelError(
            f"{none} for a row of {table.name}. Use the table that was labeled."
        )
    style = read_label_numbers(given).style or PLAIN
    labels = {
        row: value if isinstance(value, str) else number_text(value, style)
        for row, value in answers.labels().items()
    }
    notes = (*read.notes, *unmatched_notes(names, lost))
    return TypedLabels(labels, replaces=frozenset(labels), notes=notes)


def unmatched_notes(names: str, lost: int) -> list[Note]:
    """Warn about answers for rows that the table does not have."""
    if not lost:
        return []
    rows, they = "are for rows that are", "They were"
    if lost == 1:
        rows, they = "is for a row that is", "It was"
    text = (
        f"{count(lost, 'answer')} in {names} {rows} not in the table, or no longer the "
        f"same. {they} not used."
    )
    return [Note(text, important=True)]


def _watched(
    table: Table, target: str, blanks: Blanks, labels: list[Any]
) -> Iterator[Batch]:
    """Yield the batches of a table, and add its first labels to a list."""
    for batch in table.batches():
        if len(labels) < MAX_LABELS and target in batch.rows.schema.names:
            column = batch.plain.column(target)
            there = np.flatnonzero(~blanks.mask(column))[:MAX_LABELS]
            labels += column.take(there).to_pylist()
        yield batch


def number_text(value: float, style: NumberStyle) -> str:
    """Write a number as the labels of the table are written.

    Examples
    --------
    >>> number_text(1234.5, NumberStyle(",", "."))
    '1.234,5'
    """
    plain = repr(float(value))
    if not math.isfinite(value) or "e" in plain:
        return plain
    digits = len(plain.partition(".")[2].rstrip("0"))
    return style.write([value], digits)[0] or plain
