"""Find the rows of answers again, and turn answers into labels of a table.

The key of a row is a hash of its cells, except for the target and the columns that
halfmoon has added. So answers still match a table that was sorted, or that got more
rows or columns. Equal rows are told apart by their position.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from halfmoon._label.answers import Answers, Place
from halfmoon._label.journal import JournalLines, head_of, read_journal
from halfmoon._notes import Note
from halfmoon._number_format import count
from halfmoon.table._cells.cell_values import as_column
from halfmoon.table._cells.number_style import PLAIN, NumberStyle
from halfmoon.table._columns.column_names import added_by, earlier_runs
from halfmoon.table._files import Batch, Table
from halfmoon.table._files.arrow_types import column_text
from halfmoon.table._labels.given_labels import Blanks, TypedLabels
from halfmoon.table._labels.target_labels import read_label_numbers
from halfmoon.table._table_errors import LabelError

__all__ = [
    "answer_text",
    "joined_lines",
    "key_columns",
    "labels_of",
    "matched_answers",
    "matched_rows",
    "row_keys",
    "unmatched_notes",
]

SEPARATOR = "\x1f"  # of cells
KEY_BYTES = 8  # two of 10^6 rows have the same key with a probability of 10^-7


def key_columns(table: Table, target: str) -> tuple[str, ...]:
    """Return the columns that the keys of a table are made of."""
    added = added_by(earlier_runs(table))
    return tuple(n for n in table.columns if n != target and n not in added)


def row_keys(rows: pa.RecordBatch | pa.Table, columns: Sequence[str]) -> list[str]:
    """Return the key of each row.

    Examples
    --------
    >>> row_keys(pa.table({"a": ["1 ", "2"], "b": ["x", None]}), ["a", "b"])
    ['4d8bce2375920758', '93f73942c93c8b76']
    """
    texts = [column_text(as_column(rows.column(name))) for name in columns]
    return [
        blake2b(
            SEPARATOR.join(cell.strip() for cell in row).encode("utf-8", "replace"),
            digest_size=KEY_BYTES,
        ).hexdigest()
        for row in (zip(*texts, strict=True) if texts else [()] * rows.num_rows)
    ]


def matched_rows(
    table: Table,
    places: Iterable[Place],
    heads: Mapping[str, Sequence[str]],
    batches: Iterable[Any] | None = None,
) -> dict[Place, int]:
    """Return row numbers, from 0, of the places that are still in the table.

    `heads` are the columns that keys are made of. The `batches` of the table are given
    if it is read anyway.
    """
    wanted: dict[str, dict[str, list[int]]] = {}
    asked = sorted(set(places), key=lambda place: place[2])
    for head, key, _ in asked:
        if set(heads.get(head, ("",))) <= set(table.columns):
            wanted.setdefault(head, {}).setdefault(key, [])
    for batch in table.batches() if batches is None else batches:
        for head, found in wanted.items():
            for i, key in enumerate(row_keys(batch.plain, heads[head])):
                if key in found:
                    found[key].append(batch.start + i)
    return _assigned(asked, wanted, table.first_row)


def _assigned(
    asked: Sequence[Place], found: Mapping[str, Mapping[str, list[int]]], first: int
) -> dict[Place, int]:
    """Assign the row at the same position if it matches, or else the next that does.

    Several people may have answered for one row in tables of another order: if no equal
    row is left, these rows are assigned once more.
    """
    rows: dict[Place, int] = {}
    moved: list[Place] = []
    free = {(head, key): list(at) for head in found for key, at in found[head].items()}
    for place in asked:
        head, key, number = place
        if number - first in free.get((head, key), ()):
            rows[place] = number - first
            free[head, key].remove(number - first)
        else:
            moved.append(place)
    for place in moved:
        head, key, _ = place
        if not free.get((head, key)):
            free[head, key] = list(found.get(head, {}).get(key, ()))
        if free[head, key]:
            rows[place] = free[head, key].pop(0)
    return rows


MAX_LABELS = 2_000  # read to find out how numbers are written


def joined_lines(paths: Iterable[Any]) -> JournalLines:
    """Read several journals as one."""
    read = [read_journal(path) for path in paths]
    heads = {name: columns for each in read for name, columns in each.heads.items()}
    lines = {line["id"]: line for each in read for line in each.lines}
    return JournalLines(
        heads, list(lines.values()), tuple(chain(*(each.notes for each in read)))
    )


def matched_answers(
    read: JournalLines, table: Table, target: str, batches: Iterable[Any] | None = None
) -> Answers:
    """Return the answers of a journal, matched to the rows of a table.

    `batches` are as in `matched_rows`.
    """
    answers = Answers(target)
    answers.add_all(read.lines)
    places = {answer.place for answer in answers.every.values()}
    columns = key_columns(table, target)
    heads = {head_of(columns): columns, **read.heads}  # its own line may be damaged
    if places:
        answers.rows = matched_rows(table, places, heads, batches)
    return answers


def labels_of(
    read: JournalLines,
    names: str,
    table: Table,
    target: str,
    unlabeled: Sequence[str] = (),
) -> TypedLabels:
    """Return the labels of journals that were read, by row number, from 0.

    `names` are those of the files; `unlabeled` are more texts that mean a blank.
    """
    given: list[Any] = []
    batches = _watched(table, target, Blanks(unlabeled), given)
    answers = matched_answers(read, table, target, batches)
    if not answers.every:
        raise LabelError(
            f"{names} has no answers for {target!r}. Label some rows: halfmoon label "
            f"{table.name} --target {target}."
        )
    if answers.lost == len(answers):
        none = f"None of the {count(answers.lost, 'answer')} in {names} is"
        if answers.lost == 1:
            none = f"The answer in {names} is not"
        raise LabelError(
            f"{none} for a row of {table.name}. Use the table that was labeled."
        )
    style = read_label_numbers(given).style or PLAIN
    labels = {row: answer_text(x, style) for row, x in answers.labels().items()}
    notes = (*read.notes, *unmatched_notes(names, answers.lost))
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


def answer_text(value: str | float, style: NumberStyle = PLAIN) -> str:
    """Write an answer as the labels of the table are written.

    Examples
    --------
    >>> answer_text(1234.5, NumberStyle(",", ".")), answer_text("left")
    ('1.234,5', 'left')
    """
    if isinstance(value, str):
        return value
    plain = repr(float(value))
    if not math.isfinite(value) or "e" in plain:
        return plain
    digits = len(plain.partition(".")[2].rstrip("0"))
    return style.write([value], digits)[0] or plain
