"""What a command reads besides its table: targets, typed labels and model files."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from halfmoon._model_files import ModelFileError, load, save
from halfmoon.table._columns.column_names import matching, quoted
from halfmoon.table._files import Table, open_table
from halfmoon.table._labels.given_labels import TypedLabels
from halfmoon.table._models.table_model import TableModel
from halfmoon.table._runs.first_pass import columns_with_blanks
from halfmoon.table._runs.label_sheets import read_labels
from halfmoon.table._table_errors import (
    CommandError,
    ModelError,
    OutputError,
    TableError,
)

__all__ = [
    "blaming_model",
    "choose_target",
    "choose_targets",
    "load_model",
    "load_table_model",
    "read_typed_labels",
    "save_model",
]

MAX_LISTED = 12  # columns with blanks in an error
#: What a damaged model raises when it predicts.
DAMAGE = (
    *(ValueError, LookupError, TypeError, AttributeError, ArithmeticError),
    *(AssertionError, RecursionError, NotImplementedError),
)


def choose_target(
    asked: str | None, table: Table, unlabeled: Sequence[str] = ()
) -> str:
    """Return the one target of a command."""
    (name,) = choose_targets(() if asked is None else (asked,), table, unlabeled)
    return name


def choose_targets(
    asked: Sequence[str],
    table: Table,
    unlabeled: Sequence[str],
    may_be_new: bool = False,
) -> list[str]:
    """Return the targets in the order in which they were named.

    A pattern stands for the columns with labels and blanks; `unlabeled` are more values
    that mean a blank. If it `may_be_new`, a single name need not be that of a column.
    """
    if may_be_new and len(asked) == 1:
        return list(asked)
    if not asked:
        found = columns_with_blanks(table, unlabeled)
        none = "" if found else "No column has both labels and blanks. "
        raise CommandError(
            f"Which column should be filled? {none}{_suggestion(found, table)}"
        )
    targets: dict[str, None] = {}
    for name in asked:
        columns = matching(name, table.columns, "target")
        if columns != [name] and name.strip() != columns[0].strip():
            with_blanks = columns_with_blanks(table, unlabeled)
            columns = [column for column in columns if column in with_blanks]
            if not columns:
                raise CommandError(
                    f"No column that matches {name!r} has both labels and blanks. "
                    f"{_suggestion(with_blanks, table)}"
                )
        targets |= dict.fromkeys(columns)
    return list(targets)


def _suggestion(with_blanks: dict[str, int], table: Table) -> str:
    """Say what to do, given the columns that have labels and blanks."""
    if not with_blanks:
        return (
            f"The columns are {quoted(table.columns)}. If a value means a blank, name "
            f"it: --target COLUMN --unlabeled VALUE."
        )
    if len(with_blanks) == 1:
        (name,) = with_blanks
        return (
            f"{name!r} is the only column with blanks: use --target "
            f"{shlex.quote(name)}."
        )
    blanks = [f"{name!r} ({count:,} blank)" for name, count in with_blanks.items()]
    more = len(blanks) - MAX_LISTED
    return (
        f"Use --target COLUMN. Columns with blanks: {', '.join(blanks[:MAX_LISTED])}"
        f"{f' and {more:,} more' if more > 0 else ''}."
    )


def read_typed_labels(
    paths: Sequence[str],
    table: Table,
    target: str,
    unlabeled: Sequence[str] = (),
    only_target: bool = True,
) -> TypedLabels:
    """Read the labels that people typed; the last label of a row counts.

    The files are lists of rows to label, and journals of the labeling page, which
    together count as one file. `unlabeled` are more values that mean a blank. If there
    are other targets, not `only_target`, a file may be for another one.
    """
    typed = TypedLabels()
    if not paths:
        return typed
    from halfmoon._label.journal import is_journal
    from halfmoon._label.labels_from_journal import joined_lines, labels_of

    journals = [path for path in paths if is_journal(path)]
    for path in paths:
        if path in journals:
            continue
        with open_table(path) as sheet:
            if only_target or target in sheet.columns:
                typed = typed.joined(read_labels(sheet, table, target))
    if journals:
        read = joined_lines(journals)
        if only_target or any(line.get("column") == target for line in read.lines):
            names = " and ".join(Path(path).name for path in journals)
            typed = typed.joined(labels_of(read, names, table, target, unlabeled))
    return typed


def load_model(path: str) -> Any:
    """Return the model in a file, of any kind."""
    try:
        return load(path)
    except (ModelFileError, OSError) as error:
        raise ModelError(str(error)) from error


def load_table_model(path: str) -> TableModel:
    """Return the model in a file that ``halfmoon fill`` wrote."""
    model = load_model(path)
    if not isinstance(model, TableModel):
        raise ModelError(
            f"{path} holds a {type(model).__name__}, which was not learned from a "
            f"table by halfmoon fill. Use it in Python: halfmoon.load({path!r})."
        )
    return model


@contextmanager
def blaming_model(path: str) -> Iterator[None]:
    """Blame the model file for any failure while its model is used."""
    try:
        yield
    except TableError:
        raise
    except DAMAGE as error:
        raise ModelError(
            f"{path} is damaged or was changed: {type(error).__name__}: {error}. Make "
            f"the model again: halfmoon fill --model {path}."
        ) from error


def save_model(model: TableModel, path: str, *, overwrite: bool) -> None:
    """Write a model file."""
    try:
        save(model, path, overwrite=overwrite)
    except (ModelFileError, OSError) as error:
        why = getattr(error, "strerror", None)
        text = f"{path} cannot be written: {why}." if why else str(error)
        raise OutputError(text) from error
