"""Which columns are to be filled, by what the user says and does not say."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from halfmoon.table.errors import CommandError
from halfmoon.table.files import Table
from halfmoon.table.scan import columns_with_blanks
from halfmoon.table.selection import listed, matching

__all__ = ["asked_targets"]

MOST_NAMED = 12  # columns with blanks in an error


def asked_targets(
    asked: Sequence[str],
    table: Table,
    unlabeled: Sequence[str],
    *,
    may_be_new: bool = False,
) -> list[str]:
    """The targets in the order they were named, or an error that offers some.

    Parameters
    ----------
    asked : sequence of str
        Names of columns; a pattern stands for those that have labels and blanks.
    table : Table
    unlabeled : sequence of str
        Marks of blanks, beside the usual ones.
    may_be_new : bool
        A single name that is no column's is that of a new one.
    """
    if may_be_new and len(asked) == 1:
        return list(asked)
    if not asked:
        raise CommandError(_which(table, unlabeled))
    targets: dict[str, None] = {}
    for name in asked:
        found = matching(name, table.columns, "target")
        if name not in table.columns:
            with_blanks = columns_with_blanks(table, unlabeled)
            found = [column for column in found if column in with_blanks]
            if not found:
                raise CommandError(
                    f"No column that matches {name!r} has both labels and blanks. "
                    f"{_offer(with_blanks, table)}"
                )
        targets |= dict.fromkeys(found)
    return list(targets)


def _which(table: Table, unlabeled: Sequence[str]) -> str:
    """What to say to someone who named no target."""
    found = columns_with_blanks(table, unlabeled)
    none = "" if found else "No column has both labels and blanks. "
    return f"Which column should be filled? {none}{_offer(found, table)}"


def _offer(found: dict[str, int], table: Table) -> str:
    """What to do, given the columns that have labels and blanks."""
    if not found:
        return (
            f"The columns are {listed(table.columns)}. If a value stands for a blank, "
            f"name it: --target COLUMN --unlabeled VALUE."
        )
    if len(found) == 1:
        (name,) = found
        return (
            f"{name!r} is the only column with blanks: use --target "
            f"{shlex.quote(name)}."
        )
    blanks = [f"{name!r} ({count:,} blank)" for name, count in found.items()]
    more = len(blanks) - MOST_NAMED
    return (
        f"Use --target COLUMN. Columns with blanks: {', '.join(blanks[:MOST_NAMED])}"
        f"{f' and {more:,} more' if more > 0 else ''}."
    )
