"""The rows of a table that a labeling session works with, read once and kept.

As in ``fill``, these are the labeled rows and a random sample of the others, within
the memory that was allowed: rows are asked for from this sample, and the model is
learned from it. Every column is kept, since a person reads also those that are not
learned from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from halfmoon.label.answers import Answers
from halfmoon.label.journal import JournalLines, head_of
from halfmoon.label.label_files import number_text, unmatched_note
from halfmoon.label.matching import Place, key_columns, matched_rows, row_keys
from halfmoon.report.findings import Note
from halfmoon.report.shown_text import shown
from halfmoon.table.allowance import Allowance
from halfmoon.table.blanks import as_number
from halfmoon.table.earlier_runs import earlier_runs
from halfmoon.table.files import Table
from halfmoon.table.files.arrow_types import refuse_target_type
from halfmoon.table.files.values import column_text
from halfmoon.table.given_labels import TypedLabels, label_text
from halfmoon.table.label_numbers import read_label_numbers
from halfmoon.table.learning import features_of, given_labels
from halfmoon.table.number_style import PLAIN, NumberStyle
from halfmoon.table.reading import as_column
from halfmoon.table.scan import Scan, scan
from halfmoon.table.settings import Settings
from halfmoon.table.stages import Stages
from halfmoon.table.target import Kind, target_kind

__all__ = ["KeptRows", "joined_labels", "keep_rows", "readable"]

MOST_TEXT = 20_000  # characters of a cell on the page


@dataclass(frozen=True)
class KeptRows:
    """Rows to ask for and to learn from.

    Attributes
    ----------
    scan : Scan
        With every column but the target; labels are those of the cells alone.
    features : list of str
        Columns to learn from.
    known : list of str
        Those of them that no penalty touches.
    columns : tuple of str
        That keys are made of.
    keys : list of str
        Of each row.
    at : dict of int to int
        Places among these rows, by number in the table.
    under : dict of int to object
        Of rows that had an answer when the table was read: the label of the cell.
    kind : "classes" or "numbers"
    style : NumberStyle
        How numbers are written.
    type : pyarrow.DataType
        Of the target.
    notes : tuple of Note
    """

    scan: Scan
    features: list[str]
    known: list[str]
    columns: tuple[str, ...]
    keys: list[str]
    at: dict[int, int]
    under: dict[int, Any]
    kind: Kind
    style: NumberStyle
    type: Any
    notes: tuple[Note, ...]

    def place(self, number: int) -> Place:
        """What a row is known by in a journal."""
        key = self.keys[self.at[number]]
        return head_of(self.columns), key, number + self.scan.first_row

    def label(self, value: str | float) -> Any:
        """An answer as a label of the target's type; ValueError if it does not fit."""
        text = value if isinstance(value, str) else number_text(value, self.style)
        try:
            return pa.scalar(text).cast(self.type).as_py()
        except pa.ArrowException as error:
            raise ValueError(text) from error

    def shown(self, label: Any) -> str | float:
        """A label of a cell as an answer would be: text of a class, or a number."""
        if self.kind == "classes":
            return label_text(label)
        number = read_label_numbers([label]).values[0]
        return label_text(label) if number is None else number

    def cells(self, number: int, columns: Sequence[str]) -> list[tuple[str, str]]:
        """Names and texts of the cells of a row, in an order."""
        row = self.scan.rows.slice(self.at[number], 1)
        return [
            (name, readable(column_text(as_column(row.column(name)))[0]))
            for name in columns
        ]

    def given_classes(self) -> list[str]:
        """Classes among the cells' labels, sorted as a person would."""
        found = {label_text(x) for x in self.scan.labels if x is not None}
        return sorted(found, key=_as_people_sort)


def keep_rows(
    table: Table,
    settings: Settings,
    read: JournalLines,
    stages: Stages,
    classes: Sequence[str] = (),
) -> tuple[KeptRows, dict[Place, int], Answers]:
    """Read a table, and match the answers that a journal holds.

    Parameters
    ----------
    table : table of `halfmoon.table.files`
    settings : Settings
    read : JournalLines
    stages : Stages
    classes : sequence of str
        That the user has named; then the labels are classes.

    Returns
    -------
    kept : KeptRows
    rows : dict of Place to int
        Numbers of the rows that were answered for.
    answers : Answers
    """
    runs = earlier_runs(table)
    features, _ = features_of(table, settings, runs)
    kind_of_column = table.schema.field(settings.target).type
    refuse_target_type(settings.target, kind_of_column)
    answers = Answers(settings.target)
    answers.add_all(read.lines)
    places = {answer.place for answer in answers.every.values()}
    rows = matched_rows(table, places, read.heads) if places else {}
    lost = sum(x.place not in rows for x in answers.every.values())
    # Rows that have an answer are kept, whatever the sample is.
    answered = {
        number: value if isinstance(value, str) else number_text(value, PLAIN)
        for number, value in answers.labels(rows).items()
    }
    typed = TypedLabels(answered, frozenset(answered))
    given = given_labels(table, settings, runs, typed)
    columns = key_columns(table, settings.target)
    found = scan(
        table,
        given,
        columns,
        most_bytes=Allowance.within(settings.memory).rows,
        seed=settings.seed,
        progress=stages.stage("Reading"),
        to_learn=False,
    )
    labels = [
        given.under.get(int(number), label)
        for number, label in zip(found.numbers, found.labels, strict=True)
    ]
    found = replace(found, labels=labels)
    style = read_label_numbers(labels).style or PLAIN
    kept = KeptRows(
        found,
        features,
        [name for name in settings.known if name in features],
        columns,
        row_keys(found.rows, columns),
        {int(number): i for i, number in enumerate(found.numbers)},
        dict(given.under),
        _kind(labels, answers, settings, classes),
        style,
        as_column(pa.nulls(0, kind_of_column)).type,
        (
            *read.notes,
            *([unmatched_note("the file of answers", lost)] if lost else []),
        ),
    )
    return kept, rows, answers


def _kind(
    labels: Iterable[Any],
    answers: Answers,
    settings: Settings,
    classes: Sequence[str],
) -> Kind:
    if settings.task is not None or classes:
        return "numbers" if settings.task == "numbers" else "classes"
    values = [answer.value for answer in answers.every.values()]
    known = [
        *(x for x in labels if x is not None),
        *(v for v in values if v is not None),
    ]
    return target_kind(known)


def _as_people_sort(text: str) -> tuple[float, str]:
    """2 before 10, and a before B."""
    number = as_number(text)
    return (number if number == number else float("inf")), text.casefold()


def readable(text: str) -> str:
    r"""A cell for a person to read: lines stay lines, other marks are made visible.

    Examples
    --------
    >>> readable("a\r\nb\u202e"), readable("x" * 30_000)[-22:]
    ('a\nb⟨U+202E⟩', 'x… (30,000 characters)')
    """
    cut = text[:MOST_TEXT]
    lines = [shown(line, MOST_TEXT) for line in cut.replace("\r\n", "\n").split("\n")]
    more = f"… ({len(text):,} characters)" if len(text) > MOST_TEXT else ""
    return "\n".join(lines) + more


def joined_labels(kept: KeptRows, answered: Mapping[int, str | float]) -> list[Any]:
    """The label of each kept row: the answer if there is one, or else the cell's."""
    labels = list(kept.scan.labels)
    for number, value in answered.items():
        if number in kept.at:
            labels[kept.at[number]] = kept.label(value)
    return labels
