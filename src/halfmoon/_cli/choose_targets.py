"""Which columns a command fills: those named, or an error that suggests some."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from halfmoon.table._columns.column_names import listed, matching
from halfmoon.table._files import Table
from halfmoon.table._runs.first_pass import columns_with_blanks
from halfmoon.table._table_errors import CommandError

__all__ = ["choose_target", "choose_targets"]

MAX_LISTED = 12  # columns with blanks in an error


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
        if name not in table.columns:
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
            f"The columns are {listed(table.columns)}. If a value means a blank, name "
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
