"""Which labeled rows speak for an answer and which against it, in a short line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from halfmoon.report.advice import row_numbers
from halfmoon.report.findings import Reason, ShownRow

__all__ = ["ReasonGroup", "ReasonLine", "reason_groups"]

MOST = 3  # rows on either side


class ReasonGroup(NamedTuple):
    """Rows of one label: "rows 12, 40, 77", "setosa"."""

    rows: str
    label: str


class ReasonLine(NamedTuple):
    """One side: "For" or "Against", and its rows."""

    side: str
    groups: list[ReasonGroup]


def reason_groups(row: ShownRow) -> list[ReasonLine]:
    """The sides that have rows, the strongest label of each first.

    Examples
    --------
    >>> row = ShownRow(
    ...     7,
    ...     (),
    ...     "a",
    ...     speaks_for=(Reason(3, "a", 0.4), Reason(9, "a", 0.2)),
    ...     speaks_against=(Reason(5, "b", -0.1),),
    ... )
    >>> for side, groups in reason_groups(row):
    ...     print(side, groups)
    For [ReasonGroup(rows='rows 3, 9', label='a')]
    Against [ReasonGroup(rows='row 5', label='b')]
    """
    sides = (("For", row.speaks_for), ("Against", row.speaks_against))
    return [ReasonLine(side, _by_label(found)) for side, found in sides if found]


def _by_label(found: Sequence[Reason]) -> list[ReasonGroup]:
    groups: dict[str, list[int]] = {}
    for each in found[:MOST]:
        groups.setdefault(each.label, []).append(each.row)
    return [ReasonGroup(row_numbers(rows), label) for label, rows in groups.items()]
