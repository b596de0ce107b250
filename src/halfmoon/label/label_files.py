"""Answers as labels of a table, for ``halfmoon fill --labels``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from halfmoon.label.answers import Answers
from halfmoon.label.journal import JournalLines, read_journal
from halfmoon.label.matching import matched_rows
from halfmoon.report.findings import Note
from halfmoon.report.wording import count
from halfmoon.table.blanks import Blanks
from halfmoon.table.errors import LabelError
from halfmoon.table.files import Batch, Table
from halfmoon.table.given_labels import TypedLabels
from halfmoon.table.label_numbers import read_label_numbers
from halfmoon.table.number_style import PLAIN, NumberStyle

__all__ = ["answered_labels", "joined_lines", "number_text", "unmatched_note"]

SEEN = 2_000  # labels by which the way to write numbers is told


def joined_lines(paths: Iterable[Any]) -> JournalLines:
    """Several journals as one."""
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
    """Labels from journals, by the number of their row in the table, from 0.

    Parameters
    ----------
    paths : sequence of paths
        Of journals, in any order.
    table : table of `halfmoon.table.files`
    target : str
    unlabeled : sequence of str
        Further marks of blanks.
    """
    read = joined_lines(paths)
    answers = Answers(target)
    answers.add_all(read.lines)
    names = " and ".join(Path(path).name for path in paths)
    if not answers.every:
        raise LabelError(
            f"{names} has no answers for {target!r}. Label some rows: halfmoon label "
            f"{table.name} --target {target}."
        )
    style = _Style(target, Blanks(unlabeled))
    places = [answer.place for answer in answers.every.values()]
    walked = style.watched(table.batches())
    rows = matched_rows(table, places, read.heads, walked)
    found = answers.labels(rows)
    lost = [x for x in answers.every.values() if x.place not in rows]
    if len(lost) == len(answers.every):
        raise LabelError(
            f"None of the {count(len(lost), 'answer')} in {names} is for a row of "
            f"{table.name}. Use the table that was labeled."
        )
    notes = [*read.notes, *([unmatched_note(names, len(lost))] if lost else [])]
    labels = {row: _text(value, style.style) for row, value in found.items()}
    return TypedLabels(labels, replaces=frozenset(labels), notes=tuple(notes))


def unmatched_note(names: str, lost: int) -> Note:
    """Of answers for rows that the table does not have."""
    return Note(
        f"{count(lost, 'answer')} in {names} "
        f"{'is for a row that is' if lost == 1 else 'are for rows that are'} not in "
        f"the table, or no longer the same. {'It was' if lost == 1 else 'They were'} "
        f"not used.",
        important=True,
    )


class _Style:
    """How the labels of a table are written, seen while it is walked through."""

    def __init__(self, target: str, blanks: Blanks) -> None:
        self.target, self.blanks = target, blanks
        self.labels: list[Any] = []

    def watched(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        for batch in batches:
            if len(self.labels) < SEEN and self.target in batch.rows.schema.names:
                column = batch.plain.column(self.target)
                there = np.flatnonzero(~self.blanks.mask(column))[:SEEN]
                self.labels += column.take(there).to_pylist()
            yield batch

    @property
    def style(self) -> NumberStyle:
        return read_label_numbers(self.labels).style or PLAIN


def _text(value: str | float, style: NumberStyle) -> str:
    return value if isinstance(value, str) else number_text(value, style)


def number_text(value: float, style: NumberStyle) -> str:
    """A number as the labels of the table are written.

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
