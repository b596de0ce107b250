"""The rows of a table that a labeling session keeps in memory.

As in ``fill``, these are the labeled rows and a random sample of the others, within the
memory limit. Rows are asked for from this sample, and the model is fitted to it. Every
column is kept, since a person also reads columns that the model does not use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from halfmoon._label.answers import Answers, Place
from halfmoon._label.journal import JournalLines, head_of
from halfmoon._label.labels_from_journal import (
    answer_text,
    key_columns,
    matched_answers,
    row_keys,
    unmatched_notes,
)
from halfmoon._notes import Note
from halfmoon._number_format import natural
from halfmoon._report.safe_text import safe_text
from halfmoon.table._cells.cell_values import as_column
from halfmoon.table._cells.number_style import PLAIN, NumberStyle
from halfmoon.table._columns.column_names import earlier_runs
from halfmoon.table._files import Table
from halfmoon.table._files.arrow_types import column_text, refuse_target_type
from halfmoon.table._labels.given_labels import TypedLabels, label_text
from halfmoon.table._labels.target_labels import Kind, read_label_numbers, target_kind
from halfmoon.table._run_settings import Settings, Stages
from halfmoon.table._runs.first_pass import Scan, scan
from halfmoon.table._runs.learn_from_table import features_of, given_labels
from halfmoon.table._runs.run_costs import MemoryBudget

__all__ = ["SampledRows", "joined_labels", "readable", "sample_rows"]

MAX_TEXT = 20_000  # characters of a cell on the page


@dataclass(frozen=True)
class SampledRows:
    """Rows to ask for and to fit the model to."""

    scan: Scan  # all columns but the target; its labels are those of the cells
    features: list[str]  # columns that the model uses
    known: list[str]  # those of them that are unpenalized
    columns: tuple[str, ...]  # that the keys are made of
    keys: list[str]  # of the rows
    at: dict[int, int]  # position in the sample, by row number in the table
    kind: Kind
    style: NumberStyle  # how numbers are written
    type: Any  # of the target
    notes: tuple[Note, ...]

    def place(self, number: int) -> Place:
        """Return what identifies a row in a journal."""
        key = self.keys[self.at[number]]
        return head_of(self.columns), key, number + self.scan.first_row

    def label(self, value: str | float) -> Any:
        """Convert an answer to the target's type; ValueError if it does not fit."""
        text = answer_text(value, self.style)
        try:
            return pa.scalar(text).cast(self.type).as_py()
        except pa.ArrowException as error:
            raise ValueError(text) from error

    def has_label(self, number: int) -> bool:
        """Whether the cell of a row holds a label."""
        return number in self.at and self.scan.labels[self.at[number]] is not None

    def answer(self, label: Any) -> str | float:
        """Convert a label of a cell to an answer: the text of a class, or a number."""
        if self.kind == "classes":
            return label_text(label)
        number = read_label_numbers([label]).values[0]
        return label_text(label) if number is None else number

    def cells(self, number: int, columns: Sequence[str]) -> list[tuple[str, str]]:
        """Return names and texts of the cells of a row."""
        row = self.scan.rows.slice(self.at[number], 1)
        return [
            (name, readable(column_text(as_column(row.column(name)))[0]))
            for name in columns
        ]

    def given_classes(self) -> list[str]:
        """Return the classes in the table, sorted: 2 before 10, and a before B."""
        found = {label_text(x) for x in self.scan.labels if x is not None}
        return sorted(found, key=natural)


def sample_rows(
    table: Table,
    settings: Settings,
    read: JournalLines,
    stages: Stages,
    classes: Sequence[str] = (),
) -> tuple[SampledRows, Answers]:
    """Read a table, and match the answers of a journal to its rows.

    If the user has named `classes`, the labels are classes.
    """
    runs = earlier_runs(table)
    features, _ = features_of(table, settings, runs)
    target_type = table.schema.field(settings.target).type
    refuse_target_type(settings.target, target_type)
    answers = matched_answers(read, table, settings.target)
    # Answers are passed as labels, so that their rows are in the sample.
    answered = {row: answer_text(x) for row, x in answers.labels().items()}
    typed = TypedLabels(answered, frozenset(answered))
    given = given_labels(table, settings, runs, typed)
    columns = key_columns(table, settings.target)
    found = scan(
        table,
        given,
        columns,
        max_bytes=MemoryBudget.within(settings.memory).rows,
        seed=settings.seed,
        progress=stages.stage("Reading"),
        to_learn=False,
    )
    labels = [
        given.under.get(int(number), label)
        for number, label in zip(found.numbers, found.labels, strict=True)
    ]
    blank = sum(cell is None for cell in given.under.values())
    sample = SampledRows(
        replace(found, labels=labels, n_labeled=found.n_labeled - blank),
        features,
        [name for name in settings.known if name in features],
        columns,
        row_keys(found.rows, columns),
        {int(number): i for i, number in enumerate(found.numbers)},
        _kind(labels, answers, settings, classes),
        read_label_numbers(labels).style or PLAIN,
        as_column(pa.nulls(0, target_type)).type,
        (*read.notes, *unmatched_notes("the file of answers", answers.lost)),
    )
    return sample, answers


def _kind(
    labels: Sequence[Any], answers: Answers, settings: Settings, classes: Sequence[str]
) -> Kind:
    if settings.task is not None or classes:
        return "numbers" if settings.task == "numbers" else "classes"
    values = [*labels, *(answer.value for answer in answers.every.values())]
    return target_kind([value for value in values if value is not None])


def readable(text: str) -> str:
    r"""Make a cell readable: lines stay lines, other marks are made visible.

    Examples
    --------
    >>> readable("a\r\nb\u202e"), readable("x" * 30_000)[-22:]
    ('a\nb⟨U+202E⟩', 'x… (30,000 characters)')
    """
    cut = text[:MAX_TEXT]
    lines = [
        safe_text(line, MAX_TEXT) for line in cut.replace("\r\n", "\n").split("\n")
    ]
    more = f"… ({len(text):,} characters)" if len(text) > MAX_TEXT else ""
    return "\n".join(lines) + more


def joined_labels(
    sample: SampledRows, answered: Mapping[int, str | float]
) -> list[Any]:
    """Return the label of each sampled row: the answer, or else that of the cell."""
    labels = list(sample.scan.labels)
    for number, value in answered.items():
        if number in sample.at:
            labels[sample.at[number]] = sample.label(value)
    return labels
